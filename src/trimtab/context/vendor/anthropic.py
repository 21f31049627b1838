"""Anthropic Messages as dicts: a user message with results is several messages of ours.

    {"role": "user", "content": [result a, result b, text]}  ◀─▶  ToolResult a · ToolResult b · User
    {"role": "assistant", "content": [thinking, text, tool_use]}  ◀─▶  Assistant
    {"role": "system", …} (in place)  ◀─▶  User with `wire["role"]`; where the API takes none, it goes out as the user's

Written back as turns that alternate and begin with the user; in a user turn all results stand before anything else. What the API refuses
is left out: blank text, thinking without a signature. Blocks that ours don't have (documents, links to images, server tools) are opaque.
An answer as the API returned it (`"type": "message"`) is taken too: its usage and stop reason are kept, and only role and content go back.

Source: docs.claude.com, "Messages", "Extended thinking", "Implement tool use".
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, assert_never

from trimtab.context.vendor.errors import At
from trimtab.context.vendor.images import in_words
from trimtab.context.vendor.plain import VendorMessage, copied, plain_object, without
from trimtab.context.vendor.turns import Known, fields_of, marked, nothing_known, walk, wire_of
from trimtab.context.vendor.usage import usage_of
from trimtab.context.window.pairs import pair
from trimtab.types.errors import UsageError
from trimtab.types.ids import portable_call_id
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

NAME = "anthropic"
PROVIDER = "anthropic"
_ANSWER = ("id", "type", "model", "stop_reason", "stop_sequence", "stop_details", "usage", "container")
"""Fields of an answer that a request doesn't have."""
_STOPS: Mapping[str, StopReason] = {"tool_use": "tool_use", "max_tokens": "length", "refusal": "refused"}
_PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_OPENING = "(The conversation began before this point.)"
_OTHERS = ("tool_calls", "function_call")
"""Fields of an answer in Chat Completions, which this API would refuse."""
_OTHER_BLOCKS = frozenset({"image_url", "input_audio"})
_OTHER_FORMAT = "Use format='openai' for these messages, or give calls as blocks 'tool_use', results as 'tool_result' and pictures as 'image'."
_CALL_IDS = {"tool_use": "id", "tool_result": "tool_use_id"}
_LEGAL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MESSAGE = "message"
"""Key in the `wire` of a result: fields of the message that it was the first block of."""


def decode(
    message: VendorMessage, *, index: int = 0, calls: Mapping[str, str] = MappingProxyType({})
) -> tuple[Message, ...]:
    """Return the messages in an Anthropic dict; see `formats.Decode`."""
    fields, at = plain_object(message, index), At(index)
    role = fields.get("role")
    if other := next((name for name in _OTHERS if fields.get(name)), None):
        raise at.key(other).wrong("belongs to Chat Completions, and this format is 'anthropic'", _OTHER_FORMAT)
    blocks = _content(fields, at) if role in ("user", "assistant", "system") else []
    kept = without(fields, "role", "content") or {}
    if role == "assistant":
        return (_assistant(fields, blocks),)
    if role == "system":
        parts = tuple(_part(*block) for block in blocks)
        return (User(parts, wire=marked(NAME, {"role": role, **kept}, parts)),)
    if role == "user":
        return _user(blocks, kept, calls)
    hint = "Give 'role' as user or assistant; instructions go into `system=`, results into a user message."
    raise at.no_role(fields, ("user", "assistant", "system"), hint)


def system_text(message: VendorMessage) -> str | None:
    """Return the text of a system message, None for any other."""
    fields = plain_object(message, 0)
    if fields.get("role") != "system":
        return None
    return "".join(block["text"] for _, kind, block in _content(fields, At(0)) if kind == "text")


def givable(message: VendorMessage) -> dict[str, Any] | None:
    """Return the dict of a message that `decode` took as it may go back, None where it must be written anew."""
    fields = plain_object(message, 0)
    fields = {k: v for k, v in fields.items() if fields.get("type") != "message" or k not in _ANSWER}
    content = fields["content"]
    said = content.strip() if isinstance(content, str) else content and all(map(_acceptable, content))
    return fields if said else None


def renamed(
    fields: dict[str, Any], calls: Callable[[Sequence[str]], Sequence[str]], result: Callable[[str], str]
) -> dict[str, Any]:
    """Return a dict that `decode` took with other ids of calls; see `formats.Renamed`."""
    content = fields["content"]
    if isinstance(content, str):
        return fields
    if fields["role"] == "assistant":
        names = iter(calls([block["id"] for block in content if block["type"] == "tool_use"]))
        blocks = [{**block, "id": next(names)} if block["type"] == "tool_use" else block for block in content]
    else:
        blocks = [
            {**block, "tool_use_id": result(block["tool_use_id"])} if block["type"] == "tool_result" else block
            for block in content
        ]
    return {**fields, "content": blocks}


