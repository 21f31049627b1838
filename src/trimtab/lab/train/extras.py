"""Extra figures behind each item's row: how likely it is needed again, and what hiding it would come to.

    weights of kind `needed` ──▶ p ──break-even──▶ (p, worth)

They are what a first, supervised network knows, as inputs of a second one that chooses. `worth`, in rooms of fresh tokens: what isn't read again in the requests to come, less the chance that it is fetched
again and what that takes. What an edit breaks of the cache isn't in it: that is shared by a batch, and the second network sees what it takes to know it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from trimtab.context.policies.learned.features import MOST, item_row, whole_row
from trimtab.context.policies.learned.weights import Weights
from trimtab.context.seeing.observation import ItemFacts, Observation
from trimtab.types.errors import UsageError

NAMES = ("needed", "worth")
"""As they stand in `Weights.extra`."""


def extra_rows(weights: Weights, observation: Observation, items: Sequence[ItemFacts]) -> list[tuple[float, float]]:
    """Return both figures of each item. Only results are needed again: for all else the chance is 0."""
    whole = whole_row(observation, batch=0.0)
    read, write = _prices(observation)
    rows = []
    for item in items:
        chance = 0.0
        if item.kind == "result":
            (odds,) = weights.item((*item_row(item, observation, chosen=False), *whole))
            chance = 1.0 / (1.0 + exp(-max(-30.0, min(30.0, odds))))
        gain = item.arguments if item.kind == "assistant" else item.tokens
        fetched = gain * write + observation.used * read
        worth = (gain * read * observation.remaining - chance * fetched) / max(1, observation.room)
        rows.append((chance, max(-MOST, min(MOST, worth))))
    return rows


def _prices(observation: Observation) -> tuple[float, float]:
    """A token read from the cache and one written to it, in fresh tokens; 1 where no price is known."""
    prices = observation.prices
    if prices is None or prices.input <= 0:
        return 1.0, 1.0
    return prices.cache_read / prices.input, prices.cache_write / prices.input


@dataclass(frozen=True, slots=True)
class Needed:
    """What is likely needed again, and what hiding it would come to."""

    weights: Weights

    @property
    def names(self) -> tuple[str, ...]:
        """What the figures are called."""
        return NAMES

    def __call__(self, observation: Observation, items: Sequence[ItemFacts]) -> Sequence[Sequence[float]]:
        """Return both figures of each item."""
        return extra_rows(self.weights, observation, items)


def extra_of(needed: Weights | None) -> Needed | None:
    """Return what looks at items with these weights; None: nothing is added. Raises `UsageError` for weights of another kind."""
    if needed is None:
        return None
    if needed.kind != "needed":
        raise UsageError(
            f"weights of kind {needed.kind!r} don't say what is needed", hint="Give those of kind 'needed'."
        )
    return Needed(needed)
