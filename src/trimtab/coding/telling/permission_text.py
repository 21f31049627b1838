"""Permissions in lines: what holds and in which order, and why a call runs, is asked about or is denied."""

from collections.abc import Sequence

from trimtab.coding.permissions.asking import visible
from trimtab.coding.permissions.policy import Policy
from trimtab.coding.permissions.rules import Rule
from trimtab.coding.permissions.verdicts import Allow, Ask, Decision, Deny, Judgement, outcome_of
from trimtab.coding.telling.tables import table

ORDER = (
    "a rule of permissions.deny, wherever it stands",
    "a rule of permissions.ask, wherever it stands; an answer in this session lifts it for the very call that it was about",
    "answers in this session",
    "rules of permissions.allow and tools.bash.allow, none of them a project's",
    "the mode",
)
"""What decides about a call; the first that speaks of it does. In mode plan, what allows is left out."""
_WORDS = {"allow": "runs unasked", "ask": "is asked about; without a person it is refused", "deny": "is denied"}


def policy_lines(policy: Policy) -> list[str]:
    """The mode, every rule with its place, and what wins."""
    rows = [(kind, rule) for kind, rules in _kinds(policy) for rule in rules]
    listed = table([(kind, visible(rule.text), visible(rule.origin)) for kind, rule in rows], None) if rows else []
    order = (f"  {number}. {what}" for number, what in enumerate(ORDER, 1))
    return [policy.by_mode.words, *(listed or ["no rules"]), "What decides, the first that speaks of a call:", *order]


def why_lines(what: str, judged: Judgement) -> list[str]:
    """What becomes of the call `what`, what decided about each part of it, and what would allow it."""
    outcome = outcome_of(judged.decision)
    rows = [(f"  {outcome_of(part.decision)}", visible(part.what), because(part.decision)) for part in judged.parts]
    lines = [f"{visible(what)}: {_WORDS[outcome]}", *(table(rows, None) if rows else [])]
    if isinstance(judged.decision, Ask) and judged.decision.by_rule:
        lines.append(visible(judged.decision.hint))
    elif isinstance(judged.decision, Ask):
        rules = ", ".join(f'"{rule}"' for rule in judged.decision.rules)
        either = f"permissions.allow = [{rules}], or " if rules else ""
        lines.append(visible(f"What would let it run unasked: {either}--permission full"))
    elif isinstance(judged.decision, Deny):
        lines.append(visible(judged.decision.hint))
    return lines


def because(decision: Decision) -> str:
    """What decided, and why, on one line."""
    return visible(decision.by.words if isinstance(decision, Allow) else f"{decision.reason}; {decision.by.words}")


def rule_rows(policy: Policy) -> dict[str, Sequence[dict[str, str]]]:
    """The rules, for programs."""
    return {kind: [{"rule": rule.text, "origin": rule.origin} for rule in rules] for kind, rules in _kinds(policy)}


def _kinds(policy: Policy) -> tuple[tuple[str, tuple[Rule, ...]], ...]:
    return ("deny", policy.rules.deny), ("ask", policy.rules.ask), ("allow", policy.rules.allow)
