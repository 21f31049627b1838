"""The verdict on an arm: what it made of the context, beside keeping everything.

    success − that of keeping everything, with its 95 % interval:   below: all of it is below 0     above: all of it is above 0     else equal
    tokens per request, in those of keeping everything:             down: under 95 %                same: 95 to 105 %               up: over 105 %

              below               equal             above
    down      over-compressed     good              good
    same      worse               not managing      good
    up        worse               worse             good

Where stories lack what a claim takes (`grounds`), the verdict is `too few`.

The interval is that of these very families (`Section.within`): a verdict says what an arm did, not what it would do elsewhere.

There are two ways to keep everything. In a window that holds it, nothing is hidden and nothing is lost: that is what a verdict is about, and what an arm that hides
anything is held against. As it is sent, a request that doesn't fit can't be made, so keeping everything fails in a small window; beside that, an arm may look good that only
threw away what would have failed anyway. Both verdicts are given, and neither compares an arm with another arm: for that there are differences.
"""

from typing import Literal, TypeAlias

from trimtab.lab.corpora.intervals import Interval

Verdict: TypeAlias = Literal["over-compressed", "not managing", "good", "worse", "too few"]
SAME = 0.05
"""How far tokens may differ and still be the same."""


def verdict(success: Interval, tokens: float) -> Verdict:
    """Return the verdict. `success`: that of the arm less that of keeping everything; `tokens`: of a request, in those of keeping everything."""
    if success.low > 0:
        return "good"
    if success.high < 0:
        return "over-compressed" if tokens < 1 - SAME else "worse"
    if tokens < 1 - SAME:
        return "good"
    return "not managing" if tokens <= 1 + SAME else "worse"
