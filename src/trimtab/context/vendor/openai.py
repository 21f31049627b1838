"""Chat Completions messages as dicts: one dict is one message of ours.

    system, developer      User with `wire["role"]`, kept in its place
    user                   User: text, image (data URL); any other block is opaque
    assistant              Assistant: reasoning_content or reasoning, content, refusal, tool_calls or function_call, in this order
    tool, function         ToolResult

Written back: results right behind their call, whatever stood between; pictures of results in a user message behind the batch, since a
result holds only text; no empty `tool_calls`, which the API refuses. A `function_call` has no id, so it gets one made of its place.

Source: platform.openai.com, "Create chat completion"; `reasoning_content` is DeepSeek's, `reasoning` OpenRouter's.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, assert_never

from trimtab.context.pairs import pair
from trimtab.context.vendor.errors import At, VendorMessageError
from trimtab.context.vendor.images import from_data_url, in_words, to_data_url
from trimtab.context.vendor.plain import VendorMessage, copied, plain, plain_object, without
from trimtab.context.vendor.turns import Known, fields_of, marked, nothing_known, walk, wire_of
from trimtab.types.messages import (
    Assistant,
    Image,
    Message,
    Opaque,
    Part,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    User,
)

NAME = "openai"
PROVIDER = "openai-chat"
"""Not "openai": the opaque parts of that provider are items of another API."""
_SYSTEM = ("system", "developer")
_THOUGHTS = ("reasoning_content", "reasoning")
_ROLES = "Give a message with 'role': system, developer, user, assistant, tool or function."
_LEGACY = "function_call_"
_REFUSAL, _AUDIO = "message_refusal", "message_audio"
"""Types of parts that are a field of the message, not a block of its content."""


def decode(
    message: VendorMessage, *, index: int = 0, calls: Mapping[str, str] = MappingProxyType({})
) -> tuple[Message, ...]:
    """Return the message in a Chat Completions dict; see `formats.Decode`."""
    fields, at = plain_object(message, index), At(index)
    role = fields.get("role")
    if role == "user" or role in _SYSTEM:
        parts = _content(fields, at, required=True)
        kept = without(fields, "role", "content") or {}
        return (User(parts, wire=marked(NAME, {"role": role, **kept} if role in _SYSTEM else kept, parts)),)
    if role == "assistant":
        return (_assistant(fields, at),)
    if role in ("tool", "function"):
        return (_result(fields, at, calls),)
    raise at.key("role").wrong("is missing or unknown", _ROLES)


def system_text(message: VendorMessage) -> str | None:
    """Return the text of a system or developer message, None for any other."""
    fields = plain_object(message, 0)
    if fields.get("role") not in _SYSTEM:
        return None
    return "".join(p.text for p in _content(fields, At(0), required=True) if isinstance(p, Text))


def givable(message: VendorMessage) -> dict[str, Any] | None:
    """Return the dict as it may go back, None where it must be written anew."""
    fields = plain_object(message, 0)
    content = fields.get("content")
    if not fields.get("tool_calls"):
        fields.pop("tool_calls", None)
    if fields.get("role") in ("tool", "function"):
        texts = isinstance(content, list) and content and all(b.get("type") == "text" for b in content)
        return fields if isinstance(content, str) or (texts and fields["role"] == "tool") else None
    if content == [] or (content is None and not _may_lack_content(fields)):
        return None
    calls = [
        *fields.get("tool_calls", ()),
        *({"type": "function", "function": c} for c in _present(fields, "function_call")),
    ]
    return fields if all(_as_given(c) for c in calls) else None


def encode(messages: Sequence[Message], known: Known = nothing_known) -> list[dict[str, Any]]:
    """Return the conversation as Chat Completions messages."""
    writer = _Writer()
    for message, given in walk(pair(messages)[0], known):
        writer.add(message, given)
    out: list[dict[str, Any]] = copied(writer.done())
    return out


def _content(fields: Mapping[str, Any], at: At, *, required: bool) -> tuple[Part, ...]:
    content = fields.get("content")
    if isinstance(content, str):
        return (Text(content),)
    if content is None and (not required or "content" in fields):
        return ()
    return tuple(_part(block, kind, where) for where, kind, block in at.key("content").blocks(content))


def _part(block: dict[str, Any], kind: str, at: At) -> Part:
    if kind == "text":
        return Text(at.text(block, "text"), wire=without(block, "type", "text"))
    if kind == "refusal":
        return Text(at.text(block, "refusal"), wire=without(block, "refusal"))
    if kind == "image_url":
        link = at.mapping(block, "image_url")
        if found := from_data_url(at.key("image_url").text(link, "url")):
            more, about = without(block, "type", "image_url"), without(link, "url")
            wire = {**(more or {}), **({"image_url": about} if about else {})}
            return Image(found[0], found[1], wire=wire or None)
    return Opaque(PROVIDER, block)


def _assistant(fields: dict[str, Any], at: At) -> Assistant:
    rest = without(fields, "role", "content") or {}
    parts: list[Part] = [Thinking(rest.pop(f), wire={"field": f}) for f in _THOUGHTS if isinstance(rest.get(f), str)]
    parts += _content(fields, at, required=False)
    refusal, audio = rest.pop("refusal", None), rest.pop("audio", None)
    if refusal is not None:
        parts.append(Text(at.text(fields, "refusal"), wire={"type": _REFUSAL}))
    if audio is not None:
        parts.append(Opaque(PROVIDER, {"type": _AUDIO, "audio": at.mapping(fields, "audio")}))
    calls = _calls(rest.pop("tool_calls", None), at.key("tool_calls"))
    if rest.pop("function_call", None) is not None:
        calls.append(_legacy_call(at.mapping(fields, "function_call"), at))
    stop: StopReason = "refused" if refusal is not None else "tool_use" if calls else "stop"
    return Assistant((*parts, *calls), stop, provider=PROVIDER, wire=rest or None)


def _calls(given: object, at: At) -> list[ToolCall]:
    return [] if given is None else [_call(block, at.item(n)) for n, block in enumerate(_objects(given, at))]


def _objects(given: object, at: At) -> list[dict[str, Any]]:
    if isinstance(given, list) and all(isinstance(block, dict) for block in given):
        return given
    raise at.wrong("must be a list of objects", 'Give [{"id": …, "type": "function", "function": {…}}].')


def _call(block: dict[str, Any], at: At) -> ToolCall:
    call_id = at.text(block, "id")
    if block.get("type") == "custom":
        custom, inside = at.mapping(block, "custom"), at.key("custom")
        wire = {"type": "custom", **(without(block, "id", "type", "custom") or {})}
        if more := without(custom, "name", "input"):
            wire["custom"] = more
        return ToolCall(call_id, inside.text(custom, "name"), None, inside.text(custom, "input"), wire=wire)
    function, inside = at.mapping(block, "function"), at.key("function")
    raw, arguments = _arguments(function, inside)
    wire = without(block, "id", "type", "function") or {}
    if more := without(function, "name", "arguments"):
        wire["function"] = more
    return ToolCall(call_id, inside.text(function, "name"), arguments, raw, wire=wire or None)


def _legacy_call(function: dict[str, Any], at: At) -> ToolCall:
    inside = at.key("function_call")
    raw, arguments = _arguments(function, inside)
    name = inside.text(function, "name")
    wire = {"type": "function_call", **(without(function, "type", "name", "arguments") or {})}
    return ToolCall(f"{_LEGACY}{at.index}", name, arguments, raw, wire=wire)


def _arguments(function: dict[str, Any], at: At) -> tuple[str, dict[str, Any] | None]:
    given = function.get("arguments")
    if isinstance(given, dict):  # servers that parse them for the caller
        return json.dumps(given, ensure_ascii=False, separators=(",", ":")), given
    raw = at.text(function, "arguments")
    try:
        value = plain(json.loads(raw or "{}"), at)
    except (ValueError, RecursionError, VendorMessageError):
        return raw, None
    return raw, value if isinstance(value, dict) else None


def _result(fields: dict[str, Any], at: At, calls: Mapping[str, str]) -> ToolResult:
    parts = _content(fields, at, required=True)
    if fields["role"] == "tool":
        call_id = at.text(fields, "tool_call_id")
        extra = without(fields, "role", "content", "tool_call_id")
        name = calls.get(call_id, "")
    else:
        name = at.text(fields, "name")
        ids = (i for i, called in reversed(tuple(calls.items())) if called == name and i.startswith(_LEGACY))
        call_id = next(ids, f"{_LEGACY}{name}")
        extra = {"role": "function", **(without(fields, "role", "content", "name") or {})}
    return ToolResult(call_id, name, parts, is_error=False, wire=marked(NAME, extra, parts))


def _present(fields: Mapping[str, Any], name: str) -> tuple[Any, ...]:
    return () if fields.get(name) is None else (fields[name],)


def _as_given(call: dict[str, Any]) -> bool:
    """Whether a call has the shape that the API asks for; decoding takes a little more."""
    return call.get("type") == "custom" or (
        call.get("type") == "function" and isinstance(call["function"]["arguments"], str)
    )


def _may_lack_content(fields: Mapping[str, Any]) -> bool:
    wanted = ("tool_calls", "function_call", "refusal", "audio")
    return fields.get("role") == "assistant" and any(fields.get(f) for f in wanted)


@dataclass(slots=True)
class _Writer:
    """Writes a paired conversation. `shown` waits for the end of the batch whose results it belongs to."""

    out: list[dict[str, Any]] = field(default_factory=list)
    shown: list[dict[str, Any]] = field(default_factory=list)
    legacy: dict[str, str] = field(default_factory=dict)

    def add(self, message: Message, given: dict[str, Any] | None) -> None:
        """Write the next message; `given` is the dict that it came in."""
        if not isinstance(message, ToolResult):
            self._close()
        if isinstance(message, Assistant):
            mine = message.provider == PROVIDER
            legacy = (c for c in message.tool_calls if wire_of(c, mine=mine).get("type") == "function_call")
            self.legacy = {c.id: c.name for c in legacy}
        if given is not None:
            self.out.append(given)
            return
        match message:
            case ToolResult():
                self._result(message)
            case User():
                self._user(message)
            case Assistant():
                self._answer(message)
            case _:
                assert_never(message)

    def done(self) -> list[dict[str, Any]]:
        """Return what was written."""
        self._close()
        return self.out

    def _close(self) -> None:
        if self.shown:
            self.out.append({"role": "user", "content": self.shown})
            self.shown = []

    def _user(self, message: User) -> None:
        fields = fields_of(message, NAME, PROVIDER)
        blocks = _blocks(message.parts, mine=fields is not None)
        role = (fields or {}).get("role", "user")
        if role in _SYSTEM:  # instructions hold only text
            blocks = [b for b in blocks if b["type"] == "text"]
        if blocks:
            self.out.append({"role": role, "content": _short(blocks), **(without(fields or {}, "role") or {})})

    def _result(self, message: ToolResult) -> None:
        fields = fields_of(message, NAME, PROVIDER)
        blocks = _blocks(message.parts, mine=fields is not None)
        texts = [b for b in blocks if b["type"] == "text"]
        others = [b for b in blocks if b["type"] != "text"]
        if others:
            head = f"From the result of {message.tool_name or 'the call'} ({message.call_id}):"
            self.shown += [{"type": "text", "text": head}, *others]
            texts = texts or [{"type": "text", "text": "(shown below)"}]
        extra = without(fields or {}, "role") or {}
        legacy = self.legacy.get(message.call_id)
        if legacy is not None:
            text = "\n".join(b["text"] for b in texts)
            self.out.append({"role": "function", "name": legacy, "content": text, **extra})
        else:
            content = _short(texts) if texts else ""
            self.out.append({"role": "tool", "tool_call_id": message.call_id, "content": content, **extra})

    def _answer(self, message: Assistant) -> None:
        fields = fields_of(message, NAME, PROVIDER)
        mine = fields is not None
        written = _Answer(mine=mine)
        for part in message.parts:
            written.add(part)
        if any(k not in ("role", "content") or v for k, v in written.fields().items()):
            self.out.append({**written.fields(), **(fields or {})})


@dataclass(slots=True)
class _Answer:
    """The fields of one assistant message, while its parts are written."""

    mine: bool
    named: dict[str, Any] = field(default_factory=dict)
    content: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)

    def add(self, part: Part) -> None:
        """Write the next part."""
        match part:
            case Text():
                self._text(part)
            case Image():
                self.content.append({"type": "text", "text": in_words(part)})
            case Thinking():
                name = (part.wire or {}).get("field")
                if self.mine and name in _THOUGHTS:
                    self.named[name] = self.named.get(name, "") + part.text
            case ToolCall():
                self._call(part)
            case Opaque():
                self._opaque(part)
            case _:
                assert_never(part)

    def fields(self) -> dict[str, Any]:
        """Return the message so far; `content` is null only where another field says something."""
        content = _short(self.content) if self.content else None
        spoken = self.calls or any(f not in _THOUGHTS for f in self.named)
        out = {"role": "assistant", "content": content if self.content or spoken else "", **self.named}
        return {**out, "tool_calls": self.calls} if self.calls else out

    def _text(self, part: Text) -> None:
        wire = wire_of(part, mine=self.mine)
        if wire.get("type") == _REFUSAL:
            self.named["refusal"] = part.text
        elif wire.get("type") == "refusal":
            self.content.append({"type": "refusal", "refusal": part.text, **(without(wire, "type") or {})})
        elif part.text or wire:
            self.content.append({"type": "text", "text": part.text, **wire})

    def _opaque(self, part: Opaque) -> None:
        if part.provider != PROVIDER:
            return
        if part.data.get("type") == _AUDIO:
            self.named["audio"] = part.data.get("audio")
        else:
            self.content.append(part.data)

    def _call(self, call: ToolCall) -> None:
        wire = dict(wire_of(call, mine=self.mine))
        if wire.get("type") == "function_call":
            extra = without(wire, "type") or {}
            self.named["function_call"] = {"name": call.name, "arguments": call.raw, **extra}
        elif wire.get("type") == "custom":
            custom = {"name": call.name, "input": call.raw, **wire.pop("custom", {})}
            self.calls.append({"id": call.id, "type": "custom", "custom": custom, **(without(wire, "type") or {})})
        else:
            function = {"name": call.name, "arguments": call.raw, **wire.pop("function", {})}
            self.calls.append({"id": call.id, "type": "function", "function": function, **wire})


def _blocks(parts: Iterable[Part], *, mine: bool) -> list[dict[str, Any]]:
    """The blocks of a user message or a result."""
    out: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Text):
            out.append({"type": "text", "text": part.text, **wire_of(part, mine=mine)})
        elif isinstance(part, Image) and not part.data:
            out.append({"type": "text", "text": in_words(part)})
        elif isinstance(part, Image):
            wire = wire_of(part, mine=mine)
            link = {"url": to_data_url(part), **wire.get("image_url", {})}
            out.append({"type": "image_url", "image_url": link, **(without(wire, "image_url") or {})})
        elif isinstance(part, Opaque) and part.provider == PROVIDER:
            out.append(part.data)
    return out


def _short(blocks: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """One plain text is written as a string, which every server takes."""
    only = blocks[0] if len(blocks) == 1 else {}
    return str(only["text"]) if only.keys() == {"type", "text"} else blocks
