"""`none`: nothing is ever changed. The engine turns the ladder off as well, and a full window ends the turn with an error."""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.actions import Action
from trimtab.context.seeing.observation import Observation


@dataclass(frozen=True, slots=True)
class NoPolicy:
    """Leaves everything as it is."""

    name: str = "none"

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return nothing."""
        return ()
