"""Assignments that are short, so that a run takes a fraction of a second, and windows in proportion to them."""

from trimtab.lab.live.noise import Size

SHORT = Size(steps=(9, 12), tokens=(250, 600))
ROOMY, TIGHT = 200_000, 6_000
"""Tokens: everything fits; most must go."""
