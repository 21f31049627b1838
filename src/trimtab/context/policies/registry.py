"""Policies by name."""

from trimtab.context.policies.base import Policy
from trimtab.context.policies.none import NoPolicy
from trimtab.context.policies.rules import Rules
from trimtab.types.errors import UsageError


def find_policy(name: str) -> Policy:
    """Return the policy of that name. Raises `UsageError` when there is none."""
    if name == "none":
        return NoPolicy()
    if name == "rules":
        return Rules()
    raise UsageError(f"there is no policy {name!r}", hint="Policies: none, rules.")
