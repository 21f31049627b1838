"""A haystack: pieces of real texts, some of which hold the evidence for a question.

    golds (piece, evidence, question, answers) + pool of other pieces ──Haystack──▶ the same stories as generated ones: shown, needed after a lag

The agent reads pieces, and answers each question with its evidence word for word. `chat`: the pieces are what a user says, and nothing is read.
A piece that is longer than a large result of the level is cut to a window that holds the evidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from trimtab.lab.tasks.plot import seeded, threads
from trimtab.lab.tasks.stage import Stage
from trimtab.lab.tasks.story import Act, Cue, Fact, Refused, Turn
from trimtab.lab.tasks.task import Level, Task

T = TypeVar("T")
CHARS = 4.5
"""Characters a token, about, of English prose."""
_NAMED = 12
"""Questions that the first prompt names."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A text with a name."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Gold:
    """A piece that holds the evidence for a question; `evidence` stands in it word for word."""

    piece: Piece
    evidence: str
    question: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Haystack:
    """What a story is made of: `prompt` is what is asked in general. `pool` is drawn from in any order."""

    family: str
    prompt: str
    golds: Sequence[Gold]
    pool: Sequence[Piece]
    chat: bool = False

    def task(self, seed: int, level: Level, rng: Random | None = None) -> Task:
        """Make a task. Raises `ValueError` when there is no gold piece whose evidence stands in it alone, or the story can't be told without giving one away."""
        rng = rng or seeded(self.family, seed, level)
        plot = threads(rng, level, first=2 if self.chat else 1)
        golds = _apart(self.prompt, self.golds, len(plot))
        if not golds or not self.pool:
            raise ValueError(f"{self.family}: nothing to ask about, or nothing to hide it in")
        script = _Reading(rng, self, level, {gold.evidence: gold for gold in golds})
        cues = [Cue(_fact(gold), shown, (used,)) for gold, (shown, used) in zip(golds, plot, strict=False)]
        try:
            return Stage(self.family, seed, level, rng).play(script, cues)
        except Refused as refused:
            raise ValueError(f"{self.family}: {refused}") from refused


def picked(family: str, options: Sequence[T], seed: int) -> T:
    """Return the document, case or talk of a seed; those that there are take turns. Raises `ValueError` where there is none."""
    if not options:
        raise ValueError(f"{family}: nothing to ask about")
    return options[seed % len(options)]


def window(text: str, chars: int, around: str = "") -> str:
    """Return at most about `chars` characters of a text, with `around` in them."""
    if len(text) <= chars:
        return text
    at = max(0, text.find(around))
    start = max(0, min(at - (chars - len(around)) // 2, len(text) - chars))
    return text[start : max(start + chars, at + len(around))]


@dataclass(slots=True)
class _Reading:
    rng: Random
    hay: Haystack
    level: Level
    golds: dict[str, Gold]
    system: str = "You answer questions from what you are given. Quote the evidence for each answer word for word."

    def opening(self, facts: Sequence[Fact]) -> str:
        named = [fact.question for fact in facts[:_NAMED]]
        self.rng.shuffle(named)
        return "\n".join([self.hay.prompt, *(f"- {question}" for question in named)])

    def turn(self, step: int, uses: Sequence[Fact], shows: Sequence[Fact]) -> Turn:
        if self.hay.chat:
            told = [self._piece(fact).text for fact in shows] or [self._drawn().text]
            said = " ".join(f"{fact.question} {self._answer(fact)} You told me: {fact.text}" for fact in uses)
            return Turn(
                said or self.rng.choice(("I see.", "Thank you for telling me.", "Noted.")), then="\n\n".join(told)
            )
        acts = [self._recorded(fact) for fact in uses]
        if shows or not acts:
            pieces = [self._piece(fact) for fact in shows] or [self._drawn()]
            acts += [Act("read", {"name": piece.name}, piece.text) for piece in pieces]
        return Turn("", tuple(acts))

    def closing(self, facts: Sequence[Fact]) -> str:
        return "\n".join(["That is all.", *(f"- {f.question} {self._answer(f)} ({f.text})" for f in facts)])

    def _answer(self, fact: Fact) -> str:
        return self.golds[fact.text].answers[0]

    def _piece(self, fact: Fact) -> Piece:
        gold = self.golds[fact.text]
        return Piece(gold.piece.name, self._cut(gold.piece.text, gold.evidence))

    def _drawn(self) -> Piece:
        piece = self.rng.choice(self.hay.pool)
        return Piece(piece.name, self._cut(piece.text, ""))

    def _cut(self, text: str, around: str) -> str:
        return window(text, round(self.level.tokens * CHARS), around)

    def _recorded(self, fact: Fact) -> Act:
        arguments = {"question": fact.question, "answer": self._answer(fact), "evidence": fact.text}
        return Act("record_answer", arguments, "saved")


def _fact(gold: Gold) -> Fact:
    return Fact(gold.evidence, "quote", gold.piece.name, "", gold.question, field=False, answers=gold.answers)


def _apart(prompt: str, golds: Sequence[Gold], most: int) -> list[Gold]:
    """The first golds, as many as are wanted, of which none gives away another one."""
    chosen: list[Gold] = []
    for gold in golds:
        others = [f"{other.piece.name}\n{other.piece.text}\n{other.question}" for other in chosen]
        own = f"{prompt}\n{gold.piece.name}\n{gold.question}"
        clash = any(gold.evidence in text for text in [*others, own]) or any(
            other.evidence in f"{own}\n{gold.piece.text}" or other.question == gold.question for other in chosen
        )
        if not clash and gold.piece.text.count(gold.evidence) == 1 and gold.answers:
            chosen.append(gold)
        if len(chosen) == most:
            break
    return chosen
