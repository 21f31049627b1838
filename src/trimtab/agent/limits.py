"""What a run may take at most: money, tokens, time. Pure but for the clock that it is given.

    each answer ──spend──▶ Allowance ──before the next request──▶ exceeded? ──▶ BudgetExceeded ends the turn

A limit is looked at between requests, so the one that passes it is paid for; the time is watched all the while. The one rule: what was spent is counted once,
whoever asked for it, and never forgotten between the turns of a run.
"""

import math
from dataclasses import dataclass, field
from typing import Protocol

from trimtab.agent.ports import Spent
from trimtab.types.errors import BudgetExceeded, UsageError
from trimtab.types.usage import Usage


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a run may take; None: no limit. `cost_usd` in USD; `tokens` are those of prompts and answers together, cached ones too; `time_s` in seconds."""

    cost_usd: float | None = None
    tokens: int | None = None
    time_s: float | None = None


class Above(Protocol):
    """A run that another one is a part of."""

    def spend(self, usage: Usage, usd: float | None) -> None:
        """The part has spent this."""
        ...

    def check(self, beside: Spent) -> None:
        """Raise `BudgetExceeded` when a limit of the whole is reached; `beside` is what the part took and nobody has booked yet."""
        ...


@dataclass(slots=True)
class Allowance:
    """What is left of the limits. The time runs from `start`; `now` in seconds, from any beginning."""

    limits: Limits = field(default_factory=Limits)
    spent: Spent = field(default_factory=Spent)
    answers: dict[str, Spent] = field(default_factory=dict)
    """Of that, what went to answers of the conversation, by model (`PROVIDER/ID`)."""
    above: "Above | None" = None
    """Who pays for the run, where that is another one: hears of all that is spent, and may say that it is enough."""
    _ends: float = math.inf

    def start(self, now: float) -> None:
        """The run begins, unless it has begun already."""
        if self.limits.time_s is not None and math.isinf(self._ends):
            self._ends = now + self.limits.time_s

    @property
    def ends(self) -> float:
        """When the time is up; infinite without a limit."""
        return self._ends

    def spend(self, usage: Usage, usd: float | None, *, model: str = "") -> None:
        """Something was asked and answered; `model` answered in the conversation."""
        spent = Spent(usage, usd)
        self.spent = self.spent + spent
        if model:
            self.answers[model] = self.answers.get(model, Spent()) + spent
        if self.above is not None:
            self.above.spend(usage, usd)

    def check(self, beside: Spent) -> None:
        """Raise `BudgetExceeded` when a limit is reached; `beside` is what summaries took and nobody has booked yet.

        Raises `UsageError` when there is a limit in money and a price isn't known: then nobody can keep it.
        """
        if self.above is not None:
            self.above.check(beside)
        limits, total = self.limits, self.spent + beside
        if limits.cost_usd is not None:
            if total.usd is None:
                raise UsageError(
                    "a limit of cost can't be kept: the price of a model isn't known",
                    hint="Set price_input and price_output of the model in config.toml, or limit tokens instead: --max-tokens.",
                )
            if total.usd >= limits.cost_usd:
                raise _reached(f"${total.usd:.4f} of ${limits.cost_usd:g}", "--max-cost")
        if limits.tokens is not None and (used := total.usage.total) >= limits.tokens:
            raise _reached(f"{used:,} of {limits.tokens:,} tokens", "--max-tokens")

    def out_of_time(self) -> BudgetExceeded:
        """What ends the turn once the time is up."""
        return _reached(f"the limit of {self.limits.time_s:g} s", "--max-time")


def _reached(what: str, flag: str) -> BudgetExceeded:
    return BudgetExceeded(
        f"the run's limit is reached: {what}",
        hint=f"What was done is kept, and the session can go on with another limit ({flag}).",
    )
