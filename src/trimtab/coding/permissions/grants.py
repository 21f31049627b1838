"""What is allowed beside the settings for a while: a skill that was loaded names the tools that it needs.

A grant never goes beyond a rule that denies or asks, never changes mode `plan`, and never lets more files be edited than `auto-edit` does. What a project's
skills grant holds only where a person doesn't want to be asked: not in `ask`, but for edits of the project itself.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from trimtab.coding.permissions.policy import Policy
from trimtab.coding.permissions.rules import Rule


@dataclass(frozen=True, slots=True)
class Grant:
    """Rules that allow, none of them for `edit` or `write`: `rules` by the person's own skills, `project_rules` by those of the project.

    `edits`: files of the project may be edited as in `auto-edit`.
    """

    rules: tuple[Rule, ...] = ()
    project_rules: tuple[Rule, ...] = ()
    edits: bool = False

    def __add__(self, other: "Grant") -> "Grant":
        return Grant(
            (*self.rules, *other.rules), (*self.project_rules, *other.project_rules), self.edits or other.edits
        )


Granted: TypeAlias = Callable[[], Grant]
"""What is granted at this moment."""


def nothing() -> Grant:
    """No grant."""
    return Grant()


def with_grant(policy: Policy, grant: Grant) -> Policy:
    """The policy with what is granted."""
    if policy.mode == "plan" or grant == Grant():
        return policy
    asks = policy.mode == "ask"
    lent = (*grant.rules, *(() if asks else grant.project_rules))
    rules = (
        *policy.rules.allow,
        *(replace(rule, of_project=True) for rule in lent),
    )  # no grant opens a place that is kept apart
    mode = "auto-edit" if grant.edits and asks else policy.mode
    return replace(policy, mode=mode, rules=replace(policy.rules, allow=rules))
