"""Branching: several rollouts of one query, and more from where most hangs on what is done next, as one tree with a reward at each end.

    reader 1 … M ──play──▶ rollouts ──points──▶ where to go on differently ──resumed + another reader──▶ branches
                                └──────────────── each piece a row, each cut a node ───────────────────────────────▶ Tree[Piece]

Branches leave from cuts, so the prompt of a branch is the prompt of the piece that it answers otherwise, and credit by snapshot is exact. (The released code branches at any turn, and takes the cut
behind it for the node.) Where a provider gives no probabilities, a decision's uncertainty is unknown and only the change of the prompt ranks it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import anyio

from trimtab.lab.credit.branching import FIXED, BranchRule
from trimtab.lab.credit.growing import Grown, Start, leaving, points, tree_of
from trimtab.lab.credit.tree import Tree
from trimtab.lab.docqa.desk import Desk
from trimtab.lab.docqa.outcome import RELEASED, Terms, terminal_reward
from trimtab.lab.docqa.playing import NewDesk, Rollout, play, resumed
from trimtab.lab.export.piece import Piece, move_of
from trimtab.providers.provider import Provider

NewReader = Callable[[str], Provider]
"""Makes the reader of a rollout, by its name; readers of different names should read differently."""
Pieces: TypeAlias = tuple[Piece, ...]
"""The state in front of a cut: what was said up to there."""


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
    rollouts: list[Rollout] = []
    grown: list[Grown[Piece, Pieces]] = []

    async def play_all(starts: Iterable[Start[Pieces]]) -> None:
        places = [(start, desk) for start in starts if (desk := _desk_behind(new, start.before or ())) is not None]
        played = await _played([(desk, start.name) for start, desk in places], reader, at_once)
        rollouts.extend(played)
        grown.extend(_grown(rollout, start, terms) for rollout, (start, _) in zip(played, places, strict=True))

    await play_all(Start(f"r{n}") for n in range(first))
    where = points(grown, rule, seed=f"{query} {seed}")
    await play_all([leaving(grown, point, number) for number, point in enumerate(where)])
    return Explored(tuple(rollouts), tree_of(query, grown))


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


def _desk_behind(new: NewDesk, before: Pieces) -> Desk | None:
    """A desk at which these pieces were said again; None where they don't end with a cut there."""
    desk = resumed(new, [answer for piece in before for answer in piece.answers])
    return None if desk.done or desk.open_piece or len(desk.pieces) != len(before) else desk


def _grown(rollout: Rollout, start: Start[Pieces], terms: Terms) -> Grown[Piece, Pieces]:
    """The pieces that are a rollout's own, as decisions that may be made otherwise; not so the last one, which gives the answer."""
    pieces, behind = rollout.pieces, len(start.before or ())
    moves = tuple(
        move_of(piece, f"{rollout.name}.{cut}", pieces[: cut - 1], may_branch=cut < len(pieces) and not piece.forced)
        for cut, piece in enumerate(pieces, 1)
        if cut > behind
    )
    reward = None if rollout.outcome.ending == "provider" else terminal_reward(rollout.outcome, terms)
    return Grown(rollout.name, start.node, moves, reward)
