"""What training is tested with: sights that are drawn, and a run that takes a second."""

import random
from pathlib import Path

import numpy as np

from trimtab.context.policies.learned.features import ITEM_FEATURES, WHOLE_FEATURES
from trimtab.lab.train.config import Cloning, Config, Judging, Learning, Shape
from trimtab.lab.train.seeing import OPS, WHOLE, Sight

TINY = Config(
    shape=Shape(item=(6,), gate=(4,)),
    cloning=Cloning(teachers=("mask",), each=1, epochs=1),
    learning=Learning(decisions=60, tasks=1, rollouts=2, branches=1, check=2, pool=3, stages=(0.0,), hard=0.0),
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


def files_of(folder: Path) -> list[str]:
    """The names in a folder."""
    return sorted(path.name for path in folder.iterdir())
