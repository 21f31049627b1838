"""Context-aware partial rollout: at which decisions of a query's first rollouts another continuation is sampled.

    rollouts of one query ─▶ each decision: ΔC, ΔH ─▶ S = α·ΔC + β·ΔH ─▶ rank over all rollouts ─▶ branch points ─▶ rows to train on

    ΔC = |L(c_{t+1}) − L(c_t)| / L(c_t)    L: length of the rendered prompt before the action and after its observation
    ΔH = U_{t+1} − U_0                     U: uncertainty of the next decision, against the rollout's first one (not the one before)

Source: ContextPilot (arXiv 2608.28476) and its code, as far as they differ: the paper takes the N − M best of N rows to train on and M that the first rollouts
gave, the code a fifth of that, since a branch gives about five rows. What is known to be weak about it is repaired by options of `BranchRule`; `PAPER`, `CODE`
and `FIXED` are the three sets of them.

The one rule: the same rollouts, rule and seed give the same branch points, whatever order the rollouts come in. Ties go to the earlier step, then to the
rollout's name.
"""

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from trimtab.types.errors import TrimtabError

Where = Literal["before", "after"]
Choice = Literal["ranked", "random"]


class BadTurn(TrimtabError):
    """A decision whose figures can't be ranked. `row` names it."""

    def __init__(self, message: str, *, row: str) -> None:
        super().__init__(message)
        self.row = row


@dataclass(frozen=True, slots=True)
class Turn:
    """One decision of a rollout. `row` is its name in the tree: the node behind it.

    `tokens_before` and `tokens_after`: the rendered prompt before the action and after its observation. `uncertainty`: U of this decision, on any one scale.
    `may_branch`: it can be sampled again; not so the last answer.
    """

    row: str
    tokens_before: int
    tokens_after: int
    uncertainty: float
    may_branch: bool = True


@dataclass(frozen=True, slots=True)
class BranchRule:
    """How branch points are chosen.

    `budget`: rows of a query, N. `rows_per_branch`: what a continuation is expected to give; 1 in the paper, 5 in the code. `scaled`: ΔC and ΔH are made
    z-scores over the query's candidates before they are added, since their spreads have nothing to do with each other. `entropy`: whether ΔH takes the
    decision behind the action or (`before`) the action's own, which no outcome has selected. `random_share`: this share of the continuations is drawn
    evenly from all other decisions; 1: all of them, the arm without ranking. `where`: another action in the same state (before), another future of the same action
    (after), or both, each being one continuation. `per_rollout`: at most so many decisions of one rollout; None: no limit.
    """

    budget: int = 128
    rows_per_branch: int = 1
    alpha: float = 1.0
    beta: float = 1.0
    scaled: bool = False
    entropy: Literal["after", "before"] = "after"
    random_share: float = 0.0
    where: Literal["before", "after", "both"] = "before"
    per_rollout: int | None = None


