"""Growing: the first rollouts of a query, others that leave them where much hangs on a decision, and the one tree that all of them are.

    Start ──played──▶ Grown        first ones ──points──▶ branch points ──leaving──▶ Starts of branches        all ──tree_of──▶ Tree

Whatever can go on from a state that it was in grows like this: a story that a policy decides about, a query that a model works on. How it is played, and whether that waits for anybody, is the
business of whoever grows it.

The one rule: a branch starts in front of a decision of one of the first rollouts, in the very state that this decision found.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from trimtab.lab.credit.branching import BranchPoint, BranchRule, Turn, branch_points
from trimtab.lab.credit.tree import ROOT, Leaf, Row, Tree

A = TypeVar("A")
S = TypeVar("S")
"""A state to go on from."""


@dataclass(frozen=True, slots=True)
class Start(Generic[S]):
    """Where the rollout of this name starts: at a node, in a state; None: at the beginning."""

    name: str
    node: str = ROOT
    before: S | None = None


@dataclass(frozen=True, slots=True)
class Move(Generic[A, S]):
    """A decision: the state `before` it, how it ranks among those to branch at, and what its row in the tree holds."""

    before: S
    turn: Turn
    decided: A
    log_prob: float | None = None
    forced: bool = False


@dataclass(frozen=True, slots=True)
class Grown(Generic[A, S]):
    """A rollout from the node `start` on, with the decisions that are its own. `reward`: at its end; None where it has no end."""

    name: str
    start: str
    moves: tuple[Move[A, S], ...]
    reward: float | None

    def node(self, at: int) -> str:
        """The node in front of decision `at`."""
        return self.moves[at - 1].turn.row if at else self.start


def points(
    first: Sequence[Grown[Any, Any]], rule: BranchRule, *, seed: str, kept: int | None = None
) -> tuple[BranchPoint, ...]:
    """Return where to branch off the first rollouts. `kept`: their rows that count against the budget; by default all."""
    turns = {grown.name: [move.turn for move in grown.moves] for grown in first}
    return branch_points(turns, sum(map(len, turns.values())) if kept is None else kept, rule, seed=seed)


def leaving(first: Sequence[Grown[Any, S]], point: BranchPoint, number: int) -> Start[S]:
    """Return where the branch of that number starts. What follows after a decision begins in front of the next one."""
    parent = next(grown for grown in first if grown.name == point.rollout)
    at = point.step + (point.where == "after")
    return Start(f"b{number}", parent.node(at), parent.moves[at].before)


def tree_of(query: str, rollouts: Iterable[Grown[A, Any]]) -> Tree[A]:
    """Return the tree of rollouts, of which those that others leave come before these."""
    tree = Tree[A](query)
    for grown in rollouts:
        for at, move in enumerate(grown.moves):
            row = Row(grown.node(at), move.turn.row, grown.name, move.decided, move.log_prob, move.forced)
            tree.grow(row)
        if grown.reward is not None:
            tree.finish(Leaf(grown.name, grown.node(len(grown.moves)), grown.reward))
    return tree
