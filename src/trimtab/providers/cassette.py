"""The cassette: what a provider once streamed, filed under the hash of what the model had read.

A cassette is JSON Lines. Line 1 is the header `{"type": "cassette", "format": 1}`; every other line is one request,
`{"hash", "prints": {"system", "tools": {name: print}, "messages": [[role, print], …]}, "events": [{"type", …}, …]}`. The request itself
is not stored, and neither are endpoint, headers and keys: a recorder never sees them.

**Canonical request hash.** SHA-256, in hexadecimal, of the JSON of `[system, tools, messages]` with sorted keys. A tool is
`[name, description, parameters]`; a message is `[role, parts]`, a result also `call_id` and `is_error`. Left out is what the model doesn't
read or what differs between recording and replay: model, provider, usage, sizes, thinking level, session id, details for people.
A print is the first 12 digits of the same hash over one component; prints exist to say *what* differs.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from trimtab.types.errors import ConfigError
from trimtab.types.messages import Assistant, Message, ToolResult, User
from trimtab.types.models import ModelRequest
from trimtab.types.stream import Ended, PartDelta, PartEnded, PartStarted, Retrying, StreamEvent
from trimtab.types.text import scrub

HEADER = b'{"type":"cassette","format":1}\n'
_EVENTS: dict[str, type[PartStarted | PartDelta | PartEnded | Retrying | Ended]] = {
    "part_started": PartStarted,
    "part_delta": PartDelta,
    "part_ended": PartEnded,
    "retrying": Retrying,
    "ended": Ended,
}
_NAMES = {kind: name for name, kind in _EVENTS.items()}
_canonical = msgspec.json.Encoder(order="deterministic")


class Prints(msgspec.Struct, frozen=True):
    """Fingerprints of a request's components."""

    system: str
    tools: dict[str, str]
    messages: tuple[tuple[str, str], ...]


class Take(msgspec.Struct, frozen=True):
    """One recorded request: its hash, its prints, and the events of its answer as tagged objects."""

    hash: str
    prints: Prints
    events: tuple[dict[str, Any], ...]

    def stream_events(self) -> tuple[StreamEvent, ...]:
        """The events as values."""
        return tuple(_event(e) for e in self.events)


class _Head(msgspec.Struct, frozen=True, tag_field="type", tag="cassette"):
    format: int


def request_hash(request: ModelRequest) -> str:
    """The canonical hash of a request; see the head of this module."""
    tools = [_tool(t.name, t.description, t.parameters) for t in request.tools]
    return _digest([request.system, tools, [_shape(m) for m in request.messages]])


def prints_of(request: ModelRequest) -> Prints:
    """The prints of a request's components."""
    return Prints(
        system=_digest(request.system)[:12],
        tools={t.name: _digest(_tool(t.name, t.description, t.parameters))[:12] for t in request.tools},
        messages=tuple((_role(m), _digest(_shape(m))[:12]) for m in request.messages),
    )


def take_of(request: ModelRequest, events: Iterable[StreamEvent]) -> Take:
    """A recorded request from its parts."""
    tagged = tuple({"type": _NAMES[type(e)], **msgspec.to_builtins(_clean(e))} for e in events)
    return Take(request_hash(request), prints_of(request), tagged)


def encode_take(take: Take) -> bytes:
    """The line of a take, with its newline."""
    return msgspec.json.encode(take) + b"\n"


def read_cassette(path: str | Path) -> tuple[Take, ...]:
    """Return the takes of a cassette file. Raises `ConfigError` with file and line."""
    try:
        rows = Path(path).read_bytes().split(b"\n")
    except OSError as exc:
        raise ConfigError(
            f"can't read the cassette {str(path)!r}: {exc.strerror or exc}",
            hint="name an existing cassette: --model recorded/PATH",
        ) from exc
    takes = []
    try:
        head = msgspec.json.decode(rows[0], type=_Head)
    except (msgspec.MsgspecError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{path}, line 1: not a cassette ({exc})", hint="record one with `Recorder`") from exc
    if head.format != 1:
        raise ConfigError(f"{path}: cassette format {head.format} is not known", hint="use a newer Trimtab")
    for number, row in enumerate(rows[1:], start=2):
        if row.strip():
            try:
                take = msgspec.json.decode(row, type=Take)
                take.stream_events()
            except (msgspec.MsgspecError, UnicodeDecodeError) as exc:
                raise ConfigError(f"{path}, line {number}: {exc}", hint="record the cassette again") from exc
            takes.append(take)
    return tuple(takes)


def difference(recorded: Prints, actual: Prints) -> str:
    """What differs between two requests, in words, most telling first."""
    found = []
    if recorded.system != actual.system:
        found.append("the system prompt differs")
    if recorded.tools != actual.tools:
        names = sorted(n for n in {*recorded.tools, *actual.tools} if recorded.tools.get(n) != actual.tools.get(n))
        found.append(f"tools differ: {', '.join(names)}")
    pairs = zip(recorded.messages, actual.messages, strict=False)
    first = next((i for i, (a, b) in enumerate(pairs) if a != b), None)
    if first is not None:
        was, now = recorded.messages[first], actual.messages[first]
        role = now[0] if now[0] == was[0] else f"{was[0]} recorded, {now[0]} now"
        found.append(f"message {first + 1} ({role}) differs")
    if len(actual.messages) != len(recorded.messages):
        found.append(f"{len(actual.messages)} messages, recorded were {len(recorded.messages)}")
    return "; ".join(found) or "the order of the tools differs"


def _clean(event: StreamEvent) -> StreamEvent:
    """A delta that splits a surrogate pair can't be written; the end of its part has the whole text."""
    return PartDelta(event.part, event.kind, scrub(event.text)) if isinstance(event, PartDelta) else event


def _event(data: dict[str, Any]) -> StreamEvent:
    kind = _EVENTS.get(data.get("type", ""))
    if kind is None:
        raise msgspec.ValidationError(f"unknown event type {data.get('type')!r}")
    return msgspec.convert(data, kind)


def _tool(name: str, description: str, parameters: dict[str, Any]) -> list[Any]:
    return [name, description, parameters]


def _role(message: Message) -> str:
    match message:
        case User():
            return "user"
        case Assistant():
            return "assistant"
        case ToolResult():
            return "tool"


def _shape(message: Message) -> list[Any]:
    shape: list[Any] = [_role(message), message.parts]
    if isinstance(message, ToolResult):
        shape += [message.call_id, message.is_error]
    return shape


def _digest(value: Any) -> str:
    return hashlib.sha256(_canonical.encode(value)).hexdigest()
