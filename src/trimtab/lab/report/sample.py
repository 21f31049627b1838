"""Rows of one tier and part, asked for figures: the bench's figures and its bootstrap, by the names of arms.

    rows ──Sample──▶ figure(arm) · gain(arm, base) · change(arm, base)      each an Interval, paired on the stories that both played

Statistics are the bench's (`bench/paired.py`), so a page and a table of `trimtab bench` say the same. Only runs of training have none there: they are few and independent, so
their interval is Student's.
"""

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from trimtab.lab.bench.figures import Figure
from trimtab.lab.bench.paired import DRAWS, Paired
from trimtab.lab.bench.row import Row
from trimtab.lab.corpora.intervals import Interval
from trimtab.lab.rewards.facts import Bound

Group: TypeAlias = tuple[str, int, int, str]
_T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)
"""Student's quantile of 97.5 % for 1, 2, … degrees of freedom; beyond them the last, which is on the safe side."""
_ZERO = 0.0005
_UNKNOWN = Interval(math.nan, math.nan, math.nan)


class Sample:
    """See the module. `arms` are in the order in which they were first seen."""

    def __init__(self, rows: Sequence[Row], *, draws: int = DRAWS) -> None:
        self.rows = tuple(rows)
        self.by_arm: dict[str, dict[Group, Row]] = {}
        for row in rows:
            self.by_arm.setdefault(row.arm, {})[row.group] = row
        self._draws = draws
        self._paired: dict[tuple[Group, ...], Paired] = {}

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the arms."""
        return tuple(self.by_arm)

    @property
    def stories(self) -> int:
        """How many stories there are; tellings of one task are one."""
        return len({row.slot or row.story for row in self.rows})

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds under which they were played."""
        return tuple(sorted({row.seed for row in self.rows}))

    def of(self, arm: str) -> list[Row]:
        """The rows of an arm, none for one that didn't play."""
        return list(self.by_arm.get(arm, {}).values())

    def both(self, arm: str, base: str) -> int:
        """How many rows of two arms can be compared."""
        return len(self.by_arm.get(arm, {}).keys() & self.by_arm.get(base, {}).keys())

    def figure(self, arm: str, figure: Figure, bound: Bound) -> Interval:
        """Return a figure of an arm; without rows it is nan."""
        mine = self._rows_of(arm)
        if not mine:
            return _UNKNOWN
        return self._paired_of(mine).share([figure.part(row, bound) for row in mine])

    def value(self, arm: str, figure: Figure, bound: Bound) -> float:
        """Return a figure of an arm without its interval."""
        parts = [figure.part(row, bound) for row in self.of(arm)]
        whole = math.fsum(below for _, below in parts)
        return math.fsum(above for above, _ in parts) / whole if whole else math.nan

    def gain(self, arm: str, base: str, figure: Figure, bound: Bound) -> Interval:
        """Return by how much a figure of an arm is above that of another."""
        mine, theirs = self._pairs(arm, base)
        if not mine:
            return _UNKNOWN
        ours, others = ([figure.part(row, bound) for row in rows] for rows in (mine, theirs))
        return self._paired_of(mine).gain(ours, others)

    def change(self, arm: str, base: str, figure: Figure, bound: Bound) -> Interval:
        """Return the same as a share of the other arm's."""
        mine, theirs = self._pairs(arm, base)
        if not mine:
            return _UNKNOWN
        ours, others = ([figure.part(row, bound) for row in rows] for rows in (mine, theirs))
        times = self._paired_of(mine).ratio(ours, others)
        return Interval(times.value - 1, times.low - 1, times.high - 1)

    def _pairs(self, arm: str, base: str) -> tuple[list[Row], list[Row]]:
        other = self.by_arm.get(base, {})
        mine = [row for row in self._rows_of(arm) if row.group in other]
        return mine, [other[row.group] for row in mine]

    def _rows_of(self, arm: str) -> list[Row]:
        """In an order that doesn't hang on that of the files."""
        return sorted(self.of(arm), key=lambda row: row.path)

    def _paired_of(self, rows: Sequence[Row]) -> Paired:
        """The draws of these stories; a set of stories that several arms played is drawn once."""
        groups = tuple(row.group for row in rows)
        if groups not in self._paired:
            self._paired[groups] = Paired([row.path for row in rows], draws=self._draws)
        return self._paired[groups]


def known(found: Interval) -> bool:
    """Whether there was anything to make it of."""
    return not math.isnan(found.value)


def bounded(found: Interval) -> bool:
    """Whether it has ends: one story, or one run, has none."""
    return not math.isnan(found.low)


def side(found: Interval) -> int:
    """Return on which side of zero the whole interval is: −1, +1, or 0 for none. An end that is told as zero is zero, in every form of a table."""
    if not (known(found) and bounded(found)):
        return 0
    return 1 if found.low >= _ZERO else -1 if found.high <= -_ZERO else 0


def over_runs(values: Iterable[float]) -> Interval:
    """Return the mean of independent runs with Student's interval; fewer than two give none. A bootstrap of five values would be too sure."""
    runs = list(values)
    if not runs:
        return _UNKNOWN
    mean = statistics.fmean(runs)
    if len(runs) < 2:
        return Interval(mean, math.nan, math.nan)
    half = _T95[min(len(runs) - 1, len(_T95)) - 1] * statistics.stdev(runs) / math.sqrt(len(runs))
    return Interval(mean, mean - half, mean + half)
