"""Space: where a request stands between what is fixed and the hard limit, and what of it may be hidden.

    fixed ──────────── share ──────────── hard        0 where nothing has been said yet, 1 where the ladder takes over

The rules of the lab measure by this, as `rules` do, so that one share means the same in any window and behind any system prompt.
"""

from collections.abc import Iterable

from trimtab.context.cycle.ladder import LARGE, hideable
from trimtab.context.policies.base import Manners
from trimtab.context.seeing.observation import ItemFacts, Observation
from trimtab.lab.arms.batches import Wish

UNHELD = Manners(guarded=False, early=True)
"""How an arm is treated: by its own levels, below the soft threshold too, and with no guard of ours."""
LEAST = LARGE // 4
"""Tokens from which on an item is worth a stub."""


def level(observation: Observation, share: float) -> int:
    """Return the size of a request that takes this share of the space."""
    return observation.fixed + int(share * max(0, observation.hard - observation.fixed))


def quiet(item: ItemFacts) -> int:
    """Return for how many requests nothing of an item was used: since it was, or since it came."""
    return item.age if item.last_used is None else item.last_used


def seen(observation: Observation) -> list[ItemFacts]:
    """Return the results that may be hidden and that a request has shown, in order. What none has shown yet is what the next answer is about."""
    return [item for item in observation.items if hideable(item) and item.tokens > LEAST and item.age >= 1]


def until(items: Iterable[ItemFacts], need: int) -> list[Wish]:
    """Return the wishes to hide the first of `items` that together take `need` tokens out."""
    chosen: list[Wish] = []
    for item in items:
        if need <= 0:
            break
        wish = Wish.of("elide", item)
        if wish.gain > 0:
            chosen.append(wish)
            need -= wish.gain
    return chosen
