"""The curriculum: what may be chosen, and how hard the tasks are, as the budget is used up.

    choices   delete what is obviously irrelevant ─▶ elide, expire, fold, truncate, offload ─▶ summaries, compactions ─▶ reload, restate
    tasks     few steps, short lags, few distractors ─▶ all
    cost      its weight is high at first, and falls to what it is judged with

Everything here is a function of the share of the budget that is used, so a run that goes on where it was broken off sees the same.
"""

import random
from collections.abc import Iterator

import msgspec

from trimtab.context.seeing.observation import ItemFacts
from trimtab.lab.rewards.reward import DEFAULT, Weights
from trimtab.lab.suite import PARTS, drawn
from trimtab.lab.tasks.task import Level
from trimtab.lab.train.config import Learning

_NEW: tuple[frozenset[str], ...] = (
    frozenset({"elide", "expire"}),
    frozenset({"fold", "truncate", "offload"}),
    frozenset({"summarize_half", "summarize_fifth", "compact"}),
    frozenset({"reload", "restate"}),
)
STAGES = tuple(frozenset().union(*_NEW[: stage + 1]) for stage in range(len(_NEW)))
"""What is open at each stage."""
_OLD = 3
_EASY, _HARD = Level(20, 4, 1, 600), Level(60, 25, 5, 2_400)
_TRIES = 50


def stage_at(share: float, learning: Learning) -> int:
    """Return the stage, from 0, when this share of the budget is used."""
    begun = [stage for stage, at in enumerate(learning.stages[: len(STAGES)]) if share >= at]
    return max(begun, default=len(STAGES) - 1)


def is_open(stage: int, item: ItemFacts | None, op: str) -> bool:
    """Whether an operation is open at a stage. At the first one only what is obviously irrelevant may go: what failed, has a newer or an older copy, or was never used and isn't new."""
    if op not in STAGES[stage]:
        return False
    return stage > 0 or item is None or _irrelevant(item)


def _irrelevant(item: ItemFacts) -> bool:
    stale = item.superseded_by is not None or item.duplicate_of is not None or item.expired or item.is_error
    return stale or (item.referenced == 0 and item.age >= _OLD)


def weights_at(share: float, learning: Learning) -> Weights:
    """Return the weights of the reward when this share of the budget is used: those that judge, but for cost."""
    first, last = learning.cost
    done = min(1.0, share / learning.annealed) if learning.annealed > 0 else 1.0
    return msgspec.structs.replace(DEFAULT, cost=first + (last - first) * done)


def hardness(level: Level) -> float:
    """How hard a task is, 0 to 1: the mean of where its steps, its lag and its distractors lie between the least and the most that are drawn."""
    shares = (
        (level.steps - _EASY.steps) / (_HARD.steps - _EASY.steps),
        (level.lag - _EASY.lag) / (_HARD.lag - _EASY.lag),
        (level.distractors - _EASY.distractors) / (_HARD.distractors - _EASY.distractors),
    )
    return min(1.0, max(0.0, sum(shares) / len(shares)))


def hardest(share: float, learning: Learning) -> float:
    """Return how hard a task may be when this share of the budget is used."""
    return 1.0 if learning.hard <= 0 else min(1.0, 0.5 + 0.5 * share / learning.hard)


def tasks_at(share: float, learning: Learning, *, seed: int, step: int) -> Iterator[tuple[str, int]]:
    """Yield the tasks of a step, as family and number: no harder than they may be, and as evenly over the families as their number allows."""
    dice = random.Random(f"tasks {seed} {step}")
    families = list(PARTS["train"])
    most = hardest(share, learning)
    dice.shuffle(families)
    for place in range(learning.tasks):
        family = families[place % len(families)]
        numbers = [dice.randrange(learning.pool) for _ in range(_TRIES)]
        level_of = (number for number in numbers if most >= 1.0 or hardness(_level(family, number)) <= most)
        yield family, next(level_of, numbers[0])


def _level(family: str, number: int) -> Level:
    return drawn("train", family, number).task.level
