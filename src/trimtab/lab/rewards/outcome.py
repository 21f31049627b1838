"""What an episode came to, as a reward reads it: who did what, what was needed and how it was served, and what was paid.

    facts of a played story ─┐
    figures of a live run   ─┴▶ Outcome: step by step, each item with the action that it goes back to, where that is known

Everything is a value that can be written down, so that one episode can be judged anew with other weights, and by other schemes, without playing it again.
"""

from typing import Literal

import msgspec

from trimtab.lab.env.facts import Tier

BudgetPart = Literal["system", "history", "results", "reply"]
HIDING = frozenset({"elide", "summarize", "fold", "truncate", "compress", "expire", "drop", "offload", "compact"})
"""Actions that take tokens out."""
SUMMARIES = frozenset({"summarize", "compact"})
"""Actions whose text a model writes."""


class Spent(msgspec.Struct, frozen=True, omit_defaults=True):
    """Money for one thing, in USD (an expectation where it is paid by chance). `action` is what it goes back to; empty: the work itself."""

    usd: float
    on: Literal["request", "summary", "reload"] = "request"
    action: str = ""


class NeedMet(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that a step needed, and how likely it had it: 1 where the request shows it, less for a summary or a stub that must be noticed, 0 where it is lost.

    `hidden_by` is the action that took it out of sight. `reloads`: expected reloads for its sake, those left out that are among the actions.
    """

    point: str
    chance: float
    hidden_by: str = ""
    reloads: float = 0.0


class ActionTaken(msgspec.Struct, frozen=True, omit_defaults=True):
    """One action on the context. `before` and `after`: tokens of what it changed, without and with it.

    `forced`: the ladder's. `refused`: it came to nothing, because it broke a rule. `findable`: all that matters in what it changed can be found afterwards, in
    sight or by a way back. `fields`: kinds of the structured fields (number, name, code field, error code) that its text still shows, one for each field.
    """

    id: str
    name: str
    targets: tuple[str, ...] = ()
    before: int = 0
    after: int = 0
    forced: bool = False
    refused: bool = False
    findable: bool = True
    fields: tuple[str, ...] = ()


class Excess(msgspec.Struct, frozen=True):
    """A part of the budget that was exceeded: its tokens, and its limit."""

    part: BudgetPart
    tokens: int
    limit: int


class StepOutcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request: the actions in front of it, what it needed and what it cost.

    `asked`: a policy was asked in front of it. `overflow`: it was larger than the window has room for. `excess`: parts of the budget that it exceeded. `invalid`: things that a provider would refuse.
    """

    step: int
    actions: tuple[ActionTaken, ...] = ()
    needs: tuple[NeedMet, ...] = ()
    spent: tuple[Spent, ...] = ()
    overflow: bool = False
    excess: tuple[Excess, ...] = ()
    invalid: int = 0
    asked: bool = True

    @property
    def over(self) -> bool:
        """Whether the request breaks the budget, as a whole or in a part."""
        return self.overflow or bool(self.excess)


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """An episode. `task`, `seed` and `regime` (of prices) name the group that it belongs to.

    `passed`: measured success, where something measured it (tests that ran, a judge); None: it follows from what was needed.
    """

    task: str
    seed: int
    regime: str
    tier: Tier
    steps: tuple[StepOutcome, ...]
    passed: float | None = None

    @property
    def actions(self) -> tuple[ActionTaken, ...]:
        """All actions in order."""
        return tuple(action for step in self.steps for action in step.actions)

    @property
    def usd(self) -> float:
        """What it cost in all."""
        return sum(spent.usd for step in self.steps for spent in step.spent)

    @property
    def forced_share(self) -> float:
        """The share of the ladder's actions among all that weren't refused; 0 where there are none."""
        done = [action.forced for action in self.actions if not action.refused and action.name != "keep"]
        return sum(done) / len(done) if done else 0.0


class Yardstick(msgspec.Struct, frozen=True):
    """What the episodes of one group are measured with: what keeping everything costs in that task at these prices, what is over cut off hard."""

    task: str
    seed: int
    regime: str
    keep_all_usd: float
