"""What of a command line rules of `permissions.ask` hold for a person, in every mode and whatever allows it.

    script ─▶ its commands, in every guise that `denials` knows ─┐
           └▶ the files that it redirects into ──────────────────┴─▶ a rule of ask that fits ─▶ Ask, by that rule

The one rule: of what a person answered in this session only an answer about the very command, word for word, lifts a rule. One about more (`bash(git)`) was
given with other things in sight.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from trimtab.coding.permissions.denials import denied
from trimtab.coding.permissions.offers import word_for_word
from trimtab.coding.permissions.places import asked_by, asking_about
from trimtab.coding.permissions.policy import Paths, Policy
from trimtab.coding.permissions.rules import Rule
from trimtab.coding.permissions.shell import Command
from trimtab.coding.permissions.targets import redirect_targets
from trimtab.coding.permissions.verdicts import Ask


@dataclass(frozen=True, slots=True)
class Held:
    """The rules of ask about commands, the answers that lift some, and the redirections that are held, as written."""

    rules: tuple[Rule, ...]
    answers: frozenset[str]
    targets: Mapping[str, Ask]

    @classmethod
    def by(cls, script: str, policy: Policy, paths: Paths) -> "Held":
        """What the policy holds of `script`."""
        rules = tuple(rule for rule in policy.rules.ask if rule.is_about("bash"))
        answers = frozenset(rule.text for rule in policy.rules.allow if rule.answer)
        return cls(rules, answers, dict(_targets(script, policy, paths)) if policy.rules.ask else {})

    def __bool__(self) -> bool:
        return bool(self.rules or self.targets)

    def command(self, command: Command) -> Ask | None:
        """The question about a command, with what it carries; None when no rule holds it. Raises `Unclear` for a script inside that can't be read."""
        rule = next((rule for rule in self.rules if rule.argument is None), None)
        if rule is None and self.rules and (found := denied((command,), self.rules)):
            rule = found[1]
        words = "" if command.assigns else word_for_word(command.words)
        wanted = f"bash({words})" if words else ""
        return None if rule is None or wanted in self.answers else asked_by(rule, wanted)


def _targets(script: str, policy: Policy, paths: Paths) -> list[tuple[str, Ask]]:
    """A redirection is an edit of its file."""
    found = ((target, paths.of_shell(target)) for target in redirect_targets(script))
    rules = ((target, asking_about(path, policy)) for target, path in found if path)
    return [(target, asked_by(rule)) for target, rule in rules if rule]
