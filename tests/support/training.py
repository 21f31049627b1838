"""What training is tested with: sights that are drawn, and a run that takes a second."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from trimtab.context.policies.learned.features import ITEM_FEATURES, WHOLE_FEATURES
from trimtab.lab.arms.playing import Conditions
from trimtab.lab.rewards.prices import REGIMES
from trimtab.lab.suite import Drawn, Part
from trimtab.lab.tasks.registry import make_task
from trimtab.lab.tasks.task import Level
from trimtab.lab.train import curriculum, judging, rollouts, train
from trimtab.lab.train.config import Cloning, Config, Judging, Learning, Shape
from trimtab.lab.train.seeing import OPS, WHOLE, Sight

TINY = Config(
    shape=Shape(item=(6,), gate=(4,)),
    cloning=Cloning(teachers=("mask",), each=1, epochs=1),
    learning=Learning(decisions=25, tasks=1, rollouts=2, branches=1, check=2, pool=3, stages=(0.0,), hard=0.0),
    judging=Judging(each=1, last=1, arms=("mask",)),
)
"""A run of two or three steps."""


def drawn_sight(seed: int, *, items: int = 4, extra: int = 0, full: int = 5) -> Sight:
    """A sight with random rows and a random mask; commit is always open."""
    dice = np.random.default_rng(seed)
    valid = dice.random(WHOLE + OPS * items) < 0.5
    valid[0] = True
    rows = dice.random((items, len(ITEM_FEATURES) + extra)) * 3
    rows[:, ITEM_FEATURES.index("chosen")] = 0.0
    return Sight(rows, dice.random(len(WHOLE_FEATURES)), valid, full)


def drawn_places(sight: Sight, seed: int) -> tuple[int, ...]:
    """A decision that may be made at a sight."""
    dice = random.Random(seed)
    places: list[int] = []
    while not places or places[-1] != 0:
        places.append(dice.choice([int(n) for n in np.flatnonzero(sight.open(places))]))
    return tuple(places)


@contextmanager
def short_suite() -> Iterator[None]:
    """A suite of one family a part, whose tasks have a dozen steps: a run takes a second or two."""
    parts: dict[Part, tuple[str, ...]] = {"train": ("tool-chain",), "validation": ("superseded",)}

    def short(part: Part, family: str, number: int) -> Drawn:
        task = make_task(family, number, Level(12, 5, 2, 1_500))
        return Drawn(part, family, number, task, Conditions(9_000, REGIMES[number % 4]))

    with pytest.MonkeyPatch.context() as patch:
        for module in (curriculum, judging, train):
            patch.setattr(module, "PARTS", parts)
        for module in (curriculum, rollouts):
            patch.setattr(module, "drawn", short)
        rollouts.seat.cache_clear()
        yield
    rollouts.seat.cache_clear()


def files_of(folder: Path) -> list[str]:
    """The names in a folder."""
    return sorted(path.name for path in folder.iterdir())
