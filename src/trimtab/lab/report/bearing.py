"""What an interval bears: on which side of zero it lies, and in which word that is said.

An end that a table tells as zero is zero, in every form: `[0.0, +3.1]` holds zero for whoever reads it.
"""

import math

from trimtab.lab.corpora.intervals import Interval

ZERO = 0.0005
"""Told as zero, whatever the form."""
TOO_FEW = "too few"
"""Of what lacks what a claim takes (`bench/grounds.py`), in a cell."""
UNKNOWN = Interval(math.nan, math.nan, math.nan)
"""Of what nobody played."""


def known(found: Interval) -> bool:
    """Whether there was anything to make it of."""
    return not math.isnan(found.value)


def bounded(found: Interval) -> bool:
    """Whether it has ends: it has none where stories or runs lack what a claim takes."""
    return not (math.isnan(found.low) or math.isnan(found.high))


def side(found: Interval) -> int:
    """Return on which side of zero the whole interval is: −1, +1, or 0 for none."""
    if not (known(found) and bounded(found)):
        return 0
    return 1 if found.low >= ZERO else -1 if found.high <= -ZERO else 0


def says(found: Interval) -> str:
    """Return a gain in a word or two."""
    if not known(found):
        return "no data"
    if not bounded(found):
        return TOO_FEW
    return {1: "better", -1: "worse", 0: "not shown"}[side(found)]
