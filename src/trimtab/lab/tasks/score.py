"""Scores: were the questions answered rightly, and had the one who answered looked at what the answer rests on?

    answers (question → text) ─────────▶ right | wrong | missing
    served ((point, step) → how) ──────▶ looked at or not, and the chance that the work succeeds

A right answer about something that wasn't looked at is luck, or knowledge from elsewhere; it is counted apart. Success is an expectation: the product, over
all needs, of the chance that a need served in that way is met. Nothing here draws a number.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Literal, TypeAlias

from trimtab.context.strings import arguments_text
from trimtab.lab.tasks.task import Question, Task
from trimtab.sessions.recorded import Answered

Served: TypeAlias = Literal["verbatim", "summary", "reload", "miss"]
"""How a need met its text: in the message that showed it, in the text of a summary (or whatever else stands for the message), by fetching it again, or not at all."""

Verdict: TypeAlias = Literal["right", "wrong", "missing"]
RAW: tuple[Served, ...] = ("verbatim", "reload")
"""Ways in which the raw fragment itself is looked at."""


@dataclass(frozen=True, slots=True)
class Chances:
    """The chance that a need is met, by how it is served.

    `summary`: it holds the text word for word, or the need wasn't served by it; less than 1 where a reader may overlook it there. `reload`: the chance that a
    stub is noticed, an assumption that reports sweep. `miss`: the chance of a good guess.
    """

    verbatim: float = 1.0
    summary: float = 1.0
    reload: float = 0.85
    miss: float = 0.0

    def of(self, served: Served) -> float:
        """Return the chance of one need."""
        by_way: dict[Served, float] = {
            "verbatim": self.verbatim,
            "summary": self.summary,
            "reload": self.reload,
            "miss": self.miss,
        }
        return by_way[served]


@dataclass(frozen=True, slots=True)
class Marked:
    """A question with its verdict. `looked`: all key points that it rests on were looked at in the raw when it was answered."""

    question: Question
    verdict: Verdict
    looked: bool


@dataclass(frozen=True, slots=True)
class Score:
    """What a task came to. `expected`: the chance that all needs are met. `served`: needs by how they were served."""

    marks: tuple[Marked, ...]
    served: Mapping[Served, int]
    expected: float

    @property
    def right(self) -> float:
        """The share of questions that were answered rightly; 1 where nothing is asked."""
        return _share([mark.verdict == "right" for mark in self.marks])

    @property
    def grounded(self) -> float:
        """The share of questions that were answered rightly by one who had looked."""
        return _share([mark.verdict == "right" and mark.looked for mark in self.marks])

    @property
    def lucky(self) -> int:
        """Questions that were answered rightly by one who hadn't looked."""
        return sum(mark.verdict == "right" and not mark.looked for mark in self.marks)


def score(
    task: Task,
    answers: Mapping[str, str],
    served: Mapping[tuple[int, int], Served],
    *,
    chances: Chances = Chances(),
) -> Score:
    """Score what came of a task.

    `answers`: by the text of the question. `served`: by key point (its number in the task) and step; a need that isn't there was missed. Raises `ValueError` for a need that the task doesn't have.
    """
    needs = tuple(needs_in(task))
    if unknown := sorted(set(served) - set(needs)):
        raise ValueError(f"{task.name} has no needs {unknown}; `needs_in` lists those that it has")
    ways = [served.get(need, "miss") for need in needs]
    marks = tuple(
        Marked(question, verdict_of(question, answers.get(question.text)), _looked(task, question, served))
        for question in task.questions
    )
    counted: dict[Served, int] = {way: ways.count(way) for way in ("verbatim", "summary", "reload", "miss")}
    return Score(marks, counted, expected_success(ways, chances))


def expected_success(ways: Sequence[Served], chances: Chances) -> float:
    """Return the chance that all needs are met, when each is met or not for itself."""
    return prod(chances.of(way) for way in ways)


def needs_in(task: Task) -> Iterator[tuple[int, int]]:
    """Yield all needs of a task: the number of a key point and a step that needs it."""
    for number, point in enumerate(task.points):
        for step in point.needed:
            yield number, step


def verdict_of(question: Question, answer: str | None) -> Verdict:
    """Judge one answer: right when it holds one of the right texts, and none of the wrong ones."""
    if answer is None or not answer.strip():
        return "missing"
    if any(holds(answer, text) for text in question.wrong):
        return "wrong"
    return "right" if any(holds(answer, text) for text in question.answers) else "wrong"


def holds(answer: str, text: str) -> bool:
    """Whether `text` stands in `answer` as a whole: not as a part of a longer word or number. Case and the width of blanks don't matter."""
    return _pattern(text).search(answer) is not None


def own_answers(task: Task) -> dict[str, str]:
    """Return what the story itself answers to each question: the text and the arguments of the request that answers it."""
    said = [event.message for event in task.recording.events if isinstance(event, Answered)]
    texts = ["\n".join([message.text, *map(arguments_text, message.tool_calls)]) for message in said]
    return {question.text: texts[question.step - 1] for question in task.questions}


@cache
def _pattern(text: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, text.split()))
    return re.compile(rf"(?<![\w])(?<!\d[.,]){words}(?![\w])(?![.,]\d)", re.IGNORECASE)


def _looked(task: Task, question: Question, served: Mapping[tuple[int, int], Served]) -> bool:
    return all(served.get((point, question.step), "miss") in RAW for point in question.points)


def _share(flags: list[bool]) -> float:
    return sum(flags) / len(flags) if flags else 1.0
