"""What every importer hands its findings to: events in order, call ids made unique, and the count of what was left out.

    call("x") ▸ x      result("x") ▸ answers x          ids as recorded where they are unique
    call("x") ▸ x_2    result("x") ▸ answers x_2        a repeated id is told apart on both sides, oldest open call first
    call("")  ▸ call_7 result("")  ▸ answers call_7     a missing one is made up from its place

So whatever a file holds, pairing gives a conversation that any provider takes.
"""

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from trimtab.sessions.importers.running_totals import NOTE as RUNNING_TOTALS
from trimtab.sessions.importers.running_totals import per_call
from trimtab.sessions.lenient import json_object, json_text, too_deep
from trimtab.sessions.recorded import Answered, Came, Compacted, Event, Recording
from trimtab.sessions.source import Source
from trimtab.types.errors import ErrorInfo
from trimtab.types.messages import (
    Assistant,
    Message,
    Opaque,
    Origin,
    Part,
    StopReason,
    Text,
    ToolCall,
    ToolResult,
    User,
)
from trimtab.types.usage import Usage

CUT = "the archive is cut or damaged: what follows that place is missing"
"""What is said of a recording that could only be unpacked in part."""


LEFT_OUT = "left out: "
"""How a note begins that says what is missing from a recording."""
_LONGEST_KIND = 60
_MOST_KINDS = 20


_SINGULAR = {"entries": "entry", "lines": "line", "messages": "message", "items": "item", "attachments": "attachment", "things": "thing", "counts": "count", "edits": "edit", "branches": "branch"}  # fmt: skip


def left_out(count: int, what: str) -> str:
    """The note about things that were left out, of a kind that is named in the plural."""
    words = what.split(" ")
    at = next((n for n, word in enumerate(words) if word in _SINGULAR), None)
    if count == 1 and at is not None:
        words[at] = _SINGULAR[words[at]]
    return f"{LEFT_OUT}{count:,} {' '.join(words)}"


@dataclass(slots=True)
class Answer:
    """An API message while its pieces come in."""

    parts: list[Part] = field(default_factory=list)
    stop: StopReason | None = None
    usage: Usage | None = None
    model: str = ""
    provider: str = ""
    time: float | None = None
    id: str = ""
    hidden: bool = False
    unreliable: bool = False
    error: str = ""
    superseded: bool = False


@dataclass(slots=True)
class Gathering:
    """The recording while it grows."""

    events: list[Event] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    """What was left out, by kind."""
    _models: Counter[tuple[str, str]] = field(default_factory=Counter)
    _taken: set[str] = field(default_factory=set)
    _open: dict[str, deque[ToolCall]] = field(default_factory=dict)
    _calls: int = 0

    def came(
        self, parts: Iterable[Part], *, time: float | None = None, injected: bool = False, origin: Origin = "prompt"
    ) -> None:
        """Something was said to the model. Nothing said is no message."""
        if said := tuple(parts):
            self.events.append(Came(User(said, origin=origin), time, injected))

    def call(self, recorded: str, name: str, arguments: Any) -> ToolCall:
        """Return the call with an id of its own. Argument text stays as it streamed; an object is written as JSON."""
        self._calls += 1
        raw = arguments if isinstance(arguments, str) else json_text({} if arguments is None else arguments)
        parsed = arguments if isinstance(arguments, dict) and not too_deep(raw) else json_object(raw)
        call = ToolCall(self._own_id(recorded), name or "unknown", parsed, raw)
        self._open.setdefault(recorded, deque()).append(call)
        return call

    def answered(self, answer: Answer) -> None:
        """The model answered."""
        self._models[answer.model, answer.provider] += answer.usage is not None
        stop = answer.stop or ("tool_use" if any(isinstance(p, ToolCall) for p in answer.parts) else "stop")
        message = Assistant(
            tuple(answer.parts),
            stop,
            usage=answer.usage,
            model=answer.model,
            provider=answer.provider,
            error=ErrorInfo("server", answer.error) if answer.error else None,
            superseded=answer.superseded,
        )
        self.events.append(
            Answered(
                message,
                answer.time,
                id=answer.id,
                hidden_thinking=answer.hidden,
                output_unreliable=answer.unreliable,
            )
        )

    def result(
        self, recorded: str, parts: Iterable[Part], *, name: str = "", is_error: bool = False, time: float | None = None
    ) -> None:
        """A call was answered. One that nobody made keeps its id: pairing knows what to do with it."""
        call = self._asked(recorded)
        call_id, tool = (call.id, call.name) if call is not None else (recorded or "unknown", name or "unknown")
        shown = tuple(parts) or (Text(""),)
        self.events.append(Came(ToolResult(call_id, tool, shown, is_error=is_error), time))

    def compacted(
        self,
        summary: str,
        *,
        replacement: tuple[Message, ...] | None = None,
        time: float | None = None,
        before_tokens: int | None = None,
        trigger: str = "",
    ) -> None:
        """The client replaced its context."""
        self.events.append(Compacted(summary, replacement, time, before_tokens or None, trigger))

    def leave_out(self, what: str) -> None:
        """Count something that is no part of the conversation, or can't be read as one. The file may have named the kind: long names are cut, and there is room for a few."""
        kind = what if len(what) <= _LONGEST_KIND else what[:_LONGEST_KIND] + "…"
        room = kind in self.left_out or len(self.left_out) < _MOST_KINDS
        self.left_out[kind if room else "things of other kinds"] += 1

    @property
    def open_calls(self) -> int:
        """How many calls have no result yet."""
        return sum(map(len, self._open.values()))

    def recording(
        self,
        source: Source,
        format: str,
        *,
        window: int | None = None,
        system: str = "",
        id: str = "",
        cwd: str = "",
        model: str = "",
        notes: Iterable[str] = (),
    ) -> Recording:
        """Return what was gathered. `model` is for files that name one for the whole session."""
        (named, provider), _ = self._models.most_common(1)[0] if self._models else (("", ""), 0)
        said = [*notes, *(left_out(n, what) for what, n in sorted(self.left_out.items()))]
        if source.cut:
            said.append(CUT)
        events = per_call(self.events)
        if events != self.events:
            said.append(RUNNING_TOTALS)
        return Recording(
            file=source.name,
            format=format,
            model=named or model,
            events=tuple(events),
            provider=provider,
            window=window,
            system=system,
            id=id,
            cwd=cwd,
            bad_lines=source.bad_lines,
            cut=source.cut,
            notes=tuple(said),
        )

    def _own_id(self, recorded: str) -> str:
        base = recorded or f"call_{self._calls}"
        own, number = base, 1
        while own in self._taken:
            number += 1
            own = f"{base}_{number}"
        self._taken.add(own)
        return own

    def _asked(self, recorded: str) -> ToolCall | None:
        """The oldest open call of that recorded id; for a result without an id, the oldest open call of all."""
        if not recorded and not self._open.get(recorded):
            recorded = next((key for key, calls in self._open.items() if calls), "")
        waiting = self._open.get(recorded)
        if not waiting:
            return None
        call = waiting.popleft()
        if not waiting:
            del self._open[recorded]
        return call


def opaque(provider: str, data: dict[str, Any]) -> Part:
    """Return a provider's own item; one of absurd depth is kept as text."""
    text = json_text(data)
    return Opaque(provider, data) if text and not too_deep(text) else Text(text)
