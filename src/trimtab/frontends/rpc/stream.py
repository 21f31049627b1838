"""Our events in pi's names, a record or several for each.

    turn_started ─▶ agent_start, turn_start          step_ended ─▶ turn_end       turn_ended ─▶ agent_end
    message_started, message_delta, message_ended ─▶ message_start, message_update, message_end
    tool_started, tool_update, tool_ended ─▶ tool_execution_start, …_update, …_end, and the result as a message
    retry ─▶ auto_retry_start, auto_retry_end        context_edited (a summary) ─▶ compaction_start, compaction_end
    notice ─▶ extension_ui_request (notify)          what pi has no name for, or all ─▶ trimtab.event

Pi's turn is our step, and its agent run our turn. A fold: state in, records out, no I/O. The one rule: an update carries its delta and the id of its message, never
what came before; the ending carries the whole.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from trimtab.agent.events import (
    ContextEdited,
    Error,
    Event,
    JobEnded,
    JobStarted,
    MessageDelta,
    MessageEnded,
    MessageStarted,
    Notice,
    Retry,
    StepEnded,
    StepStarted,
    ToolEnded,
    ToolStarted,
    ToolUpdate,
    TurnEnded,
    TurnStarted,
)
from trimtab.frontends.rpc.outbox import record_line
from trimtab.frontends.rpc.parts import Parts
from trimtab.frontends.rpc.values import Json, begun, contents, failed, message_of
from trimtab.frontends.rpc.verbs import Events
from trimtab.types.ids import new_id
from trimtab.types.messages import Assistant, ToolCall, ToolResult
from trimtab.types.models import ModelInfo

_MOST_KEPT = 1 << 20
"""Bytes of a run's messages that `agent_end` repeats, the newest ones."""
_TAIL = 4_096
"""Characters of a tool's output that an update repeats."""
_HAVE_NAMES = (
    TurnStarted,
    StepStarted,
    StepEnded,
    MessageStarted,
    MessageDelta,
    MessageEnded,
    ToolStarted,
    ToolUpdate,
    ToolEnded,
    JobStarted,
    JobEnded,
    Notice,
)
"""What pi's names, and `trimtab.job`, say all of."""


def notify(text: str, kind: str = "info") -> Json:
    """A word to the person."""
    return {"type": "extension_ui_request", "id": new_id(), "method": "notify", "message": text, "notifyType": kind}


@dataclass(slots=True)
class _Tool:
    """A call that runs."""

    name: str
    arguments: Json
    tail: str = ""


