"""The budget in shares: how much of the window the system prompt, the compressed history, the current results and the reply may have.

A hard constraint: a request with an `Excess` isn't made (see `reward`), and no reward makes up for it.
"""

import math
from dataclasses import dataclass, fields

import msgspec

from trimtab.context.economics import RequestShape
from trimtab.lab.rewards.outcome import BudgetPart, Excess
from trimtab.types.errors import ConfigError

PARTS: tuple[BudgetPart, ...] = ("system", "history", "results", "reply")


class Shares(msgspec.Struct, frozen=True, omit_defaults=True):
    """Shares of the window, which sum to 1 at most: system prompt with tools; older messages in whatever form; what is current; the reply."""

    system: float = 0.20
    history: float = 0.35
    results: float = 0.30
    reply: float = 0.15

    def __post_init__(self) -> None:
        """Refuse what can't be shares."""
        for part in PARTS:
            if not 0.0 < getattr(self, part) <= 1.0:
                raise ConfigError(
                    f"the share of {part!r} is {getattr(self, part)}", hint="it must be above 0 and at most 1"
                )
        whole = math.fsum(getattr(self, part) for part in PARTS)
        if whole > 1.0 + 1e-9:
            raise ConfigError(f"the shares of the budget sum to {whole:.3f}", hint="lower one: they share one window")

    def limits(self, window: int) -> "Filled":
        """What each part may have of a window, in tokens."""
        # Shares such as 0.29 aren't exact: 0.29 of 100 is 29 tokens all the same.
        return Filled(*(math.floor(window * getattr(self, part) + 1e-6) for part in PARTS))


@dataclass(frozen=True, slots=True)
class Filled:
    """Tokens of each part. `reply`: what the request asks for at most."""

    system: int
    history: int
    results: int
    reply: int


USUAL = Shares()


def filled_by(request: RequestShape, *, current: int, reply: int) -> Filled:
    """Return what a request fills, and the reply that it asks for. `current`: the boundary of the request behind which its messages are current: the newest
    results, or all since the newest prompt.
    """
    front, history = request.tokens_before(request.fixed), request.tokens_before(max(current, request.fixed))
    return Filled(front, history - front, request.total - history, reply)


def excesses(filled: Filled, window: int, shares: Shares = USUAL) -> tuple[Excess, ...]:
    """Return the parts that have more than their share."""
    limits = shares.limits(window)
    return tuple(
        Excess(part, getattr(filled, part), getattr(limits, part))
        for part in PARTS
        if getattr(filled, part) > getattr(limits, part)
    )


def left(filled: Filled, window: int, shares: Shares = USUAL) -> Filled:
    """Return what each part could still take, in tokens; below zero where it has too much. A policy may see it."""
    limits = shares.limits(window)
    return Filled(*(getattr(limits, field.name) - getattr(filled, field.name) for field in fields(Filled)))
