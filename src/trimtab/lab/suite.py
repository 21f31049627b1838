"""The suite: which tasks are learned from, which choose between candidates, and which judge, once.

    train        families that are fitted and tuned on
    validation   families that choose: parameters of rules, checkpoints, which candidate ships
    test         families that nobody looks at before the candidate is chosen

Parts go by whole families, and families that are told by one template are kin, so they stay together. How hard a task is, is drawn from its number, and so is
its window; another seed of the same task tells another story of the same kind, at other prices. All arms of a group share all of it.
"""

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from trimtab.lab.arms.playing import Conditions
from trimtab.lab.env.story import Story, task_story
from trimtab.lab.rewards.prices import REGIMES, draw
from trimtab.lab.tasks.registry import make_task
from trimtab.lab.tasks.task import Level, Task

Part: TypeAlias = Literal["train", "validation", "test"]
PARTS: Mapping[Part, tuple[str, ...]] = {
    "train": (
        "document-qa",
        "tool-chain",
        "root-cause-first",
        "root-cause-middle",
        "root-cause-last",
        "exact-numbers",
        "sql-charts",
    ),
    "validation": ("misleading-turn", "superseded", "sales"),
    "test": ("dependency", "restock", "continuation"),
}
WINDOWS = (12_000, 16_000, 24_000, 32_000)
"""Tokens. All of them are too small for most of the tasks."""
_TELLINGS = 1_000_000
"""Between the tellings of one task: more than anybody draws of a family."""
_STEPS, _LAGS, _TOKENS = (20, 120), (2, 80), (600, 2_400)
"""Steps and lags are drawn evenly by their logarithms: of what recorded sessions use again, half is used within 22 requests and a tenth after more than 134."""
_DISTRACTORS, _STEPS_OF_NEED = (1, 5), 8
"""Of each needed result, and the steps of a story that bring at least one need, on average: a story of a hundred steps hangs on a dozen results, not on fifty."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """One task with the conditions that its whole group shares. `number`: which of its family, from 0; `seed`: which telling of it, from 0. Everything is drawn from these two."""

    part: Part
    family: str
    number: int
    task: Task
    conditions: Conditions
    seed: int = 0

    @property
    def story(self) -> Story:
        """What is played."""
        return task_story(self.task)


def drawn(part: Part, family: str, number: int, *, seed: int = 0) -> Drawn:
    """Draw one task of a family: always the same for the same number and seed. Raises `ValueError` for a family that isn't in this part."""
    if family not in PARTS[part]:
        raise ValueError(f"{family!r} is no family of {part}: {', '.join(PARTS[part])}")
    dice = random.Random(f"suite {family} {number}")
    level = _level(dice)
    told = number + seed * _TELLINGS
    task = make_task(family, told, level)
    conditions = Conditions(dice.choice(WINDOWS), draw(task.name, told, REGIMES))
    return Drawn(part, family, number, task, conditions, seed)


def _level(dice: random.Random) -> Level:
    steps, lag = (round(math.exp(dice.uniform(*map(math.log, bounds)))) for bounds in (_STEPS, _LAGS))
    distractors = dice.randint(*_DISTRACTORS) + max(0, steps // _STEPS_OF_NEED - _DISTRACTORS[1])
    return Level(steps, lag, distractors, dice.randint(*_TOKENS))


def suite(part: Part, each: int, *, first: int = 0, seeds: int = 1) -> Iterator[Drawn]:
    """Yield `each` tasks of every family of a part, family by family, beginning with number `first`; each as often as there are seeds."""
    for family in PARTS[part]:
        for number in range(first, first + each):
            for seed in range(seeds):
                yield drawn(part, family, number, seed=seed)
