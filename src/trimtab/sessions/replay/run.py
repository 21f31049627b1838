"""The run: one recording under one policy, from end to end, where no policy elsewhere answers.

recording ──prepare──▶ Prepared ──play each step──▶ Run: its steps, and every edit on the way
"""

from dataclasses import dataclass

from trimtab.context.asks import Ask, Failed, run_plan
from trimtab.sessions.recorded import Recording
from trimtab.sessions.replay.player import Item, Plan, Player, Prepared, StepRun, prepare
from trimtab.types.entries import EditEntry
from trimtab.types.models import Price

__all__ = ["Item", "Plan", "Prepared", "Run", "StepRun", "prepare", "replay"]


@dataclass(frozen=True, slots=True)
class Run:
    """A replayed recording: its steps, and every edit on the way. `prices` are those that the edits were weighed at."""

    recording: Recording
    steps: tuple[StepRun, ...]
    edits: tuple[EditEntry, ...]
    prices: tuple[Price, ...] = ()
    summary_calls: int = 0
    unasked: int = 0
    """Times that a policy elsewhere would have been asked."""
    hidden: int = 0
    """The hidden prefix of each request, in tokens."""


def replay(prepared: Prepared, plan: Plan) -> Run:
    """Run a recording under a policy."""
    player = Player(prepared, plan)
    unasked = 0

    def nobody(_question: Ask) -> Failed:
        nonlocal unasked
        unasked += 1
        return Failed("a replay asks nobody")

    steps = tuple(run_plan(player.play(step), nobody) for step in prepared.steps)
    edits, prices = tuple(player.edits), player.model.prices
    return Run(prepared.recording, steps, edits, prices, len(player.summaries), unasked, player.sizes.hidden)
