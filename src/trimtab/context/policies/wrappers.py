"""Wrappers: what holds a policy back. Each stands around any policy, and the engine builds its own guards of them.

    Immune      pinned items, and what somebody just brought back, are left alone
    Cooldown    no kind of action again within N requests
    MinGain     no batch that takes out less than a share of the room
    CostGate    no batch that costs more in cache than it saves by the end of the session
    DryRun      nothing at all; the log says what would have been done

Over the hard limit only `Immune` and `DryRun` still hold: a full window is no time to save.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from trimtab.context.actions import Action
from trimtab.context.economics.break_even import pays
from trimtab.context.policies.base import Manners, Policy, decide_through
from trimtab.context.policies.weighing import named, weigh
from trimtab.context.seeing.observation import ItemFacts, Observation

_MARKS = frozenset({"pin", "unpin", "reload", "keep", "restate", "expire"})
"""Kinds that take nothing out; guards of cost don't concern them."""


@dataclass(frozen=True, slots=True)
class Immune:
    """Takes pinned items out of a policy's hands, and those that were brought back within `steps` requests."""

    inner: Policy
    steps: int = 5

    @property
    def name(self) -> str:
        """That of the inner policy."""
        return self.inner.name

    def keeps(self, observation: Observation, actions: Sequence[Action]) -> Sequence[Action]:
        """Return the actions without immune targets; one that loses all of them goes."""
        items = named(observation)
        kept: list[Action] = []
        for action in actions:
            if action.action in _MARKS or not action.targets:
                kept.append(action)
                continue
            targets = tuple(t for t in action.targets if not self._immune(items.get(t.partition("#")[0])))
            if targets:
                kept.append(action if targets == action.targets else replace(action, targets=targets))
        return kept

    def decide(self, observation: Observation) -> Sequence[Action]:
        """As the inner policy, without immune targets."""
        return decide_through(self, observation)

    def _immune(self, item: ItemFacts | None) -> bool:
        return item is not None and (item.pinned or (item.restored is not None and item.restored < self.steps))


@dataclass(frozen=True, slots=True)
class Cooldown:
    """Lets each kind of action happen once in `steps` requests."""

    inner: Policy
    steps: int = 2

    @property
    def name(self) -> str:
        """That of the inner policy."""
        return self.inner.name

    def keeps(self, observation: Observation, actions: Sequence[Action]) -> Sequence[Action]:
        """Return the actions whose kind has rested long enough."""
        if observation.used > observation.hard:
            return actions
        return [a for a in actions if observation.since.get(a.action, self.steps) >= self.steps]

    def decide(self, observation: Observation) -> Sequence[Action]:
        """As the inner policy, less what is too early."""
        return decide_through(self, observation)


@dataclass(frozen=True, slots=True)
class MinGain:
    """Lets a batch through that takes out `share` of the room, or that breaks no cached byte."""

    inner: Policy
    share: float = 0.05

    @property
    def name(self) -> str:
        """That of the inner policy."""
        return self.inner.name

    def keeps(self, observation: Observation, actions: Sequence[Action]) -> Sequence[Action]:
        """Return the batch whole, or only what takes nothing out."""
        if observation.used > observation.hard:
            return actions
        weight = weigh(actions, observation)
        if weight.gain >= self.share * observation.room or (weight.free and weight.gain > 0):
            return actions
        return [a for a in actions if a.action in _MARKS]

    def decide(self, observation: Observation) -> Sequence[Action]:
        """As the inner policy, less what is too little."""
        return decide_through(self, observation)


@dataclass(frozen=True, slots=True)
class CostGate:
    """Lets a batch through that pays: `gain × read × remaining > suffix × (write - read)`, the closed form of break-even.

    `remaining` replaces the observation's expectation of further requests. With no price known nothing is held back.
    """

    inner: Policy
    remaining: float | None = None

    @property
    def name(self) -> str:
        """That of the inner policy."""
        return self.inner.name

    def keeps(self, observation: Observation, actions: Sequence[Action]) -> Sequence[Action]:
        """Return the batch whole, or only what takes nothing out."""
        prices = observation.prices
        if prices is None or observation.used > observation.hard:
            return actions
        weight = weigh(actions, observation)
        left = observation.remaining if self.remaining is None else self.remaining
        if weight.free or pays(weight.gain, weight.suffix, prices.cache_read, prices.cache_write, left):
            return actions
        return [a for a in actions if a.action in _MARKS]

    def decide(self, observation: Observation) -> Sequence[Action]:
        """As the inner policy, less what doesn't pay."""
        return decide_through(self, observation)


@dataclass(frozen=True, slots=True)
class DryRun:
    """Does nothing. What the inner policy wants stands in the parameters of one `keep`, which the engine writes to the log."""

    inner: Policy
    manners: Manners = field(default=Manners(guarded=False))

    @property
    def name(self) -> str:
        """That of the inner policy, marked."""
        return f"dry-run:{self.inner.name}"

    def keeps(self, observation: Observation, actions: Sequence[Action]) -> Sequence[Action]:
        """Return one `keep` that says what would be done, or nothing when nothing would."""
        wanted = [action for action in actions if action.action != "keep"]
        if not wanted:
            return ()
        weight = weigh(wanted, observation)
        would = {
            "would": msgspec.json.decode(msgspec.json.encode(wanted)),
            "gain": weight.gain,
            "suffix": weight.suffix,
        }
        return (Action("keep", (), would, "dry run"),)

    def decide(self, observation: Observation) -> Sequence[Action]:
        """One `keep`, or nothing."""
        return decide_through(self, observation)
