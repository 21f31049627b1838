"""Figures of arms with their intervals: shares of sums, resampled by story and by seed within it, paired where two arms are compared.

    rows of a group of arms ──Sample──▶ figures_of(arm) · difference(arm, base)

A metric is a pair of sums, over which a share is taken: cost is dollars over dollars, so that a long story counts as what it is. All arms of a sample are drawn with the
same dice, so a difference is one of the same stories. A story that only one of two arms played is left out of their difference, and n says so.
"""

import math
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from typing import TypeAlias

from trimtab.lab.bench.row import Judged, Row

DRAWS = 500
"""Samples for an interval of 95 %."""
_T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)
"""Student's quantile of 97.5 % for 1, 2, … degrees of freedom; beyond them the last, which is on the safe side."""
Group: TypeAlias = tuple[str, int, int, str]
Sums: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its percentile interval of 95 %; `n` is what it is made of."""

    value: float
    low: float
    high: float
    n: int = 0

    @property
    def known(self) -> bool:
        """Whether there was anything to make it of."""
        return not math.isnan(self.value)


@dataclass(frozen=True, slots=True)
class Metric:
    """A share of sums over rows. `better`: +1 where more is better, −1 where less is."""

    name: str
    of: Callable[[Row], Sums]
    better: int = 0


def _judged(name: str, bound: str, better: int, sums: Callable[[Row, Judged], Sums]) -> Metric:
    """A metric of what was judged under a bound; a row that wasn't adds nothing."""

    def of(row: Row) -> Sums:
        judged = row.judged.get(bound)
        return (0.0, 0.0) if judged is None else sums(row, judged)

    return Metric(name, of, better)


def success(bound: str = "expected") -> Metric:
    """Mean success under a bound."""
    return _judged("success", bound, 1, lambda _, judged: (judged.success, 1.0))


def cost(bound: str = "expected") -> Metric:
    """Dollars, as a share of what keeping everything costs."""
    return _judged("cost", bound, -1, lambda row, judged: (judged.usd, row.keep_all_usd))


def reward(bound: str = "expected") -> Metric:
    """Mean reward under a bound."""
    return _judged("reward", bound, 1, lambda _, judged: (judged.reward, 1.0))


TOKENS = Metric("tokens", lambda row: (row.prompt, len(row.curve)), -1)
"""Mean tokens of a request."""


class Sample:
    """Rows of one tier and part, ready to be resampled. `arms` keeps the order in which they were first seen."""

    def __init__(self, rows: Sequence[Row], *, draws: int = DRAWS, seed: int = 0) -> None:
        self.rows = tuple(rows)
        self.by_arm: dict[str, dict[Group, Row]] = {}
        for row in rows:
            self.by_arm.setdefault(row.arm, {})[row.group] = row
        self.groups = tuple(sorted({row.group for row in rows}))
        self._draws, self._seed = draws, seed
        self._weights: dict[tuple[Group, ...], list[list[int]]] = {}

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the arms."""
        return tuple(self.by_arm)

    @property
    def stories(self) -> int:
        """How many stories there are."""
        return len({row.story for row in self.rows})

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds under which they were played."""
        return tuple(sorted({row.seed for row in self.rows}))

    def figures_of(self, arm: str, metric: Metric) -> Estimate:
        """Return the figure of an arm. Without rows it is nan."""
        rows = self.by_arm.get(arm, {})
        groups = tuple(group for group in self.groups if group in rows)
        return self._estimate(groups, [metric.of(rows[group]) for group in groups], None)

    def difference(self, arm: str, base: str, metric: Metric, *, relative: bool = False) -> Estimate:
        """Return by how much an arm is above another, on what both played; `relative`: as a share of the other."""
        mine, theirs = self.by_arm.get(arm, {}), self.by_arm.get(base, {})
        groups = tuple(group for group in self.groups if group in mine and group in theirs)
        ours = [metric.of(mine[group]) for group in groups]
        return self._estimate(groups, ours, [metric.of(theirs[group]) for group in groups], relative=relative)

    def _estimate(
        self, groups: tuple[Group, ...], ours: list[Sums], theirs: list[Sums] | None, *, relative: bool = False
    ) -> Estimate:
        columns = [*zip(*ours, strict=True)] + ([] if theirs is None else [*zip(*theirs, strict=True)])

        def value(weights: Sequence[int] | None) -> float:
            sums = [math.fsum(c) if weights is None else sum(map(mul, weights, c)) for c in columns]
            first = _share(sums[0], sums[1]) if sums else math.nan
            if theirs is None or not sums:
                return first
            second = _share(sums[2], sums[3])
            return _share(first - second, second) if relative else first - second

        point = value(None)
        if math.isnan(point):
            return Estimate(math.nan, math.nan, math.nan, 0)
        drawn = sorted(v for v in map(value, self._drawn(groups)) if not math.isnan(v))
        if not drawn:
            return Estimate(point, math.nan, math.nan, len(groups))
        last = len(drawn) - 1
        return Estimate(point, drawn[int(0.025 * last)], drawn[round(0.975 * last)], len(groups))

    def _drawn(self, groups: tuple[Group, ...]) -> list[list[int]]:
        """How often each group is drawn, in each sample: stories first, then what was played of each drawn story."""
        if groups in self._weights:
            return self._weights[groups]
        places: dict[str, list[int]] = {}
        for place, group in enumerate(groups):
            places.setdefault(group[0], []).append(place)
        nested, dice = list(places.values()), random.Random(self._seed)
        samples = []
        for _ in range(self._draws if len(groups) > 1 else 0):
            weights = [0] * len(groups)
            for story in dice.choices(nested, k=len(nested)):
                for place in dice.choices(story, k=len(story)) if len(story) > 1 else story:
                    weights[place] += 1
            samples.append(weights)
        self._weights[groups] = samples
        return samples


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def plain_interval(values: Sequence[float]) -> Estimate:
    """Return the mean of independent runs (training seeds) with Student's interval; fewer than two give none. A bootstrap of five values would be too sure."""
    if not values:
        return Estimate(math.nan, math.nan, math.nan, 0)
    mean = statistics.fmean(values)
    if len(values) < 2:
        return Estimate(mean, math.nan, math.nan, 1)
    half = _T95[min(len(values) - 1, len(_T95)) - 1] * statistics.stdev(values) / math.sqrt(len(values))
    return Estimate(mean, mean - half, mean + half, len(values))


def shares(rows: Sequence[Row], metrics: Mapping[str, Metric]) -> dict[str, float | None]:
    """Return figures without intervals; None where there is nothing to share."""
    found: dict[str, float | None] = {}
    for name, metric in metrics.items():
        parts = [metric.of(row) for row in rows]
        part, whole = math.fsum(p for p, _ in parts), math.fsum(w for _, w in parts)
        found[name] = part / whole if whole else None
    return found
