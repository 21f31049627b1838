"""A policy that a program gives as an object or a function, in a session of the agent.

function ──policy_of──▶ Policy, asked at each step with what `ContextManager.observe` would give; one that fails gives way to the rules
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from trimtab.context.stores.log import SessionLog

if TYPE_CHECKING:
    from trimtab.context.embed.foreign import PolicyFunction
    from trimtab.context.engine import Engine
    from trimtab.context.policies.base import Policy
    from trimtab.context.seeing.observation import Observation

OwnPolicy: TypeAlias = "Policy | PolicyFunction"


def own_policy(policy: OwnPolicy, log: SessionLog, engine: "Callable[[], Engine]") -> "Policy":
    """The policy. `engine` gives the one that will ask it. Raises `UsageError` for what is none."""
    from trimtab.context.embed.foreign import policy_of  # noqa: PLC0415 - few programs bring one
    from trimtab.context.telling.layers import observed  # noqa: PLC0415 - as above

    def see(observation: "Observation") -> dict[str, Any]:
        return observed(log.snapshot(), observation, engine().budget)

    return policy_of(policy, see)


def require_policy(policy: OwnPolicy) -> None:
    """Raise `UsageError` for what is no policy."""
    from trimtab.context.embed.foreign import policy_of  # noqa: PLC0415 - as above

    policy_of(policy, lambda _observation: {})
