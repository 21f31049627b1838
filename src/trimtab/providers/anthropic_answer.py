"""Anthropic's streamed answers: events → open blocks by index → parts in the order they began → `Ended` at `message_stop`.

A block's index is only a name while the block is open. Blocks that aren't text, thinking or a call of ours are kept verbatim
(`Opaque`), with what their deltas added. The other half of the wire: `anthropic.py`. Source: docs.claude.com, "Streaming messages".
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from trimtab.providers.classify import classify
from trimtab.providers.lenient import compact, count, cut_stream, decode, odd_shape, text_of
from trimtab.providers.wire import WireFailure
from trimtab.types.errors import ErrorInfo
from trimtab.types.ids import new_call_id
from trimtab.types.messages import Opaque, Part, StopReason, Text, Thinking
from trimtab.types.stream import (
    DeltaKind,
    Ended,
    PartDelta,
    PartEnded,
    PartStarted,
    StreamEvent,
    make_call,
    parse_arguments,
)
from trimtab.types.usage import Usage


class _Delta(msgspec.Struct, frozen=True):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    partial_json: Any = None
    citation: Any = None
    stop_reason: str | None = None
    stop_details: Any = None


class _Started(msgspec.Struct, frozen=True):
    usage: dict[str, Any] | None = None


class _Event(msgspec.Struct, frozen=True):
    type: str | None = None
    index: int | None = None
    message: _Started | None = None
    content_block: dict[str, Any] | None = None
    delta: _Delta | None = None
    usage: dict[str, Any] | None = None
    error: Any = None
    content: list[dict[str, Any]] | None = None
    stop_reason: str | None = None


_event = msgspec.json.Decoder(_Event | None)
_anything = msgspec.json.Decoder()

_PART_KINDS: dict[str, DeltaKind] = {"text": "text", "thinking": "thinking", "tool_use": "tool_arguments"}
_IMPLIED = {"text_delta": "text", "thinking_delta": "thinking"}
"""Deltas that make a block of their own when no start came before them."""
_STOPS: Mapping[str, StopReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}
"""Every other reason is "tool_use" when the answer holds calls and "stop" when it doesn't: servers disagree about `end_turn` after
calls. `pause_turn` is a stop too: the answer's own server tools were paused, and the next request, which carries them, resumes."""


class _Open:
    """A content block between its start and its stop."""

    __slots__ = ("block", "call_id", "chunks", "citations", "kind", "part", "signature")

    def __init__(self, part: int, block: dict[str, Any], call_id: str) -> None:
        self.part = part
        self.block = block
        self.kind = text_of(block.get("type"))
        self.call_id = call_id
        self.chunks: list[str] = []
        given = block.get("citations")
        self.citations: list[Any] = given if isinstance(given, list) else []
        self.signature = text_of(block.get("signature"))


class _Tally:
    """Usage that arrives in cumulative pieces: the last known number of each kind wins, a 0 placeholder never does."""

    _NAMES = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def take(self, usage: Mapping[str, Any]) -> None:
        written, details = usage.get("cache_creation"), usage.get("output_tokens_details")
        numbers: dict[str, Any] = {name: usage[name] for name in self._NAMES if usage.get(name) is not None}
        if isinstance(written, dict):
            numbers["1h"] = written.get("ephemeral_1h_input_tokens")
            numbers["5m"] = written.get("ephemeral_5m_input_tokens")
        if isinstance(details, dict):
            numbers["thinking"] = details.get("thinking_tokens")
        for name, number in numbers.items():
            self._known[name] = count(number) or self._known.get(name, 0)

    def usage(self) -> Usage | None:
        """In our convention, which is the API's: cached tokens stand beside the input. None when nothing was reported."""
        if not self._known:
            return None
        get = self._known.get
        return Usage(
            input=get("input_tokens", 0),
            output=get("output_tokens", 0),
            cache_read=get("cache_read_input_tokens", 0),
            cache_write=max(get("cache_creation_input_tokens", 0), get("1h", 0) + get("5m", 0)),
            cache_write_1h=get("1h", 0),
            reasoning=get("thinking", 0),
        )


