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
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from trimtab.context.vendor.errors import At, VendorMessageError
from trimtab.context.vendor.images import from_data_url
from trimtab.context.vendor.openai_writing import (
    AUDIO,
    LEGACY_CALL,
    NAME,
    PROVIDER,
    REFUSAL,
    SYSTEM_ROLES,
    THOUGHT_FIELDS,
    sent_id,
)
from trimtab.context.vendor.plain import VendorMessage, plain, plain_object, without
from trimtab.context.vendor.turns import marked
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

_ROLES = "Give a message with 'role': system, developer, user, assistant, tool or function."
_OTHERS = frozenset({"tool_use", "tool_result", "server_tool_use", "redacted_thinking"})
"""Blocks of Anthropic Messages, which no server of Chat Completions reads: a call among them would never be answered."""
_WITH_SOURCE = frozenset({"image", "document"})
"""Blocks that are Anthropic's when they hold a `source`."""
_OTHER_FORMAT = "Use format='anthropic' for these messages, or give calls in 'tool_calls', results as messages of role 'tool' and pictures as 'image_url'."
_LEGACY_ID = "function_call_"


def decode(
    message: VendorMessage, *, index: int = 0, calls: Mapping[str, str] = MappingProxyType({})
) -> tuple[Message, ...]:
    """Return the message in a Chat Completions dict; see `formats.Decode`."""
    fields, at = plain_object(message, index), At(index)
    role = fields.get("role")
    if role == "user" or role in SYSTEM_ROLES:
        parts = _content(fields, at, required=True)
        kept = without(fields, "role", "content") or {}
        return (User(parts, wire=marked(NAME, {"role": role, **kept} if role in SYSTEM_ROLES else kept, parts)),)
    if role == "assistant":
        return (_assistant(fields, at),)
    if role in ("tool", "function"):
        return (_result(fields, at, calls),)
    raise at.no_role(fields, (*SYSTEM_ROLES, "user", "assistant", "tool", "function"), _ROLES)


def system_text(message: VendorMessage) -> str | None:
    """Return the text of a system or developer message, None for any other."""
    fields = plain_object(message, 0)
    if fields.get("role") not in SYSTEM_ROLES:
        return None
    return "".join(p.text for p in _content(fields, At(0), required=True) if isinstance(p, Text))


def givable(message: VendorMessage) -> dict[str, Any] | None:
    """Return the dict of a message that `decode` took as it may go back, None where it must be written anew."""
    fields = renamed(plain_object(message, 0), lambda ids: [sent_id(i) for i in ids], sent_id)
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


def renamed(
    fields: dict[str, Any], calls: Callable[[Sequence[str]], Sequence[str]], result: Callable[[str], str]
) -> dict[str, Any]:
    """Return a dict that `decode` took with other ids of calls; see `formats.Renamed`."""
    if fields["role"] == "tool":
        return {**fields, "tool_call_id": result(fields["tool_call_id"])}
    if fields["role"] != "assistant" or not fields.get("tool_calls"):
        return fields
    given = fields["tool_calls"]
    names = calls([call["id"] for call in given])
    return {**fields, "tool_calls": [{**call, "id": name} for call, name in zip(given, names, strict=True)]}


def _content(fields: Mapping[str, Any], at: At, *, required: bool) -> tuple[Part, ...]:
    content = fields.get("content")
    if isinstance(content, str):
        return (Text(content),) if content or required else ()
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
    if kind in _OTHERS or (kind in _WITH_SOURCE and isinstance(block.get("source"), dict)):
        raise at.wrong(f"a block {kind!r} is Anthropic's, and this format is 'openai'", _OTHER_FORMAT)
    return Opaque(PROVIDER, block)


def _assistant(fields: dict[str, Any], at: At) -> Assistant:
    rest = without(fields, "role", "content") or {}
    parts: list[Part] = [
        Thinking(rest.pop(f), wire={"field": f}) for f in THOUGHT_FIELDS if isinstance(rest.get(f), str)
    ]
    parts += _content(fields, at, required=False)
    refusal, audio = rest.pop("refusal", None), rest.pop("audio", None)
    if refusal is not None:
        parts.append(Text(at.text(fields, "refusal"), wire={"type": REFUSAL}))
    if audio is not None:
        parts.append(Opaque(PROVIDER, {"type": AUDIO, "audio": at.mapping(fields, "audio")}))
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
    wire = {"type": LEGACY_CALL, **(without(function, "type", "name", "arguments") or {})}
    return ToolCall(f"{_LEGACY_ID}{at.index}", name, arguments, raw, wire=wire)


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
        ids = (i for i, called in reversed(tuple(calls.items())) if called == name and i.startswith(_LEGACY_ID))
        call_id = next(ids, f"{_LEGACY_ID}{name}")
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
