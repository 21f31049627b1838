"""How sure a figure on decision points is: area under the curve, and intervals that know that points of one session are alike.

paired:  both rankings are of the same points, so what is resampled is a point with both their outcomes
nested:  sessions are drawn with replacement, then points within each drawn session
"""

import math
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from trimtab.lab.corpora.points import Point, Scores, kept_by

DRAWS = 2_000
"""Samples for an interval."""
_Part: TypeAlias = tuple[float, float]
"""Of one point: what was kept, or how much more of it than by others, and what was needed."""


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
        return math.nan
    below, total = 0, 0.0
    ordered = sorted(zip(scores, positive, strict=True))
    for _, tied in groupby(ordered, key=lambda pair: pair[0]):
        flags = [flag for _, flag in tied]
        total += sum(flags) * (below + (len(flags) + 1) / 2)
        below += len(flags)
    return (total - yes * (yes + 1) / 2) / (yes * no)


def recall_interval(
    points: Sequence[Point], scores: Sequence[Scores], share: float, *, draws: int = DRAWS, seed: int = 0
) -> Interval:
    """Return the recall of `scores` with its 95 % interval."""
    kept = kept_by(points, scores, share)
    return _interval(points, [(one.kept, one.needed) for one in kept], draws=draws, seed=seed)


def difference(
    points: Sequence[Point],
    scores: Sequence[Scores],
    others: Sequence[Scores],
    share: float,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> Interval:
    """Return by how much the recall of `scores` is above that of `others`, with its 95 % interval, paired by point."""
    pairs = zip(kept_by(points, scores, share), kept_by(points, others, share), strict=True)
    return _interval(points, [(one.kept - two.kept, one.needed) for one, two in pairs], draws=draws, seed=seed)


def _interval(points: Sequence[Point], parts: Sequence[_Part], *, draws: int, seed: int) -> Interval:
    sessions: dict[str, list[_Part]] = defaultdict(list)
    for point, part in zip(points, parts, strict=True):
        sessions[point.session].append(part)
    return ratio_interval(list(sessions.values()), draws=draws, seed=seed)


def ratio_interval(nested: Sequence[Sequence[_Part]], *, draws: int = DRAWS, seed: int = 0) -> Interval:
    """Return the sum of first figures by the sum of second ones with its 95 % interval; groups are drawn, then what is in each drawn group. A mean has 1 for every second figure."""
    parts = [part for group in nested for part in group]
    chance = random.Random(seed)
    found: list[float] = []
    for _ in range(draws if nested else 0):
        drawn = chance.choices(nested, k=len(nested))
        found.append(_ratio([part for session in drawn for part in chance.choices(session, k=len(session))]))
    known = sorted(one for one in found if not math.isnan(one))  # a draw in which nothing was needed says nothing
    if not known:
        return Interval(_ratio(parts), math.nan, math.nan)
    return Interval(_ratio(parts), known[int(0.025 * (len(known) - 1))], known[round(0.975 * (len(known) - 1))])


def _ratio(parts: Sequence[_Part]) -> float:
    needed = sum(of for _, of in parts)
    return sum(part for part, _ in parts) / needed if needed else math.nan
