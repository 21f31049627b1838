"""A tree of rollouts of one query: states, the decisions between them, and a reward where a rollout ended.

    root ─row─▶ n1 ─row─▶ n2 ─row─▶ n3 ●      rollout a, sampled first
                 │         └──row─▶ n4 ●      rollout b, branched after the row to n2
                 └──row─▶ n5 ─row─▶ n6 ●      rollout c, branched before it

A node is a snapshot: the state before the decisions that leave it and after the one that led to it. So a row has the name of the node behind
it, and "branch before an action" and "branch after it" are the same thing at two nodes. A rollout owns the rows that it sampled itself; what
stands in front of its first row belongs to others. Rewards are kept apart from nodes, because several rollouts may end in one state, and one of
them may still go on from there.

The one rule: a tree is well formed after every call. What would break it is refused with an error that names it, and changes nothing.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from trimtab.types.errors import TrimtabError

ROOT = "root"
A = TypeVar("A")
"""Whatever stands for an action: the trainer's own record of it, or a word in a test."""


class MalformedTree(TrimtabError):
    """Rows or leaves that can't be part of one tree. `name` is the node or rollout that is wrong."""

    def __init__(self, message: str, *, name: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.name = name


class UnknownNode(MalformedTree):
    """A row or leaf hangs on a node that no row leads to."""


class DuplicateNode(MalformedTree):
    """Two rows lead to one node."""


class Cycle(MalformedTree):
    """Rows lead back to where they came from, so that no root is above them."""


class BrokenRollout(MalformedTree):
    """The rows of a rollout aren't one line, or go on behind its end."""


class BadNumber(MalformedTree):
    """A reward that isn't finite, or a log-probability that isn't one."""


@dataclass(frozen=True, slots=True)
class Row(Generic[A]):
    """A decision: at node `before` rollout `rollout` took `action`, which led to node `after`.

    `log_prob` is that of the action under the policy that sampled it; None where it isn't known. `forced`: not the policy's choice, but that of
    the ladder or of a harness.
    """

    before: str
    after: str
    rollout: str
    action: A
    log_prob: float | None = None
    forced: bool = False


@dataclass(frozen=True, slots=True)
class Leaf:
    """The end of a rollout, at `node`, with its reward."""

    rollout: str
    node: str
    reward: float


class Tree(Generic[A]):
    """The rollouts of one query. Grows row by row, in any order in which a node comes before what leaves it; `Tree.of` takes any order."""

    def __init__(self, query: str, *, root: str = ROOT) -> None:
        self.query = query
        self.root = root
        self._rows: dict[str, Row[A]] = {}
        self._leaving: dict[str, list[str]] = {root: []}
        self._heads: dict[str, str] = {}
        self._leaves: dict[str, Leaf] = {}
        self._ends: dict[str, list[Leaf]] = {root: []}

    @classmethod
    def of(cls, query: str, rows: Iterable[Row[A]], leaves: Iterable[Leaf], *, root: str = ROOT) -> "Tree[A]":
        """Build a tree of rows and leaves in any order, as they come back from several workers."""
        tree = cls(query, root=root)
        leaving: dict[str, list[Row[A]]] = {}
        after: set[str] = {root}
        for row in rows:
            if row.after in after:
                raise _duplicate(row.after)
            after.add(row.after)
            leaving.setdefault(row.before, []).append(row)
        waiting = [root]
        while waiting:
            for row in leaving.pop(waiting.pop(), ()):
                tree.grow(row)
                waiting.append(row.after)
        for before in leaving:
            if before not in after:
                raise _unknown(before)
        if leaving:
            name = min(leaving)
            raise Cycle(f"node {name!r} is not below the root {root!r}", name=name, hint="its rows lead back to it")
        for leaf in leaves:
            tree.finish(leaf)
        return tree

    def grow(self, row: Row[A]) -> None:
        """Add a decision. Its rollout either goes on from where it stands, or begins here: at the root, or as a branch at any other node."""
        self._known(row.before)
        if row.after in self._leaving:
            raise _duplicate(row.after)
        self._goes_on(row.rollout, row.before)
        if row.log_prob is not None and not (-math.inf < row.log_prob <= 0.0):
            raise BadNumber(
                f"the row to {row.after!r} has log-probability {row.log_prob}",
                name=row.after,
                hint="it must be finite and at most 0",
            )
        self._rows[row.after] = row
        self._leaving[row.before].append(row.after)
        self._leaving[row.after] = []
        self._ends[row.after] = []
        self._heads[row.rollout] = row.after

    def finish(self, leaf: Leaf) -> None:
        """End a rollout where it stands. A rollout without rows of its own may end at any node: a branch that decided nothing more."""
        self._known(leaf.node)
        self._goes_on(leaf.rollout, leaf.node)
        if not math.isfinite(leaf.reward):
            raise BadNumber(f"rollout {leaf.rollout!r} has reward {leaf.reward}", name=leaf.rollout)
        self._leaves[leaf.rollout] = leaf
        for node in self.prefix(leaf.node):
            self._ends[node].append(leaf)

    def _known(self, node: str) -> None:
        if node not in self._leaving:
            raise _unknown(node)

    def _goes_on(self, rollout: str, node: str) -> None:
        if rollout in self._leaves:
            raise BrokenRollout(f"rollout {rollout!r} has already ended", name=rollout)
        head = self._heads.get(rollout, node)
        if head != node:
            raise BrokenRollout(
                f"rollout {rollout!r} stands at {head!r}, not at {node!r}",
                name=rollout,
                hint="a branch is a new rollout",
            )

    @property
    def rows(self) -> tuple[Row[A], ...]:
        """All rows, in the order in which they were added."""
        return tuple(self._rows.values())

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """All ends, in the order in which they were added."""
        return tuple(self._leaves.values())

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Rollouts that have rows but no end: they were broken off, or still run."""
        return tuple(rollout for rollout in self._heads if rollout not in self._leaves)

    def row_to(self, node: str) -> Row[A] | None:
        """The row that leads to `node`; None at the root."""
        self._known(node)
        return self._rows.get(node)

    def leaving(self, node: str) -> tuple[Row[A], ...]:
        """The rows that leave `node`: siblings."""
        self._known(node)
        return tuple(self._rows[after] for after in self._leaving[node])

    def leaf_of(self, rollout: str) -> Leaf | None:
        """The end of a rollout; None while it has none."""
        return self._leaves.get(rollout)

    def prefix(self, node: str) -> tuple[str, ...]:
        """The nodes from the root to `node`, both included: what a terminal at `node` votes for."""
        self._known(node)
        return tuple(self._upwards(node))[::-1]

    def _upwards(self, node: str) -> Iterator[str]:
        yield node
        while node != self.root:
            node = self._rows[node].before
            yield node

    def ends(self, node: str) -> tuple[Leaf, ...]:
        """The ends at `node` or below it: those that vote for it, in the order in which they were added."""
        self._known(node)
        return tuple(self._ends[node])

    def votes(self, node: str) -> int:
        """How many ends stand at `node` or below it: n_S."""
        self._known(node)
        return len(self._ends[node])

    def value(self, node: str) -> float | None:
        """R(S): the mean reward of all ends at `node` or below it, each with one vote; None where there are none.

        Summed without rounding, so that it doesn't depend on the order in which the tree grew.
        """
        self._known(node)
        ends = self._ends[node]
        return math.fsum(leaf.reward for leaf in ends) / len(ends) if ends else None


def _unknown(node: str) -> UnknownNode:
    return UnknownNode(f"no row leads to node {node!r}", name=node, hint="add the row that leads to it first")


def _duplicate(node: str) -> DuplicateNode:
    return DuplicateNode(
        f"a row already leads to node {node!r}", name=node, hint="give each snapshot a name of its own"
    )
