"""What a provider streams, and the one fold that turns it into a message.

The contract of every provider: a stream never raises; failure is its last event, `Ended` with an `error`.
Parts are numbered in the order they began, which is the order of the message. No event carries a copy of
the partial message, so a delta costs O(1); `Assembler` builds the message, and is right at every prefix.
"""

import json
from typing import Any, Literal, TypeAlias

import msgspec

from trimtab.types.errors import ErrorClass, ErrorInfo
from trimtab.types.ids import new_call_id
from trimtab.types.messages import Assistant, Part, StopReason, Text, Thinking, ToolCall
from trimtab.types.text import scrub, scrub_deep
from trimtab.types.usage import Usage

DeltaKind = Literal["text", "thinking", "tool_arguments"]


class PartStarted(msgspec.Struct, frozen=True, gc=False):
    """Part number `part` begins. For a tool call, `call_id` and `name` are known."""

    part: int
    kind: DeltaKind
    call_id: str = ""
    name: str = ""


class PartDelta(msgspec.Struct, frozen=True, gc=False):
    """More text of part `part`."""

    part: int
    kind: DeltaKind
    text: str


class PartEnded(msgspec.Struct, frozen=True):
    """Part number `part` is complete: `value` is final and replaces what the deltas gave.

    A part may end without having started (an opaque item, redacted thinking).
    """

    part: int
    value: Part


class Retrying(msgspec.Struct, frozen=True):
    """The request failed and will be sent again after `wait_s` seconds; everything streamed so far is void."""

    attempt: int
    wait_s: float
    kind: ErrorClass
    message: str = ""
    hint: str = ""


class Ended(msgspec.Struct, frozen=True):
    """The last event of every stream. `usage` is None when the provider reported none."""

    stop_reason: StopReason
    usage: Usage | None = None
    model: str = ""
    error: ErrorInfo | None = None


StreamEvent: TypeAlias = PartStarted | PartDelta | PartEnded | Retrying | Ended


def parse_arguments(raw: str) -> dict[str, Any] | None:
    """Return tool arguments parsed from `raw`: an object, `{}` for blank text, or None when it is neither.

    Escapes can spell lone surrogates that the raw text doesn't hold, so the strings are scrubbed here.
    """
    if not raw.strip():
        return {}
    try:
        value = json.loads(raw)
        if "\\ud" in raw.lower():
            value = scrub_deep(value)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def make_call(call_id: str, name: str, raw: str, *, wire: dict[str, Any] | None = None) -> ToolCall:
    """Return a tool call from its raw argument text; an empty id is replaced by a fresh one."""
    raw = scrub(raw)
    return ToolCall(id=call_id or new_call_id(), name=name, arguments=parse_arguments(raw), raw=raw, wire=wire)


class _Open:
    """A part that has begun and not ended."""

    __slots__ = ("call_id", "chunks", "kind", "name")

    def __init__(self, started: PartStarted) -> None:
        self.kind = started.kind
        self.call_id = started.call_id
        self.name = started.name
        self.chunks: list[str] = []

    def close(self) -> Part:
        text = "".join(self.chunks)
        if self.kind == "tool_arguments":
            return make_call(self.call_id, self.name, text)
        return Thinking(scrub(text)) if self.kind == "thinking" else Text(scrub(text))


class Assembler:
    """Folds stream events into an `Assistant` message; usable after any event.

    `feed` every event, then `message()`. Before `Ended` the message is what arrived so far.
    """

    def __init__(self, *, provider: str, model: str) -> None:
        self.provider = provider
        self.model = model
        self._parts: dict[int, _Open | Part] = {}
        self._ended: Ended | None = None

    @property
    def empty(self) -> bool:
        """True while nothing has arrived."""
        return not self._parts

    def feed(self, event: StreamEvent) -> None:
        """Take one event. O(1)."""
        if type(event) is PartDelta:
            part = self._parts.get(event.part)
            if part is None:
                part = self._parts[event.part] = _Open(PartStarted(event.part, event.kind))
            if isinstance(part, _Open):
                part.chunks.append(event.text)
        elif type(event) is PartStarted:
            self._parts[event.part] = _Open(event)
        elif type(event) is PartEnded:
            self._parts[event.part] = event.value
        elif type(event) is Retrying:
            self._parts.clear()
        elif type(event) is Ended:
            self._ended = event

    def message(
        self, *, stop_reason: StopReason | None = None, error: ErrorInfo | None = None, superseded: bool = False
    ) -> Assistant:
        """The message so far; `stop_reason` and `error` override what the stream said (a cancel, a cut)."""
        ended = self._ended or Ended(stop_reason="error")
        parts = (p.close() if isinstance(p, _Open) else p for _, p in sorted(self._parts.items()))
        return Assistant(
            parts=tuple(p for p in parts if not (isinstance(p, Text | Thinking) and _blank(p))),
            stop_reason=stop_reason or ended.stop_reason,
            usage=ended.usage,
            model=ended.model or self.model,
            provider=self.provider,
            error=error or ended.error,
            superseded=superseded,
        )


def _blank(part: Text | Thinking) -> bool:
    return not part.text and part.wire is None and (isinstance(part, Text) or part.signature is None)
