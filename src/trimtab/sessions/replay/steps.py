"""Steps: a recording as a row of API messages, each with what came in before it.

The chain is the uncompacted one: what a client's own compactions took out is there, and their summaries are not. A result that answers no open
call is left out: no valid request can show it, so nothing is needed of it and no policy pays for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from trimtab.sessions.recorded import Answered, Came, Compacted, Event
from trimtab.types.messages import ToolResult


@dataclass(frozen=True, slots=True)
class Step:
    """One API message. `number` counts from 1; `first` is the number, from 0, of the first message of `came` in the whole chain.

    `asked_at`: when the request went out, in seconds, as far as the file says. `summary`: what the client's own compaction wrote in front of this step.
    """

    number: int
    first: int
    came: tuple[Came, ...]
    answer: Answered
    asked_at: float | None = None
    summary: str = ""


@dataclass(slots=True)
class _Open:
    first: int = 0
    came: list[Came] = field(default_factory=list)
    asked_at: float | None = None
    summary: str = ""


def steps_of(events: Sequence[Event]) -> tuple[Step, ...]:
    """Return the steps of a recording. What came in after the last answer belongs to none."""
    steps: list[Step] = []
    now = _Open()
    clock: float | None = None
    asked: set[str] = set()
    for event in events:
        match event:
            case Came():
                clock = _later(clock, event.time)
                if isinstance(event.message, ToolResult):
                    if event.message.call_id not in asked:
                        continue
                    asked.remove(event.message.call_id)
                now.came.append(event)
            case Compacted():
                now.summary = event.summary
            case Answered():
                # A client writes an answer down when it ends, so the request is as old as the newest thing in it.
                clock = _later(clock, event.time if not now.came else None)
                steps.append(Step(len(steps) + 1, now.first, tuple(now.came), event, clock, now.summary))
                asked.update(call.id for call in event.message.tool_calls)
                now = _Open(first=now.first + len(now.came) + 1)
                clock = _later(clock, event.time)
            case _:
                assert_never(event)
    return tuple(steps)


def _later(clock: float | None, time: float | None) -> float | None:
    """Clocks of different writers may step back a little; a replay's doesn't."""
    if time is None:
        return clock
    return time if clock is None else max(clock, time)
