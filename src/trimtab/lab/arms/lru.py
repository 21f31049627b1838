"""`lru`: when the space is nearly full, the results that were used least recently are hidden, down to a level."""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.actions import Action
from trimtab.context.policies.base import Manners
from trimtab.context.seeing.observation import Observation
from trimtab.lab.arms.batches import actions_of
from trimtab.lab.arms.space import UNHELD, level, quiet, seen, until


@dataclass(frozen=True, slots=True)
class Lru:
    """Acts from `act` of the space on, and leaves `left` of it. `names`: tokens of names that a stub keeps at most."""

    act: float = 0.9
    left: float = 0.5
    names: int = 0
    name: str = "lru"

    @property
    def manners(self) -> Manners:
        """A baseline."""
        return UNHELD

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return what goes now: what came or was used last stays longest."""
        if observation.used < level(observation, self.act):
            return ()
        coldest = sorted(seen(observation), key=lambda item: (-quiet(item), item.position))
        gone = until(coldest, observation.used - level(observation, self.left))
        return actions_of(gone, reason="used least recently", names=self.names)
