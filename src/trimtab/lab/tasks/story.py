"""A story on its way: the events so far, and which of its facts were shown and used where.

    Fact (what matters) ──Cue (when it is shown, when it is used)──▶ Turn of a script ──Story.take──▶ events, key points

A story keeps the promises of a `KeyPoint` by refusing whatever breaks them: a text that holds a fact before its time, a turn that doesn't show what
it was to show or doesn't use what it was to use. Whoever writes turns draws another one then.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from trimtab.context.strings import arguments_text
from trimtab.lab.tasks.task import KeyPoint, Level, PointKind, Question, Task
from trimtab.sessions.recorded import Answered, Came, Event, Recording
from trimtab.types.messages import Assistant, Part, Text, ToolCall, ToolResult, user

MODEL = "generated"
"""The model that is said to have answered."""
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Fact:
    """Something exact that a story needs. `line` is how it is shown, and holds `text` (a script may word it anew); `about` names it without telling it.

    `question` is answered by `text`, or by one of `answers` where there are any, and not by any of `wrong`.
    """

    text: str
    kind: PointKind
    about: str
    line: str
    question: str
    wrong: tuple[str, ...] = ()
    field: bool = True
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cue:
    """When a fact is due. `shown`: the request whose calls bring it, 0 for the first prompt; `used`: the requests whose answers use it.

    `asked`: which of those answers its question.
    """

    fact: Fact
    shown: int
    used: tuple[int, ...]
    stale: bool = False
    asked: int = 0


@dataclass(frozen=True, slots=True)
class Act:
    """A call and what comes back."""

    tool: str
    arguments: dict[str, Any]
    result: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """An answer: words, calls with their results, and, where there are no calls, what the user says next. `about` names what the results are about."""

    text: str
    acts: tuple[Act, ...] = ()
    then: str = ""
    about: str = ""


class Refused(Exception):
    """A turn breaks a promise of the story; another one may not."""


@dataclass(slots=True)
class _Open:
    """A cue on its way: where its fact was shown, if it was."""

    cue: Cue
    message: int | None = None


@dataclass(slots=True)
class Story:
    """The events of a story, and its clock. `cues` are all facts that it will tell, in any order."""

    rng: Random
    cues: tuple[Cue, ...]
    events: list[Event] = field(default_factory=list)
    step: int = 0
    now: float = 0.0
    _open: list[_Open] = field(default_factory=list)
    _calls: int = 0

    def __post_init__(self) -> None:
        self._open = [_Open(cue) for cue in self.cues]
        self.now = 1_830_000_000.0 + self.rng.randint(0, 400) * _DAY + self.rng.randint(28_800, 36_000)

    def open(self, prompt: str) -> None:
        """Begin with what the user asks for."""
        self._check([prompt], step=0)
        self.events.append(Came(user(prompt), self.now))
        self._show([prompt], step=0)

    def take(self, turn: Turn, *, overnight: bool = False) -> None:
        """Go on by a request and what follows on it. Raises `Refused`, and stays as it was, when the turn breaks a promise.

        `overnight`: the user says the next words on the day after.
        """
        step = self.step + 1
        calls = tuple(self._call(number, act) for number, act in enumerate(turn.acts, 1))
        said = [turn.text, *map(arguments_text, calls)]
        self._uses(said, step)
        came = [act.result for act in turn.acts] + ([turn.then] if turn.then else [])
        self._check(said, step=step, own=True)
        self._check(came, step=step)
        self.step, self._calls = step, self._calls + len(calls)
        self.now += self.rng.randint(4, 50)
        parts: tuple[Part, ...] = (Text(turn.text), *calls) if turn.text else calls
        answer = Assistant(parts, "tool_use" if calls else "stop", model=MODEL)
        self.events.append(Answered(answer, self.now, f"answer-{step}"))
        for call, act in zip(calls, turn.acts, strict=True):
            self.now += self.rng.randint(0, 6)
            result = ToolResult(call.id, act.tool, (Text(act.result),), act.is_error)
            self.events.append(Came(result, self.now))
        if turn.then:
            self.now += self.rng.randint(50_000, 70_000) if overnight else self.rng.randint(15, 600)
            self.events.append(Came(user(turn.then), self.now))
        self._show(came, step=step)

    def task(self, family: str, seed: int, level: Level, system: str) -> Task:
        """Return the whole story as a task."""
        points = tuple(self._points())
        made = Task(family, seed, level, Recording("", family, MODEL, ()), points, tuple(self._questions()))
        recording = Recording(made.name, "generated", MODEL, tuple(self.events), system=system, id=made.name)
        return Task(family, seed, level, recording, points, made.questions)

    def _call(self, number: int, act: Act) -> ToolCall:
        raw = json.dumps(act.arguments, ensure_ascii=False)
        return ToolCall(f"call_{self._calls + number:04d}", act.tool, act.arguments, raw)

    def _uses(self, said: list[str], step: int) -> None:
        for cue in self.cues:
            if step in cue.used and not any(cue.fact.text in text for text in said):
                raise Refused(f"request {step} doesn't use {cue.fact.text!r}")

    def _check(self, texts: list[str], *, step: int, own: bool = False) -> None:
        """No text holds a fact before its first need, but for the one that shows it. `own`: the texts are the answer of this step."""
        for cue in self.cues:
            first = min(cue.used, default=None)
            over = cue.shown < step if first is None else first <= step
            if over:
                continue
            holding = sum(cue.fact.text in text for text in texts)
            if holding != (cue.shown == step and not own):
                raise Refused(f"{cue.fact.text!r} stands {holding} times in what comes with request {step}")

    def _show(self, texts: list[str], *, step: int) -> None:
        first = len(self.events) - len(texts)
        for due in self._open:
            if due.cue.shown == step:
                due.message = first + next(i for i, text in enumerate(texts) if due.cue.fact.text in text)

    def _points(self) -> Iterator[KeyPoint]:
        for due in self._open:
            cue, fact = due.cue, due.cue.fact
            assert due.message is not None, f"{fact.text!r} was never shown"
            yield KeyPoint(fact.text, fact.kind, due.message, cue.used, fact.field, cue.stale)

    def _questions(self) -> Iterator[Question]:
        for number, due in enumerate(self._open):
            cue, fact = due.cue, due.cue.fact
            if cue.used and not cue.stale:
                yield Question(fact.question, cue.used[cue.asked], fact.answers or (fact.text,), (number,), fact.wrong)
