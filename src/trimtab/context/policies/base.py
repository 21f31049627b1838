"""What a policy is, and what stands around one.

    observation ──inner.decide──▶ actions ──keeps──▶ actions        a wrapper
                     └ or an answer from elsewhere, for a policy behind a URL

What a wrapper does is a function of its own, so that it also stands around a policy whose `decide` nobody can call in between.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from trimtab.context.actions import Action
from trimtab.context.seeing.observation import Observation


class Policy(Protocol):
    """Decides what to do about the context. Pure: the same observation gives the same actions."""

    @property
    def name(self) -> str:
        """What the log calls it."""
        ...

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return the actions wanted now, the most wanted first; none means: leave everything as it is."""
        ...


class ByRules(tuple[Action, ...]):
    """What a policy wants that leaves a decision to the rules, since it can't know: their actions, told apart from its own for whoever counts."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Manners:
    """How an engine treats a policy.

    `guarded`: cooldown, minimum gain and the bill hold it back; baselines and peers do what they do unheld, or a comparison would be of our
    guards. `early`: it is asked below the soft threshold too. Pins, the validator and the ladder hold for everybody.
    """

    guarded: bool = True
    early: bool = False


@runtime_checkable
class Wrapper(Protocol):
    """A policy around another one."""

    @property
    def inner(self) -> Policy:
        """The policy that decides."""
        ...

    def keeps(self, observation: Observation, actions: Sequence[Action]) -> Sequence[Action]:
        """Return what of the inner policy's actions goes on."""
        ...


@runtime_checkable
class Requiring(Protocol):
    """A policy, or a wrapper, that decides by something that may not be there."""

    def require(self) -> None:
        """Raise `UsageError` when it isn't."""
        ...


def manners_of(policy: Policy) -> Manners:
    """Return how `policy` wants to be treated; a wrapper is treated as what it stands around unless it says otherwise."""
    manners = getattr(policy, "manners", None)
    if isinstance(manners, Manners):
        return manners
    return manners_of(policy.inner) if isinstance(policy, Wrapper) else Manners()


def unwrap(policy: Policy) -> tuple[Policy, tuple[Wrapper, ...]]:
    """Return the policy in the middle and the wrappers around it, the innermost first. Wrappers of others are left whole."""
    around: list[Wrapper] = []
    while isinstance(policy, Wrapper) and type(policy).__module__.startswith("trimtab."):
        around.append(policy)
        policy = policy.inner
    return policy, tuple(reversed(around))


def require_ready(policy: Policy) -> None:
    """Raise `UsageError` when what `policy` decides by isn't there: who begins with it is to know now, and not from a log at the first decision."""
    core, around = unwrap(policy)
    for one in (core, *around):
        if isinstance(one, Requiring) and type(one).__module__.startswith("trimtab."):
            one.require()


def decide_through(wrapper: Wrapper, observation: Observation) -> Sequence[Action]:
    """The `decide` of every wrapper."""
    wanted = wrapper.inner.decide(observation)
    kept = wrapper.keeps(observation, wanted)
    return ByRules(kept) if isinstance(wanted, ByRules) else kept
