"""`break-even`: what is dead goes when taking it out saves more reading than it breaks of the cache.

    dead ──from the end──▶ batches of E tokens with L cached ones behind ──E·r·R > L·(w−r)──▶ the one that saves most

`R` requests are expected to come, at `r` a token read and `w` a token written. After one change all that is dead behind it is free, so a batch is always everything from some
place on. What is dead is guessed by age and use: a rule of thumb, where a learned policy has a network.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trimtab.context.actions import Action
from trimtab.context.economics.break_even import pays
from trimtab.context.policies.base import Manners
from trimtab.context.seeing.observation import Observation
from trimtab.lab.arms.batches import Batch, Wish, actions_of, batches, from_the_end
from trimtab.lab.arms.dedupe import superfluous
from trimtab.lab.arms.space import UNHELD, level, quiet, seen


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Takes for dead what is older than `fresh` requests and wasn't used for `recent`. `horizon`: requests that are counted at most (0: all that are expected).

    `least`: a batch takes out at least this share of the space. `names`: tokens of names that a stub keeps at most.
    """

    fresh: int = 3
    recent: int = 10
    horizon: int = 30
    least: float = 0.1
    names: int = 0
    name: str = "break-even"

    @property
    def manners(self) -> Manners:
        """A baseline."""
        return UNHELD

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return the batch that saves most, or nothing where none pays."""
        wishes = from_the_end(self._dead(observation))
        best = paying(
            wishes,
            observation,
            calls=min(observation.remaining, self.horizon) if self.horizon else observation.remaining,
            least=level(observation, self.least) - observation.fixed,
        )
        return actions_of(wishes[: best.size], reason="it pays", names=self.names) if best is not None else ()

    def _dead(self, observation: Observation) -> Iterator[Wish]:
        sure = {wish.target: wish for wish in superfluous(observation)}
        yield from sure.values()
        for item in seen(observation):
            if item.id not in sure and item.age >= self.fresh and quiet(item) >= self.recent:
                yield Wish.of("elide", item)


def paying(wishes: Sequence[Wish], observation: Observation, *, calls: float, least: int = 0) -> Batch | None:
    """Return the batch that saves most of those that take out `least` tokens and pay with `calls` requests to come; above the hard limit all that there is, if anything is."""
    found = [batch for batch in batches(wishes, observation) if batch.gain > 0 and batch.gain >= least]
    if observation.used > observation.hard:
        return found[-1] if found else None
    prices = observation.prices
    read, write = (prices.cache_read, prices.cache_write) if prices is not None else (1.0, 1.0)
    found = [batch for batch in found if pays(batch.gain, batch.suffix, read, write, calls)]
    saved = {batch.size: batch.gain * read * calls - batch.suffix * max(write - read, 0.0) for batch in found}
    return max(found, key=lambda batch: saved[batch.size], default=None)
