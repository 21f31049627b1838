"""What an interval bears: on which side of zero it lies, and in which word that is said.

An end that a table tells as zero is zero, in every form: `[0.0, +3.1]` holds zero for whoever reads it.
"""

import math
import statistics
from collections.abc import Iterable

from trimtab.lab.corpora.intervals import Interval

_T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)
"""Student's quantile of 97.5 % for 1, 2, … degrees of freedom; beyond them the last, which is on the safe side."""
_ZERO = 0.0005
UNKNOWN = Interval(math.nan, math.nan, math.nan)
"""Of what nobody played."""


def known(found: Interval) -> bool:
    """Whether there was anything to make it of."""
    return not math.isnan(found.value)


def bounded(found: Interval) -> bool:
    """Whether it has ends: one run has none."""
    return not (math.isnan(found.low) or math.isnan(found.high))


def side(found: Interval) -> int:
    """Return on which side of zero the whole interval is: −1, +1, or 0 for none."""
    if not (known(found) and bounded(found)):
        return 0
    return 1 if found.low >= _ZERO else -1 if found.high <= -_ZERO else 0


def says(found: Interval) -> str:
    """Return a gain in a word or two."""
    if not (known(found) and bounded(found)):
        return "no data"
    return {1: "better", -1: "worse", 0: "not shown"}[side(found)]


def over_runs(values: Iterable[float]) -> Interval:
    """Return the mean of independent runs with Student's interval; fewer than two give none. A bootstrap of five values would be too sure."""
    runs = list(values)
    if not runs:
        return UNKNOWN
    mean = statistics.fmean(runs)
    if len(runs) < 2:
        return Interval(mean, math.nan, math.nan)
    half = _T95[min(len(runs) - 1, len(_T95)) - 1] * statistics.stdev(runs) / math.sqrt(len(runs))
    return Interval(mean, mean - half, mean + half)
