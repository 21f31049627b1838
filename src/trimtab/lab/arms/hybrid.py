"""`hybrid`: old results are masked in batches, and where that isn't enough a digest takes the place of all but the end."""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.actions import Action
from trimtab.context.cycle.ladder import hideable
from trimtab.context.policies.base import Manners
from trimtab.context.seeing.observation import Observation
from trimtab.lab.arms.batches import Wish, actions_of
from trimtab.lab.arms.occupancy import digest
from trimtab.lab.arms.space import LEAST, UNHELD, level


@dataclass(frozen=True, slots=True)
class Hybrid:
    """Masks all results but the last `keep`, once `batch` of them are due and `act` of the space is used. Where `at` of it would be used even with all that masked, the digest comes instead, which leaves `left` of
    the space at the end. `names`: tokens of names that a stub keeps at most.
    """

    keep: int = 8
    batch: int = 4
    act: float = 0.5
    at: float = 0.9
    left: float = 0.3
    names: int = 0
    name: str = "hybrid"

    @property
    def manners(self) -> Manners:
        """A baseline."""
        return UNHELD

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return the digest where hiding what is due would not be enough, else the batch that is due."""
        if observation.used < level(observation, self.act):
            return ()
        results = [item for item in observation.items if item.kind == "result" and item.state != "gone"]
        old = results[: max(0, len(results) - self.keep)]
        due = [Wish.of("elide", item) for item in old if hideable(item) and item.tokens > LEAST]
        full = observation.used - sum(wish.gain for wish in due) >= level(observation, self.at)
        if full:
            keep = level(observation, self.left) - observation.fixed
            return (digest(keep, observation),)
        return actions_of(due, reason="an old result", names=self.names) if len(due) >= self.batch else ()
