"""Credit: from rewards at the leaves of a tree of rollouts to an advantage for each row that is trained on.

    first rollouts ─▶ branching: where to sample again ─▶ growing: branches ─▶ tree: all rollouts of a query ─▶ advantage: a number for each row

Arithmetic on plain values: no network, no engine, no clock.
"""

from trimtab.lab.credit.advantage import Credit, CreditRule, RowCredit, credit
from trimtab.lab.credit.branching import BranchPoint, BranchRule, Turn, branch_points, merge, thin
from trimtab.lab.credit.tree import Leaf, MalformedTree, Row, Tree

__all__ = [
    "BranchPoint",
    "BranchRule",
    "Credit",
    "CreditRule",
    "Leaf",
    "MalformedTree",
    "Row",
    "RowCredit",
    "Tree",
    "Turn",
    "branch_points",
    "credit",
    "merge",
    "thin",
]
