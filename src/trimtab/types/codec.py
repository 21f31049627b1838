"""The one codec of the log: JSON lines to entries and back, losing nothing.

Decoding has two steps, so that a large session opens in less time than its JSON takes to parse: the envelope of every
line at once, the typed value only when somebody asks. Each entry keeps its raw line, and that is what a copy writes: unknown
fields and unknown types survive. What `msgspec` refuses goes through the standard library's parser (`Entry.refused`).
"""

import json
from dataclasses import dataclass
from functools import cache
from sys import intern
from typing import Any

import msgspec

from trimtab.types.entries import FORMAT, Envelope, Header, KnownEntry
from trimtab.types.messages import Assistant, Message, Opaque, Part, Text, ToolResult, User
from trimtab.types.text import scrub, scrub_deep

_encoder = msgspec.json.Encoder()
_envelope = msgspec.json.Decoder(Envelope)
_header = msgspec.json.Decoder(Header)
_known = msgspec.json.Decoder(KnownEntry)
_message = msgspec.json.Decoder(Message)
_TYPES = frozenset(
    {
        "message",
        "edit",
        "revert",
        "label",
        "leaf",
        "model_change",
        "thinking_change",
        "session_info",
        "repair",
        "custom",
    }
)
_REFUSALS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


@dataclass(slots=True)
class Entry:
    """A line of the log: its envelope, its bytes, and on demand its value.

    `refused`: the bytes are not what our encoder would write for the value, so they are read (or were written) the lenient way.
    """

    type: str
    id: str
    parent: str | None
    time: str
    raw: bytes
    refused: bool = False

    @property
    def value(self) -> KnownEntry | None:
        """The typed value, or None for a type that this version doesn't know. Decoded at each call: a long log stays small."""
        return _decode_value(self) if self.type in _TYPES else None


def encode_entry(value: KnownEntry | Header) -> bytes:
    """Return the line of an entry or header, without the newline. A lone surrogate becomes U+FFFD."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encoder.encode(scrub_deep(msgspec.to_builtins(value)))


def entry_of(value: KnownEntry) -> Entry:
    """Return the entry for a value that is about to be written. Its value is what a reader of the line will see."""
    kind = str(value.__struct_config__.tag)
    try:
        return Entry(kind, value.id, value.parent, value.time, _encoder.encode(value))
    except UnicodeEncodeError:
        return Entry(kind, value.id, value.parent, value.time, encode_entry(value), refused=True)


def copy_line(entry: Entry) -> bytes:
    """Return the line that a copy of `entry` writes: its own bytes, unless reading gave it another id or parent.

    Then it is written anew from all its fields, known or not.
    """
    try:
        told = _envelope.decode(entry.raw)
        if (told.id, told.parent) == (entry.id, entry.parent):
            return entry.raw
    except _REFUSALS:
        pass
    data = _lenient_object(entry.raw)
    if data is None or (data.get("id"), data.get("parent")) == (entry.id, entry.parent):
        return entry.raw
    data.update(type=entry.type, id=entry.id, parent=entry.parent)
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()


def decode_header(line: bytes) -> Header | None:
    """Return the header in `line`, or None when it is none. A damaged one keeps what can be read."""
    try:
        return _header.decode(line)
    except _REFUSALS:
        pass
    data = _lenient_object(line)
    if data is None or data.get("type") != "session" or not isinstance(data.get("id"), str):
        return None
    return Header(
        id=data["id"],
        cwd=str(data.get("cwd") or ""),
        created=str(data.get("created") or ""),
        format=data["format"] if isinstance(data.get("format"), int) else FORMAT,
    )


def decode_line(line: bytes) -> Entry | None:
    """Return the entry in one line, or None when the line holds no JSON object with a `type`."""
    try:
        e = _envelope.decode(line)
    except _REFUSALS:
        data = _lenient_object(line)
        if data is None or not isinstance(data.get("type"), str):
            return None
        parent = data.get("parent")
        return Entry(
            data["type"],
            str(data.get("id") or ""),
            parent if isinstance(parent, str) else None,
            str(data.get("time") or ""),
            line,
            refused=True,
        )
    return Entry(intern(e.type), e.id, e.parent, e.time, line)


def encode_message(message: Message) -> bytes:
    """Return a message as JSON."""
    return _encoder.encode(message)


def decode_message(data: bytes) -> Message:
    """Return the message in `data`. Raises `msgspec.MsgspecError` when it is none."""
    return _message.decode(data)


def to_builtins(value: Any) -> Any:
    """Return plain dicts, lists and scalars for any of our structs."""
    return msgspec.to_builtins(value)


def _decode_value(entry: Entry) -> KnownEntry | None:
    try:
        return _known.decode(entry.raw)
    except _REFUSALS:
        entry.refused = True
    data = _lenient_object(entry.raw)
    if data is None:
        return None
    data = {**data, "id": entry.id, "parent": entry.parent, "time": entry.time}
    if entry.type == "message":
        data["message"] = _lenient_message(data.get("message"))
    try:
        value: KnownEntry = msgspec.convert(data, KnownEntry)
    except msgspec.MsgspecError:
        return None
    return value


def _lenient_message(data: Any) -> Any:
    """Keep what can be read of a message: a part of an unknown shape becomes an opaque one."""
    if not isinstance(data, dict):
        return data
    kinds: dict[str, type[msgspec.Struct]] = {"user": User, "assistant": Assistant, "tool": ToolResult}
    kind = kinds.get(str(data.get("role")))
    if kind is None:
        return data
    parts = data.get("parts")
    good: dict[str, Any] = {"role": data["role"], "parts": []}
    for part in parts if isinstance(parts, list) else [parts]:
        good["parts"].append(_lenient_part(part))
    for f in _fields(kind):
        if f.name in good or f.encode_name not in data:
            continue
        try:
            good[f.encode_name] = msgspec.to_builtins(msgspec.convert(data[f.encode_name], f.type))
        except msgspec.MsgspecError:
            if f.required:
                good[f.encode_name] = str(data[f.encode_name])
    return good


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """The fields of a message: to find them evaluates every annotation."""
    return msgspec.structs.fields(kind)


def _lenient_part(part: Any) -> Any:
    try:
        return msgspec.to_builtins(msgspec.convert(part, Part))
    except msgspec.MsgspecError:
        pass
    if isinstance(part, str):
        return msgspec.to_builtins(Text(part))
    return msgspec.to_builtins(Opaque(provider="", data=part if isinstance(part, dict) else {"value": part}))


def _lenient_object(line: bytes) -> dict[str, Any] | None:
    """Parse with the standard library: tolerates bad UTF-8, a BOM, NaN and lone surrogates."""
    try:
        data = json.loads(scrub(line.decode("utf-8-sig", "replace")))
        return scrub_deep(data) if isinstance(data, dict) else None
    except (ValueError, RecursionError):
        return None
