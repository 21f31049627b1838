"""The outgoing validator: no request leaves with a broken pair, changed thinking, a refused picture or too many tokens. Repairs are in `mend`, which few requests need."""

from trimtab.context.validate.check import validate
from trimtab.context.validate.media import after_refusal, without_pictures
from trimtab.context.validate.problems import KINDS, Problem, ProblemKind
from trimtab.context.validate.rules import WireRules, plain, rules_for
from trimtab.context.validate.thinking import current_loop_start, droppable_thinking, frozen_answers

__all__ = [
    "KINDS",
    "Problem",
    "ProblemKind",
    "WireRules",
    "after_refusal",
    "current_loop_start",
    "droppable_thinking",
    "frozen_answers",
    "plain",
    "rules_for",
    "validate",
    "without_pictures",
]
