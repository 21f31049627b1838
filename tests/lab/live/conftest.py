"""How assignments are played here."""

from dataclasses import replace

import pytest

from support.live_work import SHORT, TIGHT
from trimtab.lab.arms.playing import Conditions
from trimtab.lab.bench.row import Row
from trimtab.lab.live.play import play_live


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
