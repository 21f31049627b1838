"""Seeing: an observation as rows of numbers, and what may be chosen about it, as a mask over one list of places.

    place     0 1 2                3 … 10             11 … 18
    choice    commit compact …     first item, ops    second item, ops   …

    observation ──seen──▶ Sight ──open(chosen)──▶ mask ──a place is chosen──▶ … ──commit──▶ batch

A decision is a sequence of places that ends with commit. What it does to the rows is only that items are marked as chosen and that the batch fills; so a decision is kept as its first rows and
its places, and all that was seen on the way is worked out again from them.

Rows are padded nowhere: an item that isn't offered isn't there. The offered ones are the largest that something may be done with, in the order of the context.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trimtab.context.policies.learned.features import ITEM_FEATURES, WHOLE_FEATURES, item_row, whole_row
from trimtab.context.policies.learned.grammar import ITEM_OPS, WHOLE_OPS, Accepts, Choice, choices, operations
from trimtab.context.seeing.observation import ItemFacts, Observation

Rows: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
WHOLE, OPS = len(WHOLE_OPS), len(ITEM_OPS)
COMMIT_AT, COMPACT_AT, RESTATE_AT = (WHOLE_OPS.index(op) for op in ("commit", "compact", "restate"))
CHOSEN_AT, BATCH_AT = ITEM_FEATURES.index("chosen"), WHOLE_FEATURES.index("batch")
"""Where in a row stands what a choice changes."""
ROWS, BATCH = 64, 16
"""Items that are offered, and choices that fill a batch. What runs in the agent counts the same way, so neither is a setting."""
Restrict: TypeAlias = Callable[[ItemFacts | None, str], bool]
"""Whether an operation is open at all: on an item, or (None) on the whole."""


class Extra(Protocol):
    """Figures that another network gives for each item, behind its row."""

    @property
    def names(self) -> tuple[str, ...]:
        """What they are called in weights."""
        ...

    def __call__(self, observation: Observation, items: Sequence[ItemFacts]) -> Sequence[Sequence[float]]:
        """Return a row for each item."""
        ...


@dataclass(frozen=True, slots=True)
class Sight:
    """What is seen at a decision. `items`: a row for each, extra figures behind it; `valid`: the mask before anything is chosen; `full`: choices of a full batch."""

    items: Rows
    whole: Rows
    valid: Mask
    full: int

    @property
    def eligible(self) -> int:
        """Items that something may be done with."""
        return int(self.valid[WHOLE:].reshape(-1, OPS).any(axis=1).sum())

    def open(self, chosen: Sequence[int]) -> Mask:
        """Return what may be chosen next: each item once, a compaction by itself, and nothing but commit when the batch is full."""
        if not chosen:
            return self.valid
        mask = self.valid.copy()
        mask[COMPACT_AT] = False
        if COMPACT_AT in chosen or len(chosen) >= self.full:
            mask[:] = False
            mask[COMMIT_AT] = True
            return mask
        for place in chosen:
            if place < WHOLE:
                mask[place] = False
            else:
                first = place - (place - WHOLE) % OPS
                mask[first : first + OPS] = False
        return mask

    def rows(self, chosen: Sequence[int]) -> tuple[Rows, Rows]:
        """Return the rows of the items and the row of the whole, with these chosen."""
        if not chosen:
            return self.items, self.whole
        items, whole = self.items.copy(), self.whole.copy()
        for place in chosen:
            if place >= WHOLE:
                items[(place - WHOLE) // OPS, CHOSEN_AT] = 1.0
        whole[BATCH_AT] = len(chosen) / self.full
        return items, whole


@dataclass(frozen=True, slots=True)
class Eye:
    """How an observation is looked at: whose figures stand behind the rows, how many items are offered, and how many choices fill a batch."""

    extra: Extra | None = None
    items: int = ROWS
    full: int = BATCH

    @property
    def names(self) -> tuple[str, ...]:
        """What the extra figures are called."""
        return self.extra.names if self.extra else ()

    @property
    def widths(self) -> tuple[int, int]:
        """Numbers of an item's row, and of the row of the whole."""
        return len(ITEM_FEATURES) + len(self.names), len(WHOLE_FEATURES)

    def seen(
        self, observation: Observation, *, accepts: Accepts | None = None, restrict: Restrict | None = None
    ) -> tuple[Sight, tuple[ItemFacts, ...]]:
        """Return what is seen, and the items in the order of the rows."""
        offered = offered_items(observation, self.items)
        extra = self.extra(observation, offered) if self.extra else [()] * len(offered)
        rows = [(*item_row(item, observation, chosen=False), *more) for item, more in zip(offered, extra, strict=True)]
        valid = np.zeros(WHOLE + OPS * len(offered), np.bool_)
        places = {item.id: WHOLE + OPS * row for row, item in enumerate(offered)}
        known = {item.id: item for item in offered}
        for choice in choices(observation, accepts=accepts, items=offered):
            if choice.op == "commit" or restrict is None or restrict(known.get(choice.item), choice.op):
                valid[place_of(choice, places)] = True
        sight = Sight(
            np.array(rows, np.float64).reshape(len(offered), self.widths[0]),
            np.array(whole_row(observation, batch=0.0), np.float64),
            valid,
            self.full,
        )
        return sight, offered


def offered_items(observation: Observation, most: int) -> tuple[ItemFacts, ...]:
    """Return the items that something may be done with, the largest where there are more than `most`, in the order of the context."""
    able = [item for item in observation.items if operations(item, observation)]
    able.sort(key=lambda item: (-item.full_tokens - item.arguments, item.position))
    return tuple(sorted(able[:most], key=lambda item: item.position))


def place_of(choice: Choice, places: dict[str, int]) -> int:
    """Return the place of a choice. `places`: the first of each item."""
    if not choice.item:
        return WHOLE_OPS.index(choice.op)
    return places[choice.item] + ITEM_OPS.index(choice.op)


def choice_at(place: int, offered: Sequence[ItemFacts]) -> Choice:
    """Return the choice at a place."""
    if place < WHOLE:
        return Choice(WHOLE_OPS[place])
    row, op = divmod(place - WHOLE, OPS)
    return Choice(ITEM_OPS[op], offered[row].id)


def batch_of(places: Sequence[int], offered: Sequence[ItemFacts]) -> list[Choice]:
    """Return the choices of a decision, without its commit."""
    return [choice_at(place, offered) for place in places if place != COMMIT_AT]
