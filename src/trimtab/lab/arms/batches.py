"""Batches: what may go together, from the end of the conversation to the front, and what each costs of the provider's cache.

    wishes ──by place──▶ the last alone, the two last, … all ──▶ of each: tokens that go, cached tokens behind the first change that stay

One change of what was sent makes all behind it dear for one request, so what is weighed is never one item but everything from some place on.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from trimtab.context.actions import Action, ActionName
from trimtab.context.policies.weighing import gain_of
from trimtab.context.seeing.observation import ItemFacts, Observation


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing that may be done. `tokens` from `offset` on are changed, and `gain` of them go."""

    action: ActionName
    target: str
    offset: int
    tokens: int
    gain: int

    @classmethod
    def of(cls, action: ActionName, item: ItemFacts) -> "Wish":
        """The wish to do something to a single item."""
        return cls(action, item.id, item.offset, item.tokens, gain_of(Action(action), item))


@dataclass(frozen=True, slots=True)
class Batch:
    """All wishes from a place on: the first `size` of those that it was made of. `gain`: tokens that go, `cached` those of them that the cache holds; `suffix`: cached tokens that stay and
    have to be written again.
    """

    size: int
    gain: int
    cached: int
    suffix: int


def from_the_end(wishes: Iterable[Wish]) -> list[Wish]:
    """Return wishes in the order in which batches take them: the last of the conversation first."""
    return sorted(wishes, key=lambda wish: (-wish.offset, wish.target))


def batches(wishes: Sequence[Wish], observation: Observation, *, seam: int | None = None) -> Iterator[Batch]:
    """Yield every batch of `wishes`, which come from the end. Sizes are those of the observation, which are estimates.

    `seam`: where the first edit so far stood. A cache with breakpoints has none between there and what came since, so a change in between breaks all from there.
    """
    held = 0 if observation.cold else max(0, observation.cached - observation.fixed)
    since = min(observation.since.values(), default=None)
    prices = observation.prices
    marked = prices is not None and prices.cache_write > prices.input
    old = (i.offset + i.tokens for i in observation.items if since is not None and i.age >= since)
    border = max(old, default=0)
    gain = cached = touched = 0
    for size, wish in enumerate(wishes, 1):
        gain += wish.gain
        if wish.offset < held:
            cached += wish.gain
            touched += wish.tokens
        at = min(wish.offset, seam) if marked and seam is not None and wish.offset < border else wish.offset
        yield Batch(size, gain, cached, max(0, held - at - touched))


def actions_of(wishes: Iterable[Wish], *, reason: str, names: int = 0) -> tuple[Action, ...]:
    """Return wishes as actions, those of a kind as one. `names`: tokens of names that a stub keeps at most."""
    targets: dict[ActionName, list[str]] = {}
    for wish in wishes:
        targets.setdefault(wish.action, []).append(wish.target)
    return tuple(
        Action(action, tuple(ids), {"names": names} if action == "elide" and names else {}, reason)
        for action, ids in targets.items()
    )
