"""`summary`: nothing happens until the window is nearly full; then a summary takes the place of all but the end."""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.actions import Action
from trimtab.context.policies.base import Manners
from trimtab.context.seeing.observation import Observation


@dataclass(frozen=True, slots=True)
class SummaryPolicy:
    """Compacts at `at` (a share of the hard limit) and keeps `keep_tokens` of the end, but no more than `keep_share` of the target's room."""

    at: float = 0.95
    keep_tokens: int = 20_000
    keep_share: float = 0.5
    name: str = "summary"

    @property
    def manners(self) -> Manners:
        """A baseline: unheld."""
        return Manners(guarded=False)

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return one compaction, or nothing."""
        if observation.used < max(observation.soft, self.at * observation.hard):
            return ()
        room = max(0, observation.target - observation.fixed)
        keep = min(self.keep_tokens, int(self.keep_share * room))
        return (Action("compact", (), {"keep_tokens": keep}, "the window is nearly full"),)