def encode(messages: Sequence[Message], known: Known = nothing_known) -> list[dict[str, Any]]:
    """Return the conversation as Anthropic messages."""
    turns: list[_Turn] = []
    for message, given in walk(pair(messages)[0], known):
        turn = _given_turn(given) if given is not None else _turn(message)
        if not turn.content:
            continue
        if turn.role == "system" and not (turns and turns[-1].role == "user"):
            # The API takes instructions within a conversation right behind something of the user's, and nowhere else.
            turn.role, turn.given = "user", None
        if not turns and turn.role == "assistant":
            turns.append(_Turn("user", blocks=[{"type": "text", "text": _OPENING}]))
        if turns and turns[-1].role == turn.role:
            turns[-1].join(turn)
        else:
            turns.append(turn)
    out: list[dict[str, Any]] = copied([turn.written() for turn in turns])
    return out


def _content(fields: Mapping[str, Any], at: At) -> list[tuple[At, str, dict[str, Any]]]:
    """The blocks of a content; a string is one block that has nothing but text."""
    content = fields.get("content")
    if isinstance(content, str):
        return [(at.key("content"), "text", {"type": "text", "text": content})]
    blocks = at.key("content").blocks(content)
    for where, kind, block in blocks:
        if kind == "text":
            where.text(block, "text")
    return blocks


def _part(at: At, kind: str, block: dict[str, Any]) -> Part:
    if kind == "text":
        return Text(at.text(block, "text"), wire=without(block, "type", "text"))
    if kind == "image":
        source, inside = at.mapping(block, "source"), at.key("source")
        if source.get("type") == "base64":
            wire = without(block, "type", "source") or {}
            if more := without(source, "type", "media_type", "data"):
                wire["source"] = more
            return Image(inside.text(source, "media_type"), inside.text(source, "data"), wire=wire or None)
    if kind in _OTHER_BLOCKS:
        raise at.wrong(f"a block {kind!r} belongs to Chat Completions, and this format is 'anthropic'", _OTHER_FORMAT)
    return Opaque(PROVIDER, block)


def _user(
    blocks: Iterable[tuple[At, str, dict[str, Any]]], kept: dict[str, Any], calls: Mapping[str, str]
) -> tuple[Message, ...]:
    """Results are messages of their own; what stands between two of them is one."""
    out: list[Message] = []
    parts: list[Part] = []
    left = kept

    def close() -> None:
        nonlocal left
        if parts:
            out.append(User(tuple(parts), wire=marked(NAME, left, parts)))
            left = {}
            parts.clear()

    for at, kind, block in blocks:
        if kind != "tool_result":
            parts.append(_part(at, kind, block))
            continue
        close()
        out.append(_result(at, block, left, calls))
        left = {}
    close()
    return tuple(out) or (User((), wire=marked(NAME, left)),)


def _result(at: At, block: dict[str, Any], kept: dict[str, Any], calls: Mapping[str, str]) -> ToolResult:
    call_id = at.text(block, "tool_use_id")
    blocks = [] if block.get("content") is None else _content(block, at)
    parts = tuple(_part(*inner) for inner in blocks)
    extra = without(block, "type", "tool_use_id", "content", "is_error") or {}
    extra.pop(_MESSAGE, None)
    if kept:
        extra[_MESSAGE] = kept
    wire = marked(NAME, extra, parts)
    return ToolResult(call_id, calls.get(call_id, ""), parts, is_error=block.get("is_error") is True, wire=wire)


def _assistant(fields: dict[str, Any], blocks: Iterable[tuple[At, str, dict[str, Any]]]) -> Assistant:
    parts = tuple(_answer_part(*block) for block in blocks)
    stop: StopReason = "tool_use" if any(isinstance(p, ToolCall) for p in parts) else "stop"
    if fields.get("type") != "message":
        return Assistant(parts, stop, provider=PROVIDER, wire=without(fields, "role", "content"))
    reason, model = fields.get("stop_reason"), fields.get("model")
    try:
        usage = usage_of(fields.get("usage"))
    except UsageError:  # a count that can't be read costs an estimate, not the answer
        usage = None
    return Assistant(
        parts,
        _STOPS.get(reason, stop) if isinstance(reason, str) else stop,
        usage=usage,
        model=model if isinstance(model, str) else "",
        provider=PROVIDER,
        wire=without(fields, "role", "content", *_ANSWER),
    )


def _answer_part(at: At, kind: str, block: dict[str, Any]) -> Part:
    if kind == "thinking":
        signature = block.get("signature")
        signed = at.text(block, "signature") if signature is not None else None
        return Thinking(at.text(block, "thinking"), signed, wire=without(block, "type", "thinking", "signature"))
    if kind == "redacted_thinking":
        return Thinking("", at.text(block, "data"), redacted=True, wire=without(block, "type", "data"))
    if kind == "tool_use":
        arguments = at.mapping(block, "input")
        raw = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
        wire = without(block, "type", "id", "name", "input")
        return ToolCall(at.text(block, "id"), at.text(block, "name"), arguments, raw, wire=wire)
    return _part(at, kind, block)


