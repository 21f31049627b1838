"""`clear`: past a trigger old results go, if enough of them go at once; what a provider's context editing does, with its three figures as shares of the window."""

from dataclasses import dataclass

from trimtab.context.policies.base import Policy
from trimtab.context.policies.peer import SCALE, Clear, Level, Peer
from trimtab.lab.env.story import Story


@dataclass(frozen=True, slots=True)
class ThresholdClear:
    """Past `trigger` of the window all results but the last `keep` go, if that takes out `least` of the window."""

    trigger: float = 0.5
    keep: int = 3
    least: float = 0.1

    def of(self, story: Story) -> Policy:
        """The same for every story."""
        rule = Clear(above=Level(share=self.trigger), keep_results=self.keep, at_least=int(self.least * SCALE))
        return Peer(clear=(rule,), scaled=True, name="clear")