PAPER = BranchRule()
CODE = BranchRule(rows_per_branch=5)
FIXED = BranchRule(rows_per_branch=5, scaled=True, entropy="before", random_share=0.25, where="both", per_rollout=8)
"""With the repairs that are about branching. A quarter at random keeps the choice from deciding alone what is ever learned."""


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How much hangs on a decision. `context` is ΔC, `entropy` ΔH, unscaled; `score` is S."""

    rollout: str
    step: int
    row: str
    context: float
    entropy: float
    score: float
    last: bool = False
    """No decision follows it."""


@dataclass(frozen=True, slots=True)
class BranchPoint:
    """Where another continuation starts: before or after a decision (step from 0). `chosen`: by rank, or drawn."""

    rollout: str
    step: int
    row: str
    where: Where
    chosen: Choice
    score: float


def continuations(rule: BranchRule, kept: int) -> int:
    """Return how many continuations the budget has room for when the first rollouts gave `kept` rows (M)."""
    return max(0, rule.budget - kept) // rule.rows_per_branch


def sensitivities(rollouts: Mapping[str, Sequence[Turn]], rule: BranchRule = FIXED) -> tuple[Sensitivity, ...]:
    """Return all candidates of a query, the most sensitive first. Raises `BadTurn`.

    A decision that none follows has no ΔH under `entropy="after"`: it counts as unchanged, and has no part in the scaling.
    """
    found: list[tuple[str, int, Turn, float, float | None, bool]] = []
    for rollout, turns in rollouts.items():
        for step, turn in enumerate(turns):
            _check(turn)
            if turn.may_branch:
                last = step + 1 == len(turns)
                found.append((rollout, step, turn, _variation(turn), _drift(turns, step, rule), last))
    context = _scores([variation for *_, variation, _, _ in found], rule)
    entropy = _scores([drift for *_, drift, _ in found], rule)
    made = [
        Sensitivity(rollout, step, turn.row, variation, drift or 0.0, rule.alpha * c + rule.beta * h, last)
        for (rollout, step, turn, variation, drift, last), c, h in zip(found, context, entropy, strict=True)
    ]
    return tuple(sorted(made, key=lambda s: (-s.score, s.step, s.rollout)))


def _check(turn: Turn) -> None:
    if turn.tokens_before <= 0 or turn.tokens_after < 0:
        sizes = f"{turn.tokens_before} tokens before and {turn.tokens_after} after"
        raise BadTurn(f"decision {turn.row!r} has a prompt of {sizes}", row=turn.row)
    if not math.isfinite(turn.uncertainty):
        raise BadTurn(f"decision {turn.row!r} has uncertainty {turn.uncertainty}", row=turn.row)


def _variation(turn: Turn) -> float:
    return abs(turn.tokens_after - turn.tokens_before) / turn.tokens_before


def _drift(turns: Sequence[Turn], step: int, rule: BranchRule) -> float | None:
    at = step if rule.entropy == "before" else step + 1
    return turns[at].uncertainty - turns[0].uncertainty if at < len(turns) else None


def _scores(values: Sequence[float | None], rule: BranchRule) -> list[float]:
    """The values, or their z-scores over those that are known; what is unknown is neither above nor below the rest."""
    known = [value for value in values if value is not None]
    if not rule.scaled or not known:
        return [value or 0.0 for value in values]
    mean = math.fsum(known) / len(known)
    std = math.sqrt(math.fsum((value - mean) ** 2 for value in known) / len(known))
    # A spread of rounding errors alone would make scores of noise.
    if std <= 1e-12 * max(1.0, abs(mean)):
        return [0.0] * len(values)
    return [0.0 if value is None else (value - mean) / std for value in values]


def branch_points(
    rollouts: Mapping[str, Sequence[Turn]], kept: int, rule: BranchRule = FIXED, *, seed: str = ""
) -> tuple[BranchPoint, ...]:
    """Return where to branch, at most `continuations(rule, kept)` points: the ranked ones in rank order, then the drawn ones.

    `kept`: rows that the first rollouts gave. `seed` names the draw. Give the first rollouts only: branches aren't branched again.
    """
    room = continuations(rule, kept)
    sides = 2 if rule.where == "both" else 1
    drawn = min(room, sides * int(room / sides * rule.random_share + 0.5))
    ranked = sensitivities(rollouts, rule)
    taken = Counter[str]()
    best = _take(ranked, room - drawn, "ranked", taken, rule)
    chosen = {point.row for point in best}
    others = sorted((s for s in ranked if s.row not in chosen), key=lambda s: (s.rollout, s.step))
    random.Random(f"branch {seed}").shuffle(others)
    return (*best, *_take(others, drawn, "random", taken, rule))


def _take(
    candidates: Iterable[Sensitivity], room: int, chosen: Choice, taken: Counter[str], rule: BranchRule
) -> list[BranchPoint]:
    """Branch points at the first candidates that the limit for each rollout lets through. `taken` is counted up."""
    points: list[BranchPoint] = []
    for found in candidates:
        places = _places(found, rule)[: room - len(points)]
        if places and (rule.per_rollout is None or taken[found.rollout] < rule.per_rollout):
            taken[found.rollout] += 1
            points += [BranchPoint(found.rollout, found.step, found.row, p, chosen, found.score) for p in places]
    return points


def _places(candidate: Sensitivity, rule: BranchRule) -> tuple[Where, ...]:
    """Behind the last decision nothing is decided, so there is no other future to sample."""
    if rule.where == "both":
        return ("before",) if candidate.last else ("before", "after")
    return () if rule.where == "after" and candidate.last else (rule.where,)


def spread(count: int, many: int) -> tuple[int, ...]:
    """Return `many` of the indexes 0 … count−1, evenly spaced with both ends among them; one alone is the first."""
    if many >= count:
        return tuple(range(count))
    if many <= 1:
        return tuple(range(max(0, many)))
    return tuple(index * (count - 1) // (many - 1) for index in range(many))


def thin(rows: Sequence[str], *, most: int = 8) -> tuple[str, ...]:
    """Return at most `most` rows of a rollout, in order: always the last one, the others evenly spaced."""
    if len(rows) <= most or most < 1:
        return tuple(rows[: max(0, most)])
    return (*(rows[index] for index in spread(len(rows) - 1, most - 1)), rows[-1])


def merge(
    branches: Sequence[Sequence[str]], room: int, *, per_branch: int | None = None, even: bool = True
) -> tuple[str, ...]:
    """Return at most `room` rows of the branches: first the first row of each, in the order of the branches (their rank), then others.

    The first row of a branch is its answer to the question that it was made for. `per_branch`: at most so many rows of one branch, the first included. `even`: the others are
    evenly spaced over all branches; else the first ones fill the room, as in ContextPilot's code.
    """
    firsts = [branch[0] for branch in branches if branch][: max(0, room)]
    others = [row for branch in branches for row in branch[1:per_branch]]
    left = room - len(firsts)
    rest = [others[index] for index in spread(len(others), left)] if even else others[: max(0, left)]
    return (*firsts, *rest)
