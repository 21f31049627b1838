"""Assignments that are short, so that a run takes a fraction of a second; windows here are small in proportion."""

from dataclasses import replace

import pytest

from trimtab.lab.arms.playing import Conditions
from trimtab.lab.bench.row import Row
from trimtab.lab.live.noise import Size
from trimtab.lab.live.play import play_live

SHORT = Size(steps=(9, 12), tokens=(250, 600))
ROOMY, TIGHT = 200_000, 6_000


@pytest.fixture
def played():
    """Plays a short assignment under an arm."""

    def play(
        spec: str, family: str = "superseded-limit", number: int = 1, *, window: int = TIGHT, **conditions: object
    ) -> Row:
        seed = int(str(conditions.pop("seed", 0)))
        made = replace(Conditions(window), **conditions)  # type: ignore[arg-type]
        return play_live(spec, family, number, made, seed, size=SHORT)

    return play
