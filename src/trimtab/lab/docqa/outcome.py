"""What a query came to, and what that is worth.

    R = R_out + R_fmt + R_pen      0 or 1 for the answer; −0.5 where a turn called nothing; −0.5 where a call failed or a limit was met

These are the terms of ContextPilot's terminal reward. Two repairs of it are options: an error counts by its share of the turns and not once for all (`per_turn`), and what was paid may count (`cost`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec

from trimtab.lab.tasks.score import Verdict
from trimtab.types.usage import Usage

Ending = Literal["finished", "turns", "window", "format", "errors", "provider"]
"""Why it is over: an answer, all turns used, nothing fits any more, replies without a call, failed calls, a model that couldn't be asked."""
LIMITS: tuple[Ending, ...] = ("turns", "window", "errors")


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a query came to. `looked`: everything that the answer rests on was read. `edits` are the reader's, `forced_edits` those of the ladder or a script."""

    query: str
    ending: Literal["open", "finished", "turns", "window", "format", "errors", "provider"]
    answer: str | None
    verdict: Verdict
    looked: bool
    turns: int
    calls: Mapping[str, int]
    failed_calls: int = 0
    plain_replies: int = 0
    edits: int = 0
    forced_edits: int = 0
    peak_tokens: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """Weights of the terminal reward. `per_turn`: errors and plain replies count by their share of the turns. `cost`: per USD, where prices are known."""

    format: float = 0.5
    penalty: float = 0.5
    per_turn: bool = False
    cost: float = 0.0


RELEASED = Terms()
"""As ContextPilot has them."""


def terminal_reward(outcome: Outcome, terms: Terms = RELEASED) -> float:
    """Return what an outcome is worth."""
    turns = max(1, outcome.turns)
    plain = outcome.plain_replies / turns if terms.per_turn else float(outcome.plain_replies > 0)
    failed = outcome.failed_calls / turns if terms.per_turn else float(outcome.failed_calls > 0)
    limit = float(outcome.ending in LIMITS)
    spent = terms.cost * (outcome.cost_usd or 0.0)
    return float(outcome.verdict == "right") - terms.format * plain - terms.penalty * max(failed, limit) - spent
