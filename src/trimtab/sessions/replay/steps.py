"""Steps: a recording as a row of API messages, each with what came in before it.

The chain is the uncompacted one: what a client's own compactions took out is there, and their summaries are not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from trimtab.sessions.recorded import Answered, Came, Compacted, Event


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
    for event in events:
        match event:
            case Came():
                now.came.append(event)
                clock = _later(clock, event.time)
            case Compacted():
                now.summary = event.summary
            case Answered():
                # A client writes an answer down when it ends, so the request is as old as the newest thing in it.
                clock = _later(clock, event.time if not now.came else None)
                steps.append(Step(len(steps) + 1, now.first, tuple(now.came), event, clock, now.summary))
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
