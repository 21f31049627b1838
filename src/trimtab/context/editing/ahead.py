"""Ahead: a summary that is written before it is needed, so that nobody waits for it.

    run as it is now ──job──▶ asked in the background ──▶ outcome ──▶ the compaction that comes takes this run and this text

A compaction that comes later would take somewhat more, for the conversation has grown, or somewhat less. It takes the prepared run instead when that
is most of what it would take and leaves at least half of what it would keep. Anything else in the run than what the summary was made of, and it
isn't used.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.asks import Consented
from trimtab.context.cycle.look import Look
from trimtab.context.editing.applying import shown_size
from trimtab.context.summary.job import Job, SummaryOutcome
from trimtab.context.window.view import View
from trimtab.types.messages import Message

ENOUGH = 0.6
"""Of what a compaction would take: the share that a prepared run must have."""


@dataclass(slots=True)
class Ahead:
    """A run whose summary is being written; with an `outcome`, it is done. `shown`: by the ids of the run's slots, what they showed."""

    shown: dict[str, tuple[Message, ...]]
    job: Job
    outcome: SummaryOutcome | None = None
    said: Consented | None = None
    """What others said of it, where they were asked."""

    def begins(self, view: View, run: Sequence[int]) -> list[int] | None:
        """The indices of the prepared run, if it is the beginning of `run`, and unchanged."""
        first = list(run[: len(self.shown)])
        return first if shown_by(view, first) == self.shown else None


def is_enough(look: Look, prepared: Sequence[int], wanted: Sequence[int], *, lead: int = 0) -> bool:
    """Whether a prepared run is most of the wanted one, also when that has grown by `lead` tokens."""
    size = look.tally.message
    return shown_size(look.view, prepared, size) >= ENOUGH * (shown_size(look.view, wanted, size) + lead)


def shown_by(view: View, run: Sequence[int]) -> dict[str, tuple[Message, ...]]:
    """What the slots of a run show, by their ids."""
    return {view.slots[index].id: tuple(view.slots[index].shown) for index in run}
