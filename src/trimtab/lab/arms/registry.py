"""Arms by name: those of this lab, else any policy of the engine, with the parameters and wrappers that it may have.

"keep-all"   "lru"   "rules(left=0.3)"   "claude-code"   "cost-gate:mask"
"""

from collections.abc import Mapping

from trimtab.context.policies.peer_table import PEERS
from trimtab.context.policies.registry import find_policy
from trimtab.lab.arms.arm import Arm, ArmKind

OWN: Mapping[str, Arm] = {}
"""The arms that only the lab has."""
_PEERS = frozenset(row.name for row in PEERS)


def find_arm(spec: str) -> Arm:
    """Return the arm that `spec` names. Raises `UsageError` for one that isn't there."""
    if spec in OWN:
        return OWN[spec]
    policy = find_policy(spec)
    kind: ArmKind = "keep" if policy.name == "none" else "peer" if policy.name in _PEERS else "rule"
    return Arm(spec, kind, type(policy).__name__, lambda _: find_policy(spec))
