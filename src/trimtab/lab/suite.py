"""The suite: which tasks are learned from, which choose between candidates, and which judge, once.

    train        families that are fitted and tuned on
    validation   families that choose: parameters of rules, checkpoints, which candidate ships
    test         families that nobody looks at before the candidate is chosen
    real         families of real material (`tasks/real`), never learned from and never used to choose

Parts go by whole families, and families that are told by one template are kin, so they stay together. How hard a task is, is drawn from its number, and so is
its window; another seed of the same task tells another story of the same kind, at other prices. All arms of a group share all of it.

The first three are generated: `PARTS`, drawn by `drawn`, and nothing else is given to what learns or chooses. The fourth is made of files that somebody has in a folder (`drawn_real`).
"""

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from trimtab.lab.arms.playing import Conditions
from trimtab.lab.env.story import Story, task_story
from trimtab.lab.rewards.prices import REGIMES, draw
from trimtab.lab.tasks.real.registry import REAL, real_families
from trimtab.lab.tasks.registry import make_task
from trimtab.lab.tasks.task import Level, Task
from trimtab.types.errors import UsageError

Part: TypeAlias = Literal["train", "validation", "test"]
"""A part of the generated tasks."""
RealPart: TypeAlias = Literal["real"]
REAL_PART: Final[RealPart] = "real"
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
_LEVELS = 20
"""How many levels are drawn for a task of real material before it is given up."""
_TELLINGS = 1_000_000
"""Between the tellings of one task: more than anybody draws of a family."""
_STEPS, _LAGS, _TOKENS = (20, 120), (2, 80), (600, 2_400)
"""Steps and lags are drawn evenly by their logarithms: of what recorded sessions use again, half is used within 22 requests and a tenth after more than 134."""
_DISTRACTORS, _STEPS_OF_NEED = (1, 5), 8
"""Of each needed result, and the steps of a story that bring at least one need, on average: a story of a hundred steps hangs on a dozen results, not on fifty."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """One task with the conditions that its whole group shares. `number`: which of its family, from 0; `seed`: which telling of it, from 0. Everything is drawn from these two."""

    part: Part | RealPart
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
    dice = _dice(family, number)
    level, window = _level(dice), dice.choice(WINDOWS)
    task = make_task(family, _told(number, seed), level)
    return Drawn(part, family, number, task, _conditions(task, window), seed)


def drawn_real(folder: Path, family: str, number: int, *, seed: int = 0) -> Drawn:
    """Draw one task of a family of real material: always the same for the same number, seed and files.

    Level, window and prices are drawn as `drawn` does. Where the level has no room (its pieces hold no evidence, say), the next level of the same dice is taken, up to the first that has; the window
    stays. Another seed asks about the next document (case, talk) that comes up for it, as hard unless that one has no room. Raises `UsageError` for a family whose files aren't in
    `folder`, or are damaged, and for a number that fits at no level.
    """
    make = real_families(folder).get(family)
    if make is None:
        raise UsageError(f"{str(folder)!r} has no files of {family!r}", hint=f"Families: {', '.join(REAL)}.")
    dice = _dice(family, number)
    level, window = _level(dice), dice.choice(WINDOWS)
    for _ in range(_LEVELS):
        try:
            task = make(_told(number, seed), level)
        except ValueError as problem:
            no_room, level = problem, _level(dice)
        else:
            return Drawn(REAL_PART, family, number, task, _conditions(task, window), seed)
    raise UsageError(
        f"{family} {number}, seed {seed}, fits at none of {_LEVELS} levels: {no_room}",
        hint=f"See whether the files of {family} in {str(folder)!r} are whole.",
    )


def _dice(family: str, number: int) -> random.Random:
    return random.Random(f"suite {family} {number}")


def _told(number: int, seed: int) -> int:
    return number + seed * _TELLINGS


def _conditions(task: Task, window: int) -> Conditions:
    return Conditions(window, draw(task.name, task.seed, REGIMES))


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
