"""How sure a figure on decision points is: area under the curve, and intervals that know that points of one session are alike.

paired:  both rankers judge the same points, so what is resampled is a point with both their outcomes
nested:  sessions are drawn with replacement, then points within each drawn session
"""

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from trimtab.lab.corpora.points import Kept, Point, Ranker, kept_at, recall_of

DRAWS = 2_000
"""Samples for an interval."""
_Outcome: TypeAlias = tuple[Kept, ...]
"""What each of the rankers that are compared kept at one point."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its percentile interval."""

    value: float
    low: float
    high: float


def auc(scores: Sequence[float], positive: Sequence[bool]) -> float:
    """Return the chance that a positive scores above a negative, a tie counting half; nan where one kind is missing. By ranks (Mann and Whitney)."""
    yes = sum(positive)
    no = len(positive) - yes
    if not yes or not no:
        return float("nan")
    below, total = 0, 0.0
    ordered = sorted(zip(scores, positive, strict=True))
    for _, tied in groupby(ordered, key=lambda pair: pair[0]):
        flags = [flag for _, flag in tied]
        total += sum(flags) * (below + (len(flags) + 1) / 2)
        below += len(flags)
    return (total - yes * (yes + 1) / 2) / (yes * no)


def recall_interval(
    points: Sequence[Point], ranker: Ranker, share: float, *, draws: int = DRAWS, seed: int = 0
) -> Interval:
    """Return the recall of a ranker with its 95 % interval."""
    sessions = _by_session([(kept_at(point, ranker(point), share),) for point in points], points)
    return _interval(sessions, lambda sample: recall_of([one for (one,) in sample]), draws=draws, seed=seed)


def difference(
    points: Sequence[Point], ranker: Ranker, other: Ranker, share: float, *, draws: int = DRAWS, seed: int = 0
) -> Interval:
    """Return by how much the recall of `ranker` is above that of `other`, with its 95 % interval, paired by point."""
    pairs = [(kept_at(point, ranker(point), share), kept_at(point, other(point), share)) for point in points]

    def gain(sample: Sequence[tuple[Kept, ...]]) -> float:
        return recall_of([one for one, _ in sample]) - recall_of([two for _, two in sample])

    return _interval(_by_session(pairs, points), gain, draws=draws, seed=seed)


def _by_session(outcomes: Sequence[_Outcome], points: Sequence[Point]) -> list[list[_Outcome]]:
    sessions: dict[str, list[_Outcome]] = defaultdict(list)
    for outcome, point in zip(outcomes, points, strict=True):
        sessions[point.session].append(outcome)
    return list(sessions.values())


def _interval(
    sessions: Sequence[Sequence[_Outcome]], figure: Callable[[Sequence[_Outcome]], float], *, draws: int, seed: int
) -> Interval:
    chance = random.Random(seed)
    value = figure([outcome for session in sessions for outcome in session])
    found: list[float] = []
    for _ in range(draws):
        drawn = chance.choices(sessions, k=len(sessions))
        found.append(figure([outcome for session in drawn for outcome in chance.choices(session, k=len(session))]))
    known = sorted(one for one in found if one == one)  # a draw in which nothing was needed says nothing
    if not known:
        return Interval(value, float("nan"), float("nan"))
    return Interval(value, known[int(0.025 * (len(known) - 1))], known[round(0.975 * (len(known) - 1))])
