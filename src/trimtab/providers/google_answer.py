"""Google's streamed answers: chunks → parts → `Ended` when the body ends, because usage may follow the finish reason.

Neighbouring text (or thought) without a signature becomes one part. A part with a signature stays alone and keeps it in `wire`, as the API
wants it back; so does a call with its id. Parts of other kinds are kept verbatim (`Opaque`). The other half of the wire: `google.py`.
Source: ai.google.dev, "GenerateContentResponse", "Thought signatures".
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec

from trimtab.providers.classify import classify
from trimtab.providers.lenient import count, cut_stream, decode, odd_shape
from trimtab.providers.wire import WireFailure
from trimtab.types.errors import ErrorClass, ErrorInfo
from trimtab.types.ids import new_call_id
from trimtab.types.messages import Opaque, Text, Thinking
from trimtab.types.stream import Ended, PartDelta, PartEnded, PartStarted, StreamEvent, make_call
from trimtab.types.usage import Usage


class _Call(msgspec.Struct, frozen=True):
    name: str | None = None
    id: str | None = None
    args: msgspec.Raw = msgspec.Raw(b"")


class _PartIn(msgspec.Struct, frozen=True, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: _Call | None = None


class _ContentIn(msgspec.Struct, frozen=True):
    parts: list[msgspec.Raw] | None = None


class _Candidate(msgspec.Struct, frozen=True, rename="camel"):
    index: int | None = None
    content: _ContentIn | None = None
    finish_reason: str | None = None
    finish_message: str | None = None


class _Feedback(msgspec.Struct, frozen=True, rename="camel"):
    block_reason: str | None = None
    block_reason_message: str | None = None


class _Chunk(msgspec.Struct, frozen=True, rename="camel"):
    candidates: list[_Candidate] | None = None
    prompt_feedback: _Feedback | None = None
    usage_metadata: dict[str, Any] | None = None
    error: Any = None


_chunks = msgspec.json.Decoder(_Chunk | list[_Chunk] | None)
_part = msgspec.json.Decoder(_PartIn)
_anything: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])
_KNOWN = frozenset({"text", "thought", "thoughtSignature", "functionCall"})

_REFUSED = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "LANGUAGE",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "MODEL_ARMOR",
    }
)
_FAILED: Mapping[str, ErrorClass] = {
    "MALFORMED_FUNCTION_CALL": "malformed",
    "MALFORMED_RESPONSE": "malformed",
    "UNEXPECTED_TOOL_CALL": "malformed",
    "TOO_MANY_TOOL_CALLS": "malformed",
    "MISSING_THOUGHT_SIGNATURE": "reasoning",
    "OTHER": "server",
}
_RETRYABLE = frozenset({"malformed", "server"})
_COUNTS = (
    "promptTokenCount",
    "toolUsePromptTokenCount",
    "cachedContentTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
)


class _Run:
    """Text or thought that may still grow."""

    __slots__ = ("chunks", "kind", "part")

    def __init__(self, part: int, kind: Literal["text", "thinking"]) -> None:
        self.part = part
        self.kind = kind
        self.chunks: list[str] = []


class GoogleDecoder:
    """Chunks of one answer to stream events."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._run: _Run | None = None
        self._parts = 0
        self._call_ids: set[str] = set()
        self._known: dict[str, int] = {}
        self._finish: str | None = None
        self._finish_message = ""
        self._blocked: _Feedback | None = None

    def feed(self, event: str, data: bytes) -> Iterable[StreamEvent]:
        """Take one event: a chunk, or the list of chunks that the API sends without `alt=sse`."""
        if not data.strip() or data.strip() == b"[DONE]":
            return
        try:
            said = decode(data, _chunks)
        except msgspec.ValidationError as exc:
            raise odd_shape(data, exc) from None
        for chunk in said if isinstance(said, list) else [said or _Chunk()]:
            if chunk.error is not None or event == "error":
                raise WireFailure(classify(None, data))
            yield from self._chunk(chunk)

    def finish(self) -> Iterable[StreamEvent]:
        """The body is over. Raises `WireFailure`: network without a finish reason, another class when the reason is a failure."""
        yield from self._close_run()
        if self._finish is None and self._blocked is None:
            raise cut_stream()
        yield self._ended()

    def _chunk(self, chunk: _Chunk) -> Iterator[StreamEvent]:
        for name in _COUNTS:
            number = (chunk.usage_metadata or {}).get(name)
            if number is not None:
                self._known[name] = count(number) or self._known.get(name, 0)
        if chunk.prompt_feedback is not None and chunk.prompt_feedback.block_reason:
            self._blocked = chunk.prompt_feedback
        for candidate in chunk.candidates or ():
            if candidate.index:
                continue  # one answer was asked for
            for raw in (candidate.content and candidate.content.parts) or ():
                yield from self._part(bytes(raw))
            if candidate.finish_reason and candidate.finish_reason != "FINISH_REASON_UNSPECIFIED":
                self._finish = candidate.finish_reason
                self._finish_message = candidate.finish_message or ""

    def _part(self, raw: bytes) -> Iterator[StreamEvent]:
        try:
            part = decode(raw, _part)
        except msgspec.ValidationError as exc:
            raise odd_shape(raw, exc) from None
        if part.function_call is not None:
            yield from self._close_run()
            yield from self._call(part.function_call, part.thought_signature)
        elif part.text is None and (data := _other_kind(raw)) is not None:
            yield from self._close_run()
            yield PartEnded(self._next(), Opaque(self._provider, data))
        else:
            yield from self._text("thinking" if part.thought else "text", part.text or "", part.thought_signature)

    def _text(self, kind: Literal["text", "thinking"], text: str, signature: str | None) -> Iterator[StreamEvent]:
        if not text and signature is None:
            return
        if self._run is None or self._run.kind != kind or signature is not None:
            yield from self._close_run()
            self._run = _Run(self._next(), kind)
            yield PartStarted(self._run.part, kind)
        if text:
            self._run.chunks.append(text)
            yield PartDelta(self._run.part, kind, text)
        if signature is not None:
            yield from self._close_run({"thoughtSignature": signature})

    def _close_run(self, wire: dict[str, Any] | None = None) -> Iterator[StreamEvent]:
        run, self._run = self._run, None
        if run is not None:
            text = "".join(run.chunks)
            yield PartEnded(run.part, Text(text, wire) if run.kind == "text" else Thinking(text, wire=wire))

    def _call(self, call: _Call, signature: str | None) -> Iterator[StreamEvent]:
        """A call arrives whole. One without an id, or with the id of an earlier call, gets a fresh one that the API never sees."""
        number, given = self._next(), call.id or ""
        known = given and given not in self._call_ids
        call_id = given if known else new_call_id()
        self._call_ids.add(call_id)
        wire = {"id": given} if known else {}
        if signature is not None:
            wire["thoughtSignature"] = signature
        raw, name = _arguments(bytes(call.args)), call.name or ""
        yield PartStarted(number, "tool_arguments", call_id, name)
        if raw:
            yield PartDelta(number, "tool_arguments", raw)
        yield PartEnded(number, make_call(call_id, name, raw, wire=wire or None))

    def _next(self) -> int:
        self._parts += 1
        return self._parts - 1

    def _ended(self) -> Ended:
        usage = self._usage()
        if self._blocked is not None and self._finish is None:
            why = self._blocked.block_reason_message or self._blocked.block_reason
            return Ended("refused", usage, error=ErrorInfo("refused", f"the prompt was blocked: {why}"))
        reason = self._finish or ""
        said = self._finish_message or f"the model stopped with {reason}"
        if reason in _FAILED:
            kind = _FAILED[reason]
            raise WireFailure(ErrorInfo(kind, said, retryable=kind in _RETRYABLE))
        if reason in _REFUSED:
            return Ended("refused", usage, error=ErrorInfo("refused", said))
        if reason == "MAX_TOKENS":
            return Ended("length", usage)
        return Ended("tool_use" if self._call_ids else "stop", usage)

    def _usage(self) -> Usage | None:
        """In our convention: Google counts cached tokens inside the prompt, and thoughts beside the answer."""
        if not self._known:
            return None
        get = self._known.get
        cached, thoughts = get("cachedContentTokenCount", 0), get("thoughtsTokenCount", 0)
        prompt = get("promptTokenCount", 0) + get("toolUsePromptTokenCount", 0)
        return Usage(
            input=max(prompt - cached, 0),
            output=get("candidatesTokenCount", 0) + thoughts,
            cache_read=cached,
            reasoning=thoughts,
        )


def _other_kind(raw: bytes) -> dict[str, Any] | None:
    """The whole part when it holds something that isn't text, thought or a call, else None."""
    data = decode(raw, _anything)
    return data if any(value is not None for key, value in data.items() if key not in _KNOWN) else None


def _arguments(raw: bytes) -> str:
    """Argument text from the JSON that was sent: compact, its keys and numbers as they were; a string of JSON is taken out of its quotes."""
    if raw.startswith(b'"'):
        return msgspec.json.decode(raw, type=str)
    return "" if raw in (b"", b"null") else msgspec.json.format(raw, indent=-1).decode()
