"""Shadow: one policy decides, another is asked what it would have done, and the log keeps both. For trying a policy on real work at no risk.

    observation ──inner──▶ actions ──────────────────────────────▶ done
              └──policy──▶ actions ──"would", beside "did"──▶ log

It is asked only where the inner policy is, through the door that stands in front of any policy, so what it throws stays there and is told as what it would have done.
Nothing is logged where neither wants anything, nor again while both want the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from trimtab.context.actions import Action
from trimtab.context.policies.base import Policy, decide_through, require_ready
from trimtab.context.policies.weighing import weigh
from trimtab.context.seeing.observation import Observation

SHADOW = "shadow"
"""The reason of the `keep` that says what would have been done; the event that the log calls it."""


@dataclass(frozen=True, slots=True)
class Shadow:
    """Does what the inner policy wants. `policy` names the one that is only asked."""

    inner: Policy
    policy: str = "learned"

    @property
    def name(self) -> str:
        """That of the inner policy: it is what decides."""
        return self.inner.name

    def keeps(self, observation: Observation, actions: Sequence[Action]) -> Sequence[Action]:
        """Return the actions as they are, and behind them one `keep` that says what the other policy would have done."""
        told = self._told(observation, actions)
        return actions if told is None else (*actions, told)

    def decide(self, observation: Observation) -> Sequence[Action]:
        """As the inner policy, with that `keep`."""
        return decide_through(self, observation)

    def require(self) -> None:
        """Ask of the other policy what is asked of any that decides. Raises `UsageError`."""
        from trimtab.context.policies.registry import find_policy  # noqa: PLC0415 - it knows wrappers

        require_ready(find_policy(self.policy))

    def _told(self, observation: Observation, actions: Sequence[Action]) -> Action | None:
        from trimtab.context.policies.fallback import Fallback  # noqa: PLC0415 - it knows wrappers
        from trimtab.context.policies.registry import find_policy  # noqa: PLC0415 - likewise

        verdict = Fallback(find_policy(self.policy)).ask(observation)
        would = [action for action in verdict.actions if action.action != "keep"]
        did = [action for action in actions if action.action != "keep"]
        if not (would or did):
            return None
        weight = weigh(would, observation)
        params = {
            "by": verdict.by
            if verdict.problem is None
            else f"{verdict.by}, since {self.policy} failed: {verdict.problem}",
            "would": msgspec.json.decode(msgspec.json.encode(would)),
            "did": msgspec.json.decode(msgspec.json.encode(did)),
            "gain": weight.gain,
            "suffix": weight.suffix,
        }
        return Action("keep", (), params, SHADOW)
