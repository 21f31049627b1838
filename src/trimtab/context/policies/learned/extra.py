"""Extra figures behind each item's row: how likely it is needed again, and what hiding it would come to.

    network of kind `needed` ──▶ p ──break-even──▶ (p, worth)

They are what a first, supervised network knows, as inputs of a second one that chooses. `worth`, in rooms of fresh tokens: what isn't read again in the requests to come, less the chance that it is fetched
again and what that takes. What an edit breaks of the cache isn't in it: that is shared by a batch, and the second network sees what it takes to know it.
"""

from collections.abc import Sequence
from math import exp

from trimtab.context.policies.learned.features import MOST
from trimtab.context.policies.learned.known import rows_of
from trimtab.context.policies.learned.network import Network
from trimtab.context.seeing.observation import ItemFacts, Observation

NAMES = ("needed", "worth")
"""As they stand in `Weights.extra`."""
_FAR = 30.0
"""Log-odds that are as good as certain."""


def chance_of(odds: float) -> float:
    """The chance behind log-odds."""
    return 1.0 / (1.0 + exp(-max(-_FAR, min(_FAR, odds))))


def extra_rows(needed: Network, observation: Observation, items: Sequence[ItemFacts]) -> list[tuple[float, float]]:
    """Return both figures of each item. Only results are needed again: for all else the chance is 0."""
    read, write = _prices(observation)
    found = []
    for item, row in zip(items, rows_of(observation, items), strict=True):
        chance = chance_of(needed(row)[0]) if item.kind == "result" else 0.0
        gain = item.arguments if item.kind == "assistant" else item.tokens
        fetched = gain * write + observation.used * read
        worth = (gain * read * observation.remaining - chance * fetched) / max(1, observation.room)
        found.append((chance, max(-MOST, min(MOST, worth))))
    return found


def _prices(observation: Observation) -> tuple[float, float]:
    """A token read from the cache and one written to it, in fresh tokens; 1 where no price is known."""
    prices = observation.prices
    if prices is None or prices.input <= 0:
        return 1.0, 1.0
    return prices.cache_read / prices.input, prices.cache_write / prices.input
