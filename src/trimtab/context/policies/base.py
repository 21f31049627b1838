"""What a policy is."""

from collections.abc import Sequence
from typing import Protocol

from trimtab.context.actions import Action
from trimtab.context.observation import Observation


class Policy(Protocol):
    """Decides what to do about the context. Pure: the same observation gives the same actions."""

    @property
    def name(self) -> str:
        """What the log calls it."""
        ...

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return the actions wanted now, the most wanted first; none means: leave everything as it is."""
        ...
