"""A task: a story of work that is known beforehand, and what in it matters.

    family(seed, level) ──▶ Task: recording (what happens) + key points (what matters, where it is shown, who needs it) + questions

The story is a `Recording`, so everything that reads recordings plays it. The answers of the model in it are those of an agent that had what it needed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from trimtab.sessions.recorded import Answered, Came, Recording
from trimtab.types.messages import Message

PointKind = Literal["number", "name", "path", "field", "error", "decision", "quote", "value"]


@dataclass(frozen=True, slots=True)
class Level:
    """How hard a task is. `steps`: model requests, about; `lag`: requests between a key point and its need, about; `distractors`: results that nothing
    needs for each one that something does; `tokens`: of a large result, about. All are at least 1.
    """

    steps: int = 40
    lag: int = 15
    distractors: int = 3
    tokens: int = 1_500


@dataclass(frozen=True, slots=True)
class KeyPoint:
    """Something that the work can't do without. `text` stands word for word in the message of that number (from 0, in `chain`), and nowhere else before its first need.

    `needed`: numbers (from 1) of the model requests that use it. `field`: it is a part of a structure (a number, a name, a code), so that it can survive without its sentence. `stale`: a later key point replaces it; needing
    it would be a mistake.
    """

    text: str
    kind: PointKind
    message: int
    needed: tuple[int, ...]
    field: bool = False
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked in the end, or on the way: `step` is the request that answers it. An answer is right when it holds one of `answers`, and none of `wrong`."""

    text: str
    step: int
    answers: tuple[str, ...]
    points: tuple[int, ...]
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """One task. The same family, seed and level always give the same task, byte for byte."""

    family: str
    seed: int
    level: Level
    recording: Recording
    points: tuple[KeyPoint, ...]
    questions: tuple[Question, ...]

    @property
    def name(self) -> str:
        """`FAMILY-SEED-STEPSxLAGxDISTRACTORSxTOKENS`."""
        level = self.level
        return f"{self.family}-{self.seed}-{level.steps}x{level.lag}x{level.distractors}x{level.tokens}"


Family: TypeAlias = Callable[[int, Level], Task]
"""Makes a task from a seed and a level."""


def chain(recording: Recording) -> Iterator[Message]:
    """Yield the messages of a story in order: the numbers in key points count these."""
    for event in recording.events:
        if isinstance(event, Came | Answered):
            yield event.message
