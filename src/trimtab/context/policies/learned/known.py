"""What weights are asked about: rows that training saw the like of. What is unlike anything there is found out here, before a network says something about it.

observation ──rows──▶ of each item, with the whole behind it ──range──▶ fit │ an item too strange: as if it were needed │ the whole too strange: the rules decide
"""

from collections.abc import Sequence

from trimtab.context.policies.learned.features import ITEM_FEATURES, WHOLE_FEATURES, item_row, whole_row
from trimtab.context.policies.learned.weights import Weights
from trimtab.context.seeing.observation import ItemFacts, Observation

SLACK, LEAST_SLACK = 0.1, 0.01
"""How far outside of what training saw a figure may lie: a share of what it saw between the smallest and the largest, and at least so much."""
STRANGE = 0.5
"""Share of items unlike any in training from which on the rules decide."""
_NAMES = (*ITEM_FEATURES, *WHOLE_FEATURES)


def rows_of(
    observation: Observation, items: Sequence[ItemFacts], *, chosen: frozenset[str] = frozenset(), batch: float = 0.0
) -> list[tuple[float, ...]]:
    """Return the row of each item with that of the whole behind it: what the network `item` is given."""
    whole = whole_row(observation, batch=batch)
    return [(*item_row(item, observation, chosen=item.id in chosen), *whole) for item in items]


def strange_whole(weights: Weights, observation: Observation) -> str:
    """Say which figure of the whole is unlike any in training; empty when none is."""
    return _outside(weights, whole_row(observation, batch=0.0), len(ITEM_FEATURES))


def strange_item(weights: Weights, row: Sequence[float]) -> str:
    """Say which figure of an item, as `rows_of` gives it, is unlike any in training; empty when none is."""
    return _outside(weights, row[: len(ITEM_FEATURES)], 0)


def _outside(weights: Weights, row: Sequence[float], first: int) -> str:
    """`first`: the place in the input of the first of these numbers. Weights that say no range have none."""
    for place, value in enumerate(row, first):
        if place >= min(len(weights.low), len(weights.high), len(_NAMES)):
            return ""
        low, high = weights.low[place], weights.high[place]
        slack = max(LEAST_SLACK, SLACK * (high - low))
        if not low - slack <= value <= high + slack:
            return f"{_NAMES[place].replace('_', ' ')} is {value:.3g}, and training saw {low:.3g} to {high:.3g}"
    return ""