def _acceptable(block: dict[str, Any]) -> bool:
    """Whether the API takes a block as it is."""
    kind = block["type"]
    if kind == "text":
        return bool(block["text"].strip())
    if kind == "thinking":
        return isinstance(block.get("signature"), str)
    if kind in _CALL_IDS and not _LEGAL_ID.fullmatch(str(block.get(_CALL_IDS[kind]))):
        return False
    if kind == "image":
        return block["source"].get("type") != "base64" or block["source"]["media_type"] in _PICTURES
    if kind != "tool_result":
        return True
    if not isinstance(block.get("is_error", False), bool) or ("content" in block and block["content"] is None):
        return False
    inner = block.get("content", "")
    return isinstance(inner, str) or all(map(_acceptable, inner))


@dataclass(slots=True)
class _Turn:
    """One message of the conversation while it grows. Results are kept apart because they must come first."""

    role: str
    results: list[dict[str, Any]] = field(default_factory=list)
    blocks: list[dict[str, Any]] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    given: dict[str, Any] | None = None

    @property
    def content(self) -> list[dict[str, Any]]:
        """All blocks, in the order that the API asks for."""
        return self.results + self.blocks

    def join(self, other: "_Turn") -> None:
        """Take in what the same side said next."""
        self.results += other.results
        self.blocks += other.blocks
        self.extra = {**self.extra, **other.extra}
        self.given = None

    def written(self) -> dict[str, Any]:
        """Return the dict: the given one, when it stands alone and in order."""
        if self.given is not None:
            return self.given
        content = self.content
        only = content[0] if len(content) == 1 else {}
        return {
            "role": self.role,
            "content": only["text"] if only.keys() == {"type", "text"} else content,
            **self.extra,
        }


def _given_turn(given: dict[str, Any]) -> _Turn:
    content = given["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    answers = given["role"] == "user"
    results = [b for b in blocks if answers and b["type"] == "tool_result"]
    others = [b for b in blocks if not answers or b["type"] != "tool_result"]
    in_order = results + others == blocks
    extra = without(given, "role", "content") or {}
    return _Turn(given["role"], results, others, extra, given if in_order else None)


def _turn(message: Message) -> _Turn:
    fields = fields_of(message, NAME, PROVIDER)
    mine = fields is not None
    extra = dict(fields or {})
    match message:
        case User():
            role = extra.pop("role", "user")
            blocks = _blocks(message.parts, mine=mine)
            if role == "system":  # instructions hold only text
                blocks = [b for b in blocks if b["type"] == "text"]
            return _Turn(role, blocks=blocks, extra=extra)
        case ToolResult():
            whole = extra.pop(_MESSAGE, {})
            content = _blocks(message.parts, mine=mine)
            block: dict[str, Any] = {"type": "tool_result", "tool_use_id": portable_call_id(message.call_id)}
            if content:
                only = content[0] if len(content) == 1 else {}
                block["content"] = only["text"] if only.keys() == {"type", "text"} else content
            if message.is_error:
                block["is_error"] = True
            return _Turn("user", results=[{**block, **extra}], extra=whole)
        case Assistant():
            written = (_answer_block(part, mine=mine) for part in message.parts)
            return _Turn("assistant", blocks=[b for b in written if b is not None], extra=extra)
        case _:
            assert_never(message)


def _blocks(parts: Iterable[Part], *, mine: bool) -> list[dict[str, Any]]:
    return [b for part in parts if (b := _block(part, mine=mine)) is not None]


def _block(part: Part, *, mine: bool) -> dict[str, Any] | None:
    """One block, or None for what the API wouldn't take."""
    if isinstance(part, Text):
        return {"type": "text", "text": part.text, **wire_of(part, mine=mine)} if part.text.strip() else None
    if isinstance(part, Image):
        if not part.data or part.media_type not in _PICTURES:
            return {"type": "text", "text": in_words(part)}
        wire = wire_of(part, mine=mine)
        source = {"type": "base64", "media_type": part.media_type, "data": part.data, **wire.get("source", {})}
        return {"type": "image", "source": source, **(without(wire, "source") or {})}
    return part.data if isinstance(part, Opaque) and part.provider == PROVIDER else None


def _answer_block(part: Part, *, mine: bool) -> dict[str, Any] | None:
    if isinstance(part, ToolCall):
        arguments = part.arguments if part.arguments is not None else {"unparsed_arguments": part.raw}
        call_id = portable_call_id(part.id)
        return {"type": "tool_use", "id": call_id, "name": part.name, "input": arguments, **wire_of(part, mine=mine)}
    if isinstance(part, Thinking):
        if not mine or part.signature is None:
            return None
        if part.redacted:
            return {"type": "redacted_thinking", "data": part.signature, **(part.wire or {})}
        return {"type": "thinking", "thinking": part.text, "signature": part.signature, **(part.wire or {})}
    if isinstance(part, Image):
        return {"type": "text", "text": in_words(part)}
    return _block(part, mine=mine)
