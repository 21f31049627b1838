"""`rules`, the default: the steps of the ladder, taken early enough that only what pays is taken.

From the soft threshold on it proposes what brings the request down to the target: what is stale, then large arguments, then results by how
likely they are needed again. The gate decides whether the batch pays at these prices; if it doesn't, the same is proposed again
before the next request.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.actions import Action
from trimtab.context.ladder import FOLDED_TOKENS, STEPS, STUB_TOKENS
from trimtab.context.observation import Observation

_TAKEN = ("dedupe", "offload", "elide", "digest")


@dataclass(frozen=True, slots=True)
class Rules:
    """Takes the ladder's cheap steps in one batch. `steps` are their names, in order."""

    steps: tuple[str, ...] = _TAKEN
    name: str = "rules"

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return the batch that brings the request to its target."""
        need = observation.used - observation.target
        known = {step.name: step for step in STEPS}
        sizes = {item.id: item for item in observation.items}
        actions: list[Action] = []
        taken: set[str] = set()
        for name in self.steps:
            if need <= 0 or (name == "digest" and need < observation.target // 4):
                break
            for action in known[name].propose(observation, need):
                targets = tuple(target for target in action.targets if target not in taken)
                if action.targets and not targets:
                    continue
                taken.update(targets)
                actions.append(Action(action.action, targets, action.params, action.reason))
                for target in targets:
                    item = sizes[target]
                    left = FOLDED_TOKENS if action.action == "fold" else STUB_TOKENS
                    size = item.arguments if action.action == "offload" else item.tokens
                    need -= max(0, size - left)
        return actions
