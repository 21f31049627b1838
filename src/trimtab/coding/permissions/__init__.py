"""What a call may do: rules, a reading of shell commands, verdicts, and the hook that asks a person or answers what is refused."""

from trimtab.coding.permissions.decide import decide, judge
from trimtab.coding.permissions.grants import Grant, Granted
from trimtab.coding.permissions.hooks import PermissionHooks
from trimtab.coding.permissions.policy import Mode, Policy
from trimtab.coding.permissions.rules import Rule, Rules, parse_rule
from trimtab.coding.permissions.targets import redirect_targets
from trimtab.coding.permissions.verdicts import Allow, Ask, By, Decision, Deny, Judgement, Part

__all__ = [
    "Allow",
    "Ask",
    "By",
    "Decision",
    "Deny",
    "Grant",
    "Granted",
    "Judgement",
    "Mode",
    "Part",
    "PermissionHooks",
    "Policy",
    "Rule",
    "Rules",
    "decide",
    "judge",
    "parse_rule",
    "redirect_targets",
]
