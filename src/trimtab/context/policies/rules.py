"""`rules`, the default: what has a newer copy goes first, then what is least likely needed, in batches that are worth the cache they break.

    fixed ─────── aim ──────────────── act ── hard        shares of the space between what is fixed and the hard limit
    fixed ─── aim ─────── soft ────────────── hard        where a person chose soft: that is where it acts, and the shares are of the space below it
    stale ▶ large arguments ▶ results, coldest first ▶ whatever else is cold behind the first change ▶ hot results
    └─ and where that leaves too much: a summary, in place of all of it where that takes out more

Each edit of sent bytes makes everything behind it dear for one request, so batches are large and rare: nothing happens until the space is nearly
full, or what a person said is reached, and then it is cleared down to the aim, which is a person's target where there is one, and what is cold behind the earliest change goes along, since its place in the cache is paid for
already. The aim is low for the same reason: a request costs what it reads, on average the middle between the aim and where something is done, and a batch costs
what it leaves to be written again; with a lower aim both are less, and batches are fewer. What speaks against it is what may be needed again: so what is hidden leaves
the names behind that stood in it (`shorten.names`), and so does a summary, since most of what is needed later is a
name. Results of kinds of tool that were fetched again after they had been hidden wait longer (`ItemFacts.regret`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.actions import Action
from trimtab.context.cycle.ladder import (
    FOLDED_TOKENS,
    LARGE,
    OUTDATED,
    hideable,
    outdated,
    over_hard,
    stale,
    touchable,
    value,
    why_stale,
)
from trimtab.context.policies.batch import Batch
from trimtab.context.policies.weighing import weigh
from trimtab.context.seeing.observation import ItemFacts, Observation


@dataclass(frozen=True, slots=True)
class Rules:
    """The parameters, in requests unless they say otherwise.

    `fresh`: an item younger than this is hot; so is one that was used within `recent`. `patience`: how much longer an item of full regret stays hot.
    `least`: tokens from which on an item is worth an edit. `along`: take along what is cold behind the first change. `fold_used`: a large result that
    was used so often is folded instead of hidden. `act`, `left`: shares of the space between the fixed part and the hard limit: from where on something is
    done, and down to where; what a person chose (`soft_given`, `target_given`) holds instead. `names`: tokens of names that a stub keeps at most; `keep_names`: the same of a summary, as a share of the space.
    `compact_from`: a summary takes the place of all but the end when, with everything else done, more than this share of the space would still be too much;
    `keep`: the share of the aim that stays as it is then; `compact_mode` `digest` asks no model for it, the empty one does.
    """

    fresh: int = 3
    recent: int = 3
    patience: int = 12
    least: int = LARGE // 2
    along: bool = True
    fold_used: int = 4
    compact_from: float = 0.25
    compact_mode: str = "digest"
    act: float = 0.9
    left: float = 0.2
    names: int = 400
    keep_names: float = 0.15
    keep: float = 0.6
    name: str = "rules"

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return one batch that brings the request to its aim, or the summary that takes out more; nothing below the soft threshold."""
        if observation.used < self.acts_from(observation):
            return ()
        space = self.space(observation)
        aim = self.aim(observation)
        batch = Batch(observation.used - aim, self.names)
        urgent = observation.used > observation.hard
        self.take_stale(observation, batch)
        self._take_arguments(observation, batch, urgent=urgent)
        self._take_results(observation, batch, urgent=urgent)
        missing = observation.used - aim - batch.gain
        if missing > self.compact_from * space:
            return self.with_summary(observation, batch)
        return batch.actions()

    def with_summary(self, observation: Observation, batch: Batch) -> Sequence[Action]:
        """Return a summary of all but the end, behind what the batch hides, or in its place where it takes out more."""
        params = {
            "keep_tokens": int(self.keep * (self.aim(observation) - observation.fixed)),
            **({"mode": self.compact_mode} if self.compact_mode else {}),
            "names": int(self.keep_names * self.space(observation)),
        }
        summary = Action("compact", (), params, "hiding results is not enough")
        # What a summary covers needs no stub, and names are chosen better from whole texts than from what stubs kept of them.
        # But one that hardly gains may be refused, and then it is the stubs that make room.
        alone = weigh((summary,), observation).gain > batch.gain
        return (summary,) if alone else (*batch.actions(), summary)

    def acts_from(self, observation: Observation) -> float:
        """The size from which on something is done, in tokens: the soft threshold that a person chose, else late, and never below soft."""
        if _keeps_to_soft(observation):
            return observation.soft
        return max(observation.soft, observation.fixed + self.act * self.space(observation))

    def aim(self, observation: Observation) -> int:
        """The size that a batch goes down to, in tokens: a person's target, else a share of the space, which may lie above `target`."""
        if observation.target_given and observation.target > observation.fixed:
            return observation.target
        return observation.fixed + int(self.left * self.space(observation))

    def space(self, observation: Observation) -> float:
        """What the shares are of: up to the hard limit, or such that `act` of it ends at the soft threshold that a person chose."""
        if _keeps_to_soft(observation):
            return (observation.soft - observation.fixed) / max(0.1, self.act)
        return max(0, observation.hard - observation.fixed)

    def is_hot(self, item: ItemFacts) -> bool:
        """Whether an item is too likely to be needed at once: young, or just used; longer so for kinds that were fetched again before."""
        wait = round(self.patience * min(1.0, item.regret))
        if item.age < self.fresh + wait:
            return True
        return item.last_used is not None and item.last_used < self.recent + wait

    def take_stale(self, observation: Observation, batch: Batch) -> None:
        """A newer result holds what these held, so all of them go: they lose nothing, and waiting makes them no cheaper."""
        for item in stale(observation):
            batch.add("elide", item, why_stale(item))
        for item in outdated(observation):
            batch.add("drop", item, OUTDATED)
        for item in observation.items:
            if item.failed_input and item.age >= self.fresh and item.arguments > self.least and touchable(item):
                batch.add("offload", item, "the call failed")

    def _take_arguments(self, observation: Observation, batch: Batch, *, urgent: bool) -> None:
        large = [
            item
            for item in observation.items
            if item.kind == "assistant"
            and item.state == "full"
            and item.arguments > LARGE
            and touchable(item)
            and (urgent or not self.is_hot(item))
        ]
        large.sort(key=lambda item: (self.is_hot(item), -item.arguments * (1 + item.age)))
        batch.fill("offload", large, "large arguments")

    def _take_results(self, observation: Observation, batch: Batch, *, urgent: bool) -> None:
        """The coldest first until the aim is reached, then the cold ones behind the earliest change while they are paid for."""
        candidates = [item for item in observation.items if hideable(item) and item.tokens > self.least]
        cold = sorted((item for item in candidates if not self.is_hot(item)), key=value)
        for item in cold:
            if batch.missing <= 0 and not self._goes_along(item, observation, batch):
                continue
            if batch.gain >= batch.need + self._slack(observation):
                break
            self._hide(item, batch)
        # A stub with names loses less than a summary, so what is hot goes before a compaction has to come; what nobody has read yet only as
        # far as the request doesn't fit otherwise.
        slack = 0 if urgent else self.compact_from * self.space(observation)
        over = over_hard(observation) if urgent else 0
        for item in sorted((item for item in candidates if self.is_hot(item)), key=lambda i: (i.age <= 1, value(i))):
            if batch.missing <= slack or (item.age <= 1 and batch.gain >= over):
                break
            if not item.sent and item.state == "full" and item.tokens > 2 * FOLDED_TOKENS:
                batch.add("fold", item, "large, and too new to hide")
            else:
                self._hide(item, batch)

    def _goes_along(self, item: ItemFacts, observation: Observation, batch: Batch) -> bool:
        edge = batch.edge
        return self.along and edge is not None and item.sent and item.offset >= edge and not item.referenced

    def _slack(self, observation: Observation) -> int:
        """How many tokens may go beyond the aim because their place in the cache is lost anyway."""
        return int(0.2 * observation.target * cache_discount(observation)) if self.along else 0

    def _hide(self, item: ItemFacts, batch: Batch) -> None:
        if item.referenced >= self.fold_used and item.state == "full" and item.tokens > 2 * FOLDED_TOKENS:
            batch.add("fold", item, "large, and used before")
        else:
            batch.add("elide", item, "the least likely to be needed")


def _keeps_to_soft(observation: Observation) -> bool:
    """Whether a person said where to act; a threshold below what is fixed can't be kept by taking anything out, so it counts as none."""
    return observation.soft_given and observation.soft > observation.fixed


def cache_discount(observation: Observation) -> float:
    """What a cached read saves, as a share of the price of fresh input: 0.9 at a tenth, 0 with no cache or no known price."""
    prices = observation.prices
    if prices is None or prices.input <= 0 or observation.cold:
        return 0.0
    return min(1.0, max(0.0, 1 - prices.cache_read / prices.input))
