"""Chat Completions chunks to stream events: pure, one pass, O(1) a delta.

A chunk is decoded once, by type (`Chunk`). What `msgspec` refuses (a list as content, a lone surrogate, NaN, a number as text) is parsed again by the
standard library and picked over field by field, so a strange field costs itself and nothing else.

The state of an answer is small: one open text or thinking part, the calls (`call_slots.py`), the last usage, the finish reason. Calls may
interleave, so they close at the end; part numbers are given in the order in which parts began.

An answer is complete with a finish reason or `[DONE]`, or as a whole JSON body; otherwise it was cut.
Source of the shapes: platform.openai.com/docs/api-reference/chat-streaming and what compatible servers make of it.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from trimtab.providers.call_slots import CallPiece, CallSlots, Slot
from trimtab.providers.chat_chunks import (
    BROKEN,
    Choice,
    Chunk,
    Delta,
    Function,
    RawUsage,
    decode_chunk,
    normal_usage,
    parse,
    pick_chunk,
    reports_failure,
)
from trimtab.providers.classify import classify
from trimtab.providers.lenient import cut_stream
from trimtab.providers.think_tags import ThinkTags
from trimtab.providers.wire import WireFailure
from trimtab.types.errors import ErrorInfo
from trimtab.types.messages import StopReason, Text, Thinking
from trimtab.types.stream import DeltaKind, Ended, PartDelta, PartEnded, PartStarted, StreamEvent, make_call
from trimtab.types.text import scrub

_STOPS: dict[str, StopReason] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_calls": "tool_use",
    "tool_use": "tool_use",
    "function_call": "tool_use",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "refused",
    "sensitive": "refused",
    "refusal": "refused",
}
_FAILED = frozenset({"error", "network_error", "abort", "insufficient_system_resource"})
_WINDOW_EXCEEDED = "model_context_window_exceeded"
_LEGACY = -1
"""Stands for the index of the one call of the old `function_call` field."""
_REFUSED = ErrorInfo("refused", "the provider stopped the answer for its content", "Rephrase, or use another model.")
_WINDOW_FULL = ErrorInfo("overflow", "the model's window is full: the prompt leaves no room for an answer")
_NO_ROOM = ErrorInfo(
    "overflow",
    "the answer ended at its length limit with no output at all: the prompt fills the window",
    "Some servers cut the prompt silently and end like this; check the server's context size.",
)


class ChatDecoder:
    """Decodes one answer; see `wire.Decoder`. `think_tags` takes inline `<think>` out of the text."""

    def __init__(self, *, think_tags: bool = True) -> None:
        self._tags = ThinkTags() if think_tags else None
        self._parts = 0
        self._kind: DeltaKind | None = None  # of the open text or thinking part
        self._part = 0  # its number
        self._chunks: list[str] = []
        self._calls = CallSlots()
        self._usage: RawUsage | None = None
        self._finish: str | None = None
        self._refusal = False
        self._whole = False  # [DONE] came, or the body was one document
        self._ended = False
        self._held = ""  # first half of a surrogate pair that was cut between deltas

    def feed(self, event: str, data: bytes) -> Sequence[StreamEvent]:
        """Take one event."""
        chunk = decode_chunk(data)
        if chunk is None:
            if data.strip() == b"[DONE]":
                self._whole = True
                return self.finish()
            chunk = self._lenient(event, data)
            if chunk is None:
                return ()
        if chunk.error or event == "error" or chunk.choices is None:
            self._check(event, chunk, data)
        if chunk.usage is not None:
            self._count(chunk.usage)
        if not chunk.choices:
            return ()
        return list(self._take(chunk.choices[0], chunk.error))

    def finish(self) -> Sequence[StreamEvent]:
        """Close what is open and end. Raises `WireFailure` for a cut answer; a second call gives nothing."""
        if self._ended:
            return ()
        self._check_complete()
        self._ended = True
        return list(self._close_all())

    def _close_all(self) -> Iterator[StreamEvent]:
        yield from self._flush_tags()
        if self._held:
            self._held = ""
            yield from self._say(self._kind or "text", "\ufffd")
        yield from self._close_text()
        for slot in self._calls.slots:
            yield from self._start(slot)
            yield PartEnded(slot.part, make_call(slot.call_id, slot.name, slot.raw, wire=slot.wire))
        yield self._end()

    # -- deltas

    def _take(self, choice: Choice, error: Any) -> Iterator[StreamEvent]:
        if choice.error and not error:
            raise WireFailure(classify(None, json.dumps({"error": choice.error})))
        delta = choice.delta or choice.message
        if choice.delta is None and choice.message is not None:
            self._whole = True
        if delta is not None:
            if delta.reasoning_content or delta.reasoning:
                yield from self._say("thinking", delta.reasoning_content or delta.reasoning or "")
            if delta.content:
                if self._tags is None or self._tags.passive:
                    yield from self._say("text", delta.content)
                else:
                    for kind, text in self._tags.feed(delta.content):
                        yield from self._say(kind, text)
            if delta.refusal:
                self._refusal = True
                yield from self._say("text", delta.refusal)
            if delta.tool_calls or delta.function_call:
                yield from self._call(delta)
        if choice.finish_reason:
            self._finish = choice.finish_reason
        if choice.usage is not None:
            self._count(choice.usage)

    def _say(self, kind: DeltaKind, text: str) -> Iterator[StreamEvent]:
        if self._held or not text.isascii():
            text = self._join(text)
            if not text:
                return
        if kind != self._kind:
            yield from self._close_text()
            self._kind = kind
            self._part = self._parts
            self._parts += 1
            yield PartStarted(self._part, kind)
        self._chunks.append(text)
        yield PartDelta(self._part, kind, text)

    def _close_text(self) -> Iterator[StreamEvent]:
        if self._kind is None:
            return
        text = "".join(self._chunks)
        yield PartEnded(self._part, Thinking(text) if self._kind == "thinking" else Text(text))
        self._kind = None
        self._chunks = []

    def _join(self, text: str) -> str:
        """Make `text` encodable; the first half of a surrogate pair waits for the second, which may be in the next delta."""
        text = self._held + text
        self._held = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return scrub(text[:-1] if self._held else text)

    def _flush_tags(self) -> Iterator[StreamEvent]:
        for kind, text in self._tags.close() if self._tags is not None else ():
            yield from self._say(kind, text)

    def _call(self, delta: Delta) -> Iterator[StreamEvent]:
        yield from self._flush_tags()
        yield from self._close_text()
        for piece in _pieces(delta):
            piece.arguments = scrub(piece.arguments)
            slot = self._calls.take(piece, self._parts)
            self._parts = max(self._parts, slot.part + 1)
            if slot.name:
                yield from self._start(slot)

    def _start(self, slot: Slot) -> Iterator[StreamEvent]:
        """Announce a call once, when its name is known, and pass on what came since."""
        if not slot.started:
            slot.started = True
            yield PartStarted(slot.part, "tool_arguments", slot.call_id, slot.name)
        for text in slot.chunks[slot.sent :]:
            yield PartDelta(slot.part, "tool_arguments", text)
        slot.sent = len(slot.chunks)

    # -- the end

    def _check_complete(self) -> None:
        if self._finish in _FAILED:
            raise WireFailure(
                ErrorInfo("server", f"the provider broke the answer off ({self._finish!r})", retryable=True)
            )
        nothing = not self._parts and self._usage is None
        known = self._finish in _STOPS or self._finish == _WINDOW_EXCEEDED
        if not known and (not self._whole or (nothing and self._finish is None)):
            raise cut_stream()

    def _end(self) -> Ended:
        usage = None if self._usage is None else normal_usage(self._usage)
        if self._finish == _WINDOW_EXCEEDED:
            return Ended("error", usage, error=_WINDOW_FULL)
        stop = _STOPS.get(self._finish or "stop", "stop")
        if self._refusal or stop == "refused":
            return Ended("refused", usage, error=_REFUSED)
        if stop == "length" and not self._parts and not (usage and usage.output):
            return Ended("error", usage, error=_NO_ROOM)
        if stop != "length":
            stop = "tool_use" if self._calls.slots else "stop"
        return Ended(stop, usage)

    def _count(self, usage: RawUsage) -> None:
        """The last report wins, because reports in every chunk are cumulative; an empty one says nothing."""
        if self._usage is None or usage.prompt_tokens or usage.completion_tokens:
            self._usage = usage

    # -- what isn't an ordinary chunk

    def _check(self, event: str, chunk: Chunk, data: bytes) -> None:
        """Raise when `data` is an error object; a chunk that merely says nothing passes."""
        if event != "error" and not chunk.error:
            if chunk.usage is not None:
                return
            value = parse(data)
            if not isinstance(value, dict) or not reports_failure(value):
                return
        raise WireFailure(classify(None, data))

    def _lenient(self, event: str, data: bytes) -> Chunk | None:
        value = parse(data)
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, dict):
            return pick_chunk(value)
        if event == "error":
            raise WireFailure(classify(None, data))
        if value is BROKEN and data.strip():
            start = scrub(data[:80].decode("utf-8", "replace"))
            raise WireFailure(
                ErrorInfo("malformed", f"the answer holds something that isn't JSON: {start!r}", retryable=True)
            )
        return None


def _pieces(delta: Delta) -> Iterator[CallPiece]:
    calls = delta.tool_calls or []
    for position, call in enumerate(calls):
        function = call.function or Function()
        index = call.index
        if index is None and len(calls) > 1 and not call.id and not function.name:
            index = position
        wire = {"extra_content": call.extra_content} if call.extra_content else None
        yield CallPiece(index, call.id or "", function.name or "", _argument_text(function), wire)
    if delta.function_call is not None:
        yield CallPiece(_LEGACY, "", delta.function_call.name or "", _argument_text(delta.function_call))


def _argument_text(function: Function) -> str:
    arguments = function.arguments
    if isinstance(arguments, dict):
        return json.dumps(arguments, ensure_ascii=False)
    return arguments or ""
