"""`ladder`: nobody decides, and the engine's ladder does what has to be done. What a rule wins over this, it wins by acting before it must.

An arm that hardly acts is this one under another name, since the ladder stands behind every arm but the one that keeps everything.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.actions import Action
from trimtab.context.policies.base import Manners
from trimtab.context.seeing.observation import Observation


@dataclass(frozen=True, slots=True)
class LadderOnly:
    """Wants nothing."""

    name: str = "ladder"

    @property
    def manners(self) -> Manners:
        """Unheld; it isn't asked before it could matter."""
        return Manners(guarded=False)

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return nothing."""
        return ()