@dataclass(slots=True)
class Stream:
    """The fold over one session's events. `model` says which model answers, `compaction` what a summary came to."""

    model: Callable[[], ModelInfo]
    compaction: Callable[[str], Json | None] = lambda _entry_id: None
    retries: Callable[[], int] = lambda: 0
    events: Events = "own"
    """Which of our own come too."""
    running: bool = False
    """Whether a run was begun and not ended."""
    ended: int = 0
    """How many runs have ended."""
    retrying: int = 0
    """The attempt that failed last, while another one is waited for or heard."""
    _step: bool = False
    _answer: Json | None = None
    _results: list[Json] = field(default_factory=list)
    _said: list[tuple[int, Json]] = field(default_factory=list)
    _kept: int = 0
    _left_out: int = 0
    _error: str = ""
    _told: str = ""
    """The error of the last answer, which has told it."""
    _parts: Parts = field(default_factory=Parts)
    _tools: dict[str, _Tool] = field(default_factory=dict)
    _calls: dict[str, ToolCall] = field(default_factory=dict)

    def records(self, event: Event) -> Iterator[Json]:
        """The records of one event, in order."""
        if self.events == "all" or (self.events == "own" and not isinstance(event, _HAVE_NAMES)):
            yield {"type": "trimtab.event", "event": msgspec.to_builtins(event)}
        match event:
            case TurnStarted() | StepStarted() | StepEnded() | TurnEnded():
                yield from self._run(event)
            case MessageStarted() | MessageDelta() | MessageEnded():
                yield from self._message(event)
            case ToolStarted() | ToolUpdate() | ToolEnded():
                yield from self._tool(event)
            case Retry():
                yield self._retry(event)
            case ContextEdited(kind="compact"):
                yield from self._compacted(event)
            case Notice():
                yield notify(event.message)
            case Error():
                self._error = event.message
                if event.message != self._told and not (self._step and self._answer is None):
                    yield notify(event.message, "error")
            case _:
                pass

    def _run(self, event: TurnStarted | StepStarted | StepEnded | TurnEnded) -> Iterator[Json]:
        match event:
            case TurnStarted():
                yield from self._begin()
            case StepStarted():
                yield from self._open()
            case StepEnded():
                if self._answer is not None:  # without one, the end of the run says why
                    yield from self._close(event.time)
            case TurnEnded():
                yield from self._end(event)

    def _retry(self, event: Retry) -> Json:
        self.retrying = event.attempt
        return {
            "type": "auto_retry_start",
            "attempt": event.attempt,
            "maxAttempts": max(self.retries(), event.attempt),
            "delayMs": round(event.wait_s * 1000),
            "errorMessage": event.message,
        }

    def _begin(self) -> Iterator[Json]:
        self.running, self._said, self._kept, self._left_out, self._error = True, [], 0, 0, ""
        yield {"type": "agent_start"}
        yield from self._open()

    def _open(self) -> Iterator[Json]:
        if not self._step:
            self._step, self._answer, self._results = True, None, []
            yield {"type": "turn_start"}

    def _message(self, event: MessageStarted | MessageDelta | MessageEnded) -> Iterator[Json]:
        match event:
            case MessageStarted():
                yield from self._retried(success=True)
                self._parts = Parts()
                yield {
                    "type": "message_start",
                    "message": begun(model=self.model(), time=event.time),
                    "messageId": event.message_id,
                }
            case MessageDelta():
                yield from (self._update(event.message_id, each) for each in self._parts.take(event))
            case MessageEnded():
                yield from self._ended(event)

    def _ended(self, event: MessageEnded) -> Iterator[Json]:
        told = message_of(event.message, time=event.time, model=self.model())
        ids = {"entryId": event.entry_id}
        if isinstance(event.message, Assistant):
            yield from (self._update(event.message_id, each) for each in self._parts.finish(event.message))
            self._parts = Parts()
            self._calls = {call.id: call for call in event.message.tool_calls}
            ids = {"messageId": event.message_id, **ids}
            self._answer = told
            self._told = str(told.get("errorMessage", ""))
        else:
            yield from self._open() if self.running else ()
            yield {"type": "message_start", "message": told, **ids}
        yield {"type": "message_end", "message": told, **ids}
        self._keep(told)

    def _update(self, message_id: str, change: Json) -> Json:
        return {
            "type": "message_update",
            "messageId": message_id,
            "usage": begun(model=self.model(), time="")["usage"],
            "assistantMessageEvent": change,
        }

    def _tool(self, event: ToolStarted | ToolUpdate | ToolEnded) -> Iterator[Json]:
        match event:
            case ToolStarted():
                yield self._started(event.call_id, event.name, event.arguments or {})
            case ToolUpdate():
                tool = self._tools.get(event.call_id) or _Tool("", {})
                tool.tail = (tool.tail + event.text)[-_TAIL:]
                yield {
                    "type": "tool_execution_update",
                    "toolCallId": event.call_id,
                    "toolName": tool.name,
                    "args": _short(tool.arguments),
                    "partialResult": {"content": [{"type": "text", "text": tool.tail}], "details": {}},
                    "delta": event.text,
                }
            case ToolEnded():
                yield from self._tool_ended(event)

    def _started(self, call_id: str, name: str, arguments: Json) -> Json:
        self._tools[call_id] = _Tool(name, arguments)
        return {"type": "tool_execution_start", "toolCallId": call_id, "toolName": name, "args": arguments}

    def _tool_ended(self, event: ToolEnded) -> Iterator[Json]:
        if event.call_id not in self._tools:  # it didn't run: refused, unknown, or answered by a person
            call = self._calls.get(event.call_id)
            yield self._started(event.call_id, event.name, (call and call.arguments) or {})
        del self._tools[event.call_id]
        result = ToolResult(event.call_id, event.name, event.parts, event.is_error, details=event.details)
        took = (event.details or {}).get("duration_ms")
        yield {
            "type": "tool_execution_end",
            "toolCallId": event.call_id,
            "toolName": event.name,
            "result": {"content": contents(event.parts), "details": event.details or {}},
            "isError": event.is_error,
            **({"durationMs": took} if isinstance(took, int) else {}),
        }
        told = message_of(result, time=event.time)
        ids = {"entryId": event.entry_id}
        yield {"type": "message_start", "message": told, **ids}
        yield {"type": "message_end", "message": told, **ids}
        self._results.append(told)
        self._keep(told)

    def _close(self, time: str, *, aborted: bool = False) -> Iterator[Json]:
        if self._step:
            self._step = False
            answer = self._answer or failed(self._error, model=self.model(), time=time, aborted=aborted)
            if self._answer is None:
                yield {"type": "message_start", "message": answer}
                yield {"type": "message_end", "message": answer}
                self._keep(answer)
            yield {"type": "turn_end", "message": answer, "toolResults": self._results}
            self._answer, self._results = None, []

    def _end(self, event: TurnEnded) -> Iterator[Json]:
        yield from self._retried(success=False)
        self._error = self._error or event.reason
        yield from self._close(event.time, aborted=event.reason == "cancelled")
        if not self.running:
            return
        self.running = False
        self.ended += 1
        said = [message for _, message in self._said]
        more = {"messagesLeftOut": self._left_out} if self._left_out else {}
        yield {"type": "agent_end", "messages": said, "willRetry": False, "reason": event.reason, **more}
        self._said, self._tools, self._calls = [], {}, {}

    def _retried(self, *, success: bool) -> Iterator[Json]:
        if self.retrying:
            attempt, self.retrying = self.retrying, 0
            final = {} if success else {"finalError": self._error}
            yield {"type": "auto_retry_end", "success": success, "attempt": attempt, **final}

    def _compacted(self, event: ContextEdited) -> Iterator[Json]:
        reason = "manual" if event.author == "user" else "overflow" if event.author == "recovery" else "threshold"
        if reason != "manual":  # who asked for it was told when it began
            yield {"type": "compaction_start", "reason": reason}
        result = self.compaction(event.entry_id)
        yield {"type": "compaction_end", "reason": reason, "result": result, "aborted": False, "willRetry": False}

    def _keep(self, message: Json) -> None:
        """Keep a message for the end of the run, as long as there is room; the oldest go first."""
        size = len(record_line(message))
        self._said.append((size, message))
        self._kept += size
        while self._kept > _MOST_KEPT and len(self._said) > 1:
            self._kept -= self._said.pop(0)[0]
            self._left_out += 1


def _short(arguments: dict[str, Any]) -> Json:
    """Arguments as an update repeats them: long texts are left out."""
    return {key: value for key, value in arguments.items() if not isinstance(value, str) or len(value) <= _TAIL}
