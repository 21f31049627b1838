"""Trees of rollouts: small ones spelt out, and random ones with branches of branches."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from hypothesis import strategies as st

from trimtab.lab.credit.tree import Leaf, Row, Tree


@dataclass(frozen=True)
class Grown:
    """Rows and leaves in an order in which they can be added."""

    rows: tuple[Row[str], ...]
    leaves: tuple[Leaf, ...]

    @property
    def tree(self) -> Tree[str]:
        return Tree.of("q", self.rows, self.leaves)


def rollout(name: str, nodes: str, reward: float | None, *, start: str = "root", forced: str = "") -> Grown:
    """A rollout over nodes that are one letter each. `forced` lists those whose row was forced."""
    path = (start, *nodes)
    rows = tuple(Row(before, after, name, f"to {after}", -0.5, after in forced) for before, after in pairwise(path))
    return Grown(rows, () if reward is None else (Leaf(name, path[-1], reward),))


def grow(*rollouts: Grown) -> Tree[str]:
    tree = Tree[str]("q")
    for grown in rollouts:
        for row in grown.rows:
            tree.grow(row)
        for leaf in grown.leaves:
            tree.finish(leaf)
    return tree


rewards = st.floats(-2, 2).map(lambda value: round(value, 3))


@st.composite
def grown_trees(draw: st.DrawFn, *, least: int = 1, finished: bool = False) -> Grown:
    """Any tree: each rollout starts at the root or at any node that is there, of a branch of a branch too; some are broken off."""
    nodes = ["root"]
    rows: list[Row[str]] = []
    leaves: list[Leaf] = []
    for number in range(draw(st.integers(least, 7))):
        at = draw(st.sampled_from(nodes)) if number else "root"
        for _ in range(draw(st.integers(0, 4))):
            after = f"n{len(nodes)}"
            rows.append(
                Row(at, after, f"r{number}", "act", draw(st.sampled_from([None, -1.0, 0.0])), draw(st.booleans()))
            )
            nodes.append(after)
            at = after
        if finished or draw(st.integers(0, 4)):
            leaves.append(Leaf(f"r{number}", at, draw(rewards)))
    return Grown(tuple(rows), tuple(leaves))


def below(rows: Sequence[Row[str]], node: str) -> set[str]:
    """A node and all nodes under it, by following every row again and again."""
    found = {node}
    while True:
        more = {row.after for row in rows if row.before in found} - found
        if not more:
            return found
        found |= more
