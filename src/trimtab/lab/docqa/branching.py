"""Branching: several rollouts of one query, and more from where most hangs on what is done next, as one tree with a reward at each end.

    reader 1 … M ──play──▶ rollouts ──branch_points──▶ where to go on differently ──resumed + another reader──▶ branches
                                └──────────────── each piece a row, each cut a node ───────────────────────────────▶ Tree[Piece]

Branches leave from cuts, so the prompt of a branch is the prompt of the piece that it answers otherwise, and credit by snapshot is exact. (The released code branches at any turn, and takes the cut
behind it for the node.) Where a provider gives no probabilities, a decision's uncertainty is unknown and only the change of the prompt ranks it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import anyio

from trimtab.lab.credit.branching import FIXED, BranchRule, Turn, branch_points
from trimtab.lab.credit.tree import Leaf, Row, Tree
from trimtab.lab.docqa.desk import Desk
from trimtab.lab.docqa.outcome import RELEASED, Terms, terminal_reward
from trimtab.lab.docqa.playing import NewDesk, Rollout, play, resumed
from trimtab.lab.export.piece import Piece
from trimtab.providers.provider import Provider

NewReader = Callable[[str], Provider]
"""Makes the reader of a rollout, by its name; readers of different names should read differently."""


@dataclass(frozen=True, slots=True)
class Explored:
    """What came of a query: all rollouts, the first ones before their branches, and their tree."""

    rollouts: tuple[Rollout, ...]
    tree: Tree[Piece]


async def explore(
    new: NewDesk,
    reader: NewReader,
    *,
    first: int = 8,
    rule: BranchRule = FIXED,
    terms: Terms = RELEASED,
    seed: str = "",
    at_once: int = 1,
) -> Explored:
    """Play a query `first` times and branch as `rule` says, at most `at_once` rollouts at the same time. `new` makes its desk; the desk of a branch is led to its place by giving the answers again.

    A rollout whose model couldn't be asked any more has no end, and rows that lead to no end get no credit.
    """
    query = new().query.name
    tree = Tree[Piece](query)
    rollouts = await _played([(new(), f"r{n}") for n in range(first)], reader, at_once)
    for rollout in rollouts:
        _grow(tree, rollout, tree.root, rollout.pieces, terms)
    turns = {rollout.name: _turns(rollout) for rollout in rollouts}
    by_name = {rollout.name: rollout for rollout in rollouts}
    points = branch_points(turns, sum(map(len, turns.values())), rule, seed=f"{query} {seed}")
    starts: dict[str, tuple[Rollout, int]] = {}
    desks: list[tuple[Desk, str]] = []
    for number, point in enumerate(points):
        parent, start = by_name[point.rollout], point.step + (point.where == "after")
        desk = resumed(new, parent.answers[: _answered(parent, start)])
        if _stands(desk, parent, start):
            starts[f"b{number}"] = parent, start
            desks.append((desk, f"b{number}"))
    for branch in await _played(desks, reader, at_once):
        parent, start = starts[branch.name]
        rollouts.append(branch)
        _grow(tree, branch, _node(parent.name, start, tree.root), branch.pieces[start:], terms)
    return Explored(tuple(rollouts), tree)


async def _played(desks: Sequence[tuple[Desk, str]], reader: NewReader, at_once: int) -> list[Rollout]:
    """Play desks to their ends, each under its name; in their order, whichever is ready first."""
    done: dict[str, Rollout] = {}
    room = anyio.CapacityLimiter(at_once)

    async def one(desk: Desk, name: str) -> None:
        async with room:
            done[name] = await play(desk, reader(name), name=name)

    async with anyio.create_task_group() as group:
        for desk, name in desks:
            group.start_soon(one, desk, name)
    return [done[name] for _, name in desks]


def _stands(desk: Desk, parent: Rollout, start: int) -> bool:
    """Whether a desk is where the piece `start` of its parent began."""
    return not desk.done and len(desk.pieces) == start and not desk.open_piece and start <= len(parent.pieces)


def _answered(rollout: Rollout, start: int) -> int:
    """How many answers stand in front of a piece."""
    return sum(len(piece.answers) for piece in rollout.pieces[:start])


def _node(rollout: str, cut: int, root: str) -> str:
    return f"{rollout}.{cut}" if cut else root


def _grow(tree: Tree[Piece], rollout: Rollout, before: str, pieces: Sequence[Piece], terms: Terms) -> None:
    """Add the pieces that are a rollout's own, and its end."""
    cut = len(rollout.pieces) - len(pieces)
    for piece in pieces:
        cut += 1
        after = f"{rollout.name}.{cut}"
        tree.grow(Row(before, after, rollout.name, piece, piece.log_prob, piece.forced))
        before = after
    if rollout.outcome.ending != "provider":
        tree.finish(Leaf(rollout.name, before, terminal_reward(rollout.outcome, terms)))


def _turns(rollout: Rollout) -> list[Turn]:
    """The pieces as decisions that may be made otherwise. The last one isn't, where it only gives the answer."""
    last = len(rollout.pieces)
    return [
        Turn(
            f"{rollout.name}.{number}",
            max(1, piece.tokens),
            piece.tokens_after or piece.tokens,
            piece.entropy or 0.0,
            may_branch=number < last and not piece.forced,
        )
        for number, piece in enumerate(rollout.pieces, 1)
    ]
