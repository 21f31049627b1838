"""`occupancy`: how full the space is says what is done, and nothing else does.

first     what something else makes superfluous goes
second    the oldest results are hidden, down to a level
third     a digest takes the place of all but the end
"""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.actions import Action
from trimtab.context.policies.base import Manners
from trimtab.context.seeing.observation import Observation
from trimtab.lab.arms.batches import Wish, actions_of
from trimtab.lab.arms.dedupe import superfluous
from trimtab.lab.arms.space import UNHELD, level, seen, until


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The three levels, and `left`, to which the second goes down, as shares of the space. `names`: tokens of names that a stub keeps at most.

    The third comes when hiding leaves more than that; then `left` of the space stays at the end.
    """

    first: float = 0.5
    second: float = 0.75
    third: float = 0.9
    left: float = 0.5
    names: int = 0
    name: str = "occupancy"

    @property
    def manners(self) -> Manners:
        """A baseline."""
        return UNHELD

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return what the level asks for."""
        used = observation.used
        if used < level(observation, self.first):
            return ()
        gone = list(superfluous(observation))
        if used >= level(observation, self.second):
            taken = {wish.target for wish in gone}
            need = used - level(observation, self.left) - _gain(gone)
            gone += until((item for item in seen(observation) if item.id not in taken), need)
        actions = actions_of(gone, reason="that full", names=self.names)
        if used - _gain(gone) < level(observation, self.third):
            return actions
        keep = level(observation, self.left) - observation.fixed
        return (*actions, digest(keep, observation))


def digest(keep: int, observation: Observation) -> Action:
    """Return the compaction of all but the last `keep` tokens, by a text that no model writes, with names of an eighth of the space as the ladder has them."""
    names = max(0, observation.hard - observation.fixed) // 8
    return Action("compact", (), {"mode": "digest", "keep_tokens": keep, "names": names}, "nearly full")


def _gain(wishes: Sequence[Wish]) -> int:
    return sum(wish.gain for wish in wishes)
