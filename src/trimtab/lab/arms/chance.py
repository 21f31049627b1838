"""`random`: batches at random, as many and as large as another arm's, of whatever may be hidden. What an arm wins over it, it wins by what it chooses.

another arm's plays ──matched──▶ "random(rate=0.12, items=9)"
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trimtab.context.actions import Action
from trimtab.context.policies.base import Manners, Policy
from trimtab.context.seeing.observation import Observation
from trimtab.lab.arms.batches import Wish, actions_of
from trimtab.lab.arms.playing import Played
from trimtab.lab.arms.space import UNHELD, seen
from trimtab.lab.env.story import Story


@dataclass(frozen=True, slots=True)
class Chance:
    """Hides `items` results in front of one in so many requests: `rate` is their share. The same request of the same story always draws the same."""

    story: str
    rate: float
    items: int
    name: str = "random"

    @property
    def manners(self) -> Manners:
        """A baseline."""
        return UNHELD

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return the batch of this request, if there is one."""
        dice = random.Random(f"{self.story} {observation.step}")
        if dice.random() >= self.rate:
            return ()
        among = seen(observation)
        chosen = dice.sample(among, min(self.items, len(among)))
        return actions_of((Wish.of("elide", item) for item in chosen), reason="drawn")


@dataclass(frozen=True, slots=True)
class RandomAtRate:
    """The parameters of chance. By default about those of `rules` on the training tasks."""

    rate: float = 0.1
    items: int = 8

    def of(self, story: Story) -> Policy:
        """Seeded by the name of the story."""
        return Chance(story.name, self.rate, self.items)


def matched(played: Iterable[Played]) -> str:
    """Return the random arm that makes as many batches a request as these plays had, each of as many items: the policy's own, not the ladder's."""
    requests = batches = items = 0
    for one in played:
        requests += len(one.facts)
        for facts in one.facts:
            own = [edit for edit in facts.edits if edit.author.startswith("policy:")]
            batches += bool(own)
            items += sum(len(edit.targets) for edit in own)
    rate = batches / requests if requests else 0.0
    return f"random(rate={rate:.4f}, items={max(1, round(items / max(1, batches)))})"
