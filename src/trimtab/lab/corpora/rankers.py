"""Rankers: baselines that say which results are kept, and the table of what they keep.

    knows the future   oracle (the bound)
    by one number      lru (last used or come), newest, smallest, random
    fitted on `train`  logistic: the chance that a result is needed;  logistic/root: that by the root of its size, for a large one takes the room of many;
                       curved: a chance by a regression with products of columns, by a power of the size

Keeping as many needed results as fit is a knapsack: the best order is by chance for each character, if chances were known. They are estimates, and a power of the
size below one keeps more. That of `curved`, its columns and its penalty were chosen by cross-validation over families of `train`.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from trimtab.lab.corpora.facts import Facts, Kind
from trimtab.lab.corpora.intervals import Interval, auc, difference, recall_interval
from trimtab.lab.corpora.logistic import Logistic, Quadratic, fit, fit_quadratic
from trimtab.lab.corpora.points import SHARES, Point, Ranker, Scores, scored

COLUMNS = ("size", "novel", "uses", "used", "age", "idle", "edits", "unused", "error", *get_args(Kind))
"""What a row of the regression holds, in this order. Counts are logarithms of one more than them."""

POWER = 0.7
"""Of the size, by which `curved` divides, and a logistic too, so that it is seen what the products add."""


def oracle(point: Point) -> Scores:
    """What is needed, the smallest first: no ranker keeps more."""
    return [-one.size if needed else -math.inf for one, needed in zip(point.facts, point.needed, strict=True)]


def lru(point: Point) -> Scores:
    """What was used last, or came last."""
    return [-one.idle for one in point.facts]


def newest(point: Point) -> Scores:
    """What came last."""
    return [-one.age for one in point.facts]


def smallest(point: Point) -> Scores:
    """What takes the least room."""
    return [-one.size for one in point.facts]


def largest(point: Point) -> Scores:
    """What takes the most room: what is large holds much. Its area under the curve is that of the size."""
    return [one.size for one in point.facts]


def random_order(seed: int) -> Ranker:
    """Any order, always the same for a seed."""

    def score(point: Point) -> Scores:
        chance = random.Random(f"{seed} {point.session} {point.step}")
        return [chance.random() for _ in point.facts]

    return score


def row_of(facts: Facts) -> tuple[float, ...]:
    """Return what the regression sees of a candidate: `COLUMNS`."""
    counts = (facts.size, facts.novel, facts.uses, facts.used, facts.age, facts.idle, facts.edits)
    kinds = (float(facts.kind == kind) for kind in get_args(Kind))
    return (*map(math.log1p, counts), float(not facts.uses), float(facts.error), *kinds)


def fitted(points: Sequence[Point], *, l2: float = 1.0) -> Logistic:
    """Fit the chance that a candidate is needed on the points of a training part."""
    return fit(*_table(points), l2=l2)


def curved(points: Sequence[Point], *, l2: float = 100.0) -> Quadratic:
    """Fit the same with products of columns: a use says more of a file that was read than of a log, and less the longer it is ago."""
    return fit_quadratic(*_table(points), l2=l2)


def _table(points: Sequence[Point]) -> tuple[list[tuple[float, ...]], list[bool]]:
    rows = [row_of(one) for point in points for one in point.facts]
    return rows, [needed for point in points for needed in point.needed]


def by_chance(model: Logistic | Quadratic, *, power: float = 0.0) -> Ranker:
    """By the chance that a result is needed, divided by its size to the power of `power`: 0 ignores the size, 1 is by chance for each character."""

    def score(point: Point) -> Scores:
        return [model.chance(row_of(one)) / one.size**power for one in point.facts]

    return score


def baselines(train: Sequence[Point], *, seed: int = 0) -> dict[str, Ranker]:
    """Return every baseline by name; those that learn do so on `train`."""
    model = fitted(train)
    return {
        "oracle": oracle,
        "curved": by_chance(curved(train), power=POWER),
        f"logistic/{POWER}": by_chance(model, power=POWER),
        "logistic/root": by_chance(model, power=0.5),
        "logistic": by_chance(model),
        "lru": lru,
        "smallest": smallest,
        "random": random_order(seed),
        "newest": newest,
        "largest": largest,
    }


@dataclass(frozen=True, slots=True)
class Score:
    """What one ranker came to. `auc` is over all candidates of all points; `recalls` by share kept; `gain` over another ranker, at one share."""

    ranker: str
    auc: float
    recalls: tuple[Interval, ...]
    gain: Interval


def scores_of(
    points: Sequence[Point], rankers: Mapping[str, Ranker], *, base: str, share: float = 0.25
) -> tuple[Score, ...]:
    """Judge rankers on points, each also against `base` at `share`."""
    labels = [needed for point in points for needed in point.needed]
    scores = {name: scored(points, ranker) for name, ranker in rankers.items()}
    return tuple(
        Score(
            name,
            auc([score for of_point in own for score in of_point], labels),
            tuple(recall_interval(points, own, kept) for kept in SHARES),
            difference(points, own, scores[base], share),
        )
        for name, own in scores.items()
    )
