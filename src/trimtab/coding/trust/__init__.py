"""Trust: nothing of a project's acts before a person said so; what belongs to the project, who was asked, and what was answered."""

from trimtab.coding.trust.answers import ANSWERS, TrustAnswer
from trimtab.coding.trust.decide import TrustDecision, decide, stored_answer
from trimtab.coding.trust.inputs import Input, project_inputs
from trimtab.coding.trust.own import is_own, own_path
from trimtab.coding.trust.place import project_root

__all__ = [
    "ANSWERS",
    "Input",
    "TrustAnswer",
    "TrustDecision",
    "decide",
    "is_own",
    "own_path",
    "project_inputs",
    "project_root",
    "stored_answer",
]
