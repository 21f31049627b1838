"""`dedupe`: only what something else makes superfluous goes: copies, readings that a newer one replaces, arguments of calls that failed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trimtab.context.actions import Action
from trimtab.context.cycle.ladder import LARGE, outdated, stale, touchable
from trimtab.context.policies.base import Manners
from trimtab.context.seeing.observation import Observation
from trimtab.lab.arms.batches import Wish, actions_of
from trimtab.lab.arms.space import UNHELD, level


@dataclass(frozen=True, slots=True)
class Dedupe:
    """Acts from `act` of the space on, once `least` of it would go; the ladder does the rest."""

    act: float = 0.5
    least: float = 0.05
    name: str = "dedupe"

    @property
    def manners(self) -> Manners:
        """A baseline."""
        return UNHELD

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return all of it, or nothing while it is little."""
        if observation.used < level(observation, self.act):
            return ()
        gone = list(superfluous(observation))
        enough = level(observation, self.least) - observation.fixed
        return actions_of(gone, reason="something else says the same") if sum(w.gain for w in gone) >= enough else ()


def superfluous(observation: Observation) -> Iterator[Wish]:
    """Yield the wishes about what nothing is lost with."""
    for item in stale(observation):
        if (wish := Wish.of("elide", item)).gain > 0:
            yield wish
    for item in outdated(observation):
        yield Wish.of("drop", item)
    for item in observation.items:
        if item.failed_input and item.age > 1 and item.arguments > LARGE and touchable(item):
            yield Wish.of("offload", item)
