"""What a call may do without a person: rules, a reading of shell commands, and the hook that answers what is refused."""

from trimtab.coding.permissions.decide import Allow, Decision, Deny, Mode, Policy, decide
from trimtab.coding.permissions.grants import Grant, Granted
from trimtab.coding.permissions.hooks import PermissionHooks
from trimtab.coding.permissions.rules import Rule, Rules, parse_rule
from trimtab.coding.permissions.targets import redirect_targets

__all__ = [
    "Allow",
    "Decision",
    "Deny",
    "Grant",
    "Granted",
    "Mode",
    "PermissionHooks",
    "Policy",
    "Rule",
    "Rules",
    "decide",
    "parse_rule",
    "redirect_targets",
]