class AnthropicDecoder:
    """Events of one answer to stream events. A block's index is only a name while the block is open; parts are numbered by start."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._open: dict[int, _Open] = {}
        self._parts = 0
        self._call_ids: set[str] = set()
        self._tally = _Tally()
        self._stop: str | None = None
        self._refusal = ""
        self._done = False

    def feed(self, event: str, data: bytes) -> Iterable[StreamEvent]:
        """Take one event; `Ended` comes with `message_stop`, so a server that lingers holds nobody up."""
        if self._done or not data.strip() or data.strip() == b"[DONE]":
            return
        said = _read(data)
        if said is None:
            return
        kind = said.type or event
        if kind == "error" or (said.error is not None and said.type is None):
            raise WireFailure(classify(None, data))
        index = said.index or 0
        if kind == "content_block_delta":
            yield from self._delta(index, said.delta or _NO_DELTA, data)
        elif kind == "content_block_start":
            yield from self._start(index, said.content_block or {})
        elif kind == "content_block_stop":
            yield from self._close(index)
        elif kind == "message_start":
            self._tally.take((said.message and said.message.usage) or {})
        elif kind == "message_delta":
            self._tally.take(said.usage or {})
            self._take_stop(said.delta or _NO_DELTA)
        elif kind == "message_stop":
            yield from self._end()
        elif kind == "message":
            yield from self._whole(said)

    def finish(self) -> Iterable[StreamEvent]:
        """The body is over. Raises `WireFailure` (network) when no `message_stop` came."""
        if not self._done:
            raise cut_stream()
        return ()

    def _start(self, index: int, block: dict[str, Any]) -> Iterator[StreamEvent]:
        yield from self._close(index)  # an index in use again is a new block, and the old one is over
        kind = text_of(block.get("type"))
        if not kind:
            return
        call_id = self._call_id(block) if kind == "tool_use" else ""
        opened = self._open[index] = _Open(self._parts, block, call_id)
        self._parts += 1
        if kind in _PART_KINDS:
            yield PartStarted(opened.part, _PART_KINDS[kind], call_id, text_of(block.get("name")))
        if kind in ("text", "thinking"):
            yield from _more(opened, text_of(block.get(kind)))

    def _call_id(self, block: dict[str, Any]) -> str:
        """The call's id, or a fresh one when it has none or repeats one of this answer."""
        call_id = text_of(block.get("id"))
        if not call_id or call_id in self._call_ids:
            call_id = new_call_id()
        self._call_ids.add(call_id)
        return call_id

    def _delta(self, index: int, delta: _Delta, data: bytes) -> Iterator[StreamEvent]:
        kind = delta.type or ""
        if index not in self._open and kind in _IMPLIED:
            yield from self._start(index, {"type": _IMPLIED[kind]})
        opened = self._open.get(index)
        if opened is None:
            return
        if opened.kind not in _PART_KINDS:
            _grow(opened, data)
        elif kind == "text_delta" and opened.kind == "text":
            yield from _more(opened, delta.text or "")
        elif kind == "thinking_delta" and opened.kind == "thinking":
            yield from _more(opened, delta.thinking or "")
        elif kind == "input_json_delta" and opened.kind == "tool_use":
            yield from _more(opened, _json_text(delta.partial_json))
        elif kind == "signature_delta":
            opened.signature = delta.signature or opened.signature
        elif kind == "citations_delta" and delta.citation is not None:
            opened.citations.append(delta.citation)

    def _close(self, index: int) -> Iterator[StreamEvent]:
        opened = self._open.pop(index, None)
        if opened is None:
            return
        if opened.kind == "tool_use" and not opened.chunks and opened.block.get("input"):
            yield from _more(opened, _json_text(opened.block["input"]))
        yield PartEnded(opened.part, _part(opened, self._provider))

    def _take_stop(self, delta: _Delta) -> None:
        self._stop = delta.stop_reason or self._stop
        if isinstance(delta.stop_details, dict):
            self._refusal = text_of(delta.stop_details.get("explanation")) or self._refusal

    def _whole(self, said: _Event) -> Iterator[StreamEvent]:
        """The answer of a server that doesn't stream, all in one."""
        for block in said.content or ():
            yield from self._start(0, block)
        self._tally.take(said.usage or {})
        self._stop = said.stop_reason
        yield from self._end()

    def _end(self) -> Iterator[StreamEvent]:
        for index in list(self._open):
            yield from self._close(index)
        self._done = True
        if self._stop == "model_context_window_exceeded" and not self._parts:
            raise WireFailure(ErrorInfo("overflow", "the prompt leaves no room for an answer in the model's window"))
        reason = _STOPS.get(self._stop or "") or ("tool_use" if self._call_ids else "stop")
        error = ErrorInfo("refused", self._refusal or "the model refused to answer") if reason == "refused" else None
        yield Ended(reason, self._tally.usage(), error=error)


_NO_DELTA = _Delta()


def _read(data: bytes) -> _Event | None:
    """Return the event in `data`, or None for null and for an event or delta of a type that isn't known, whatever its shape."""
    try:
        return decode(data, _event)
    except msgspec.ValidationError as exc:
        why = exc
    loose = decode(data, _anything)
    if not isinstance(loose, dict):
        raise odd_shape(data, why)
    kind, delta = text_of(loose.get("type")), loose.get("delta")
    if kind not in _EVENTS:
        return None
    if kind == "content_block_delta" and isinstance(delta, dict) and text_of(delta.get("type")) not in _DELTAS:
        return _Event(kind, count(loose.get("index")), delta=_NO_DELTA)
    raise odd_shape(data, why)


_DELTAS = frozenset({*_IMPLIED, "signature_delta", "input_json_delta", "citations_delta"})
_EVENTS = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "message",
        "error",
    }
)


def _more(opened: _Open, text: str) -> Iterator[StreamEvent]:
    if text:
        opened.chunks.append(text)
        yield PartDelta(opened.part, _PART_KINDS[opened.kind], text)


def _json_text(value: object) -> str:
    """Argument text that should be a string of JSON, from a server that sends the JSON itself."""
    return value if isinstance(value, str) else "" if value is None else compact(value)


def _grow(opened: _Open, data: bytes) -> None:
    """Add a delta to a block that is kept verbatim: texts and lists grow, anything else is replaced."""
    loose = decode(data, _anything)
    delta = loose.get("delta") if isinstance(loose, dict) else None
    for key, value in delta.items() if isinstance(delta, dict) else ():
        if key == "partial_json":
            opened.chunks.append(_json_text(value))
        elif key != "type":
            old = opened.block.get(key)
            grows = isinstance(old, str | list) and type(old) is type(value)
            opened.block[key] = old + value if grows else value


def _part(opened: _Open, provider: str) -> Part:
    block, text = opened.block, "".join(opened.chunks)
    if opened.kind == "text":
        return Text(text, {"citations": opened.citations} if opened.citations else None)
    if opened.kind == "thinking":
        return Thinking(text, opened.signature or None)
    if opened.kind == "redacted_thinking":
        return Thinking("", text_of(block.get("data")), redacted=True)
    if opened.kind == "tool_use":
        caller = block.get("caller")
        wire = {"caller": caller} if caller is not None else None
        return make_call(opened.call_id, text_of(block.get("name")), text, wire=wire)
    if text:
        block["input"] = parse_arguments(text) or block.get("input")
    return Opaque(provider, block)
