"""`mask`: only the last K results stay in full.

Sliding (`batch = 1`) it hides one result with every new one, which breaks the cache at every request: at a cached read of a tenth of the price it costs
about twice what doing nothing costs. In batches it costs about 0.8 of it, on the same workload.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.actions import Action
from trimtab.context.cycle.ladder import LARGE, touchable
from trimtab.context.policies.base import Manners
from trimtab.context.seeing.observation import Observation


@dataclass(frozen=True, slots=True)
class Mask:
    """Hides all results but the last `keep`, once `batch` of them are due. `always`: below the soft threshold too.

    Results of fewer than `least` tokens are not worth a stub.
    """

    keep: int = 10
    batch: int = 10
    least: int = LARGE // 4
    always: bool = False
    name: str = "mask"

    @property
    def manners(self) -> Manners:
        """A baseline: unheld."""
        return Manners(guarded=False, early=self.always)

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return one action for everything that is due, or nothing."""
        if observation.used < observation.soft and not self.always:
            return ()
        results = [item for item in observation.items if item.kind == "result" and item.state != "gone"]
        old = results[: max(0, len(results) - self.keep)]
        due = [i for i in old if i.state in ("full", "folded") and i.tokens > self.least and touchable(i)]
        if not due or len(due) < self.batch:
            return ()
        last = "result" if self.keep == 1 else f"{self.keep} results"
        return (Action("elide", tuple(item.id for item in due), reason=f"older than the last {last}"),)
