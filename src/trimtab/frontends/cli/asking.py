"""A person at the keyboard of the line loop: a question is shown, and the next line is its answer.

    whoever asks ──ask──▶ shown ──┬─ a line: an option by its key, its first letters or its number, or y, n ─▶ its key
                                  ├─ a line that is none ─▶ said, and asked again
                                  └─ `q`, an empty line where Enter means nothing, end of input, or the wait is given up ─▶ None

A line may come when its question is over: whoever asked has gone, or the answer was typed twice. `late` knows such a line, so that neither a `y` nor a
key becomes a prompt. While the loop takes no lines, `reading` says where those of an answer come from. Where nobody types (lines from a pipe are prompts) nothing is asked.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

import anyio

from trimtab.coding.person import NOBODY, Option, Person, Question
from trimtab.coding.telling.printable import one_line, set_in

Say = Callable[[str], None]
Read = Callable[[], Awaitable[str | None]]
_PLAIN = {"y": ("once",), "yes": ("once",), "n": ("no", "later"), "no": ("no", "later")}
"""What people type at any question: the options that it may mean where none begins so. A yes is for this time only."""


@dataclass(slots=True)
class LinePerson:
    """Asks by `say` and is told lines by `hear`. `interactive`: a person types them; `hide` keeps what is typed from being shown: without it no secret is asked for."""

    say: Say
    interactive: bool
    hide: Callable[[], AbstractContextManager[None]] | None = None
    _read: Read | None = None
    _turn: anyio.Lock = field(default_factory=anyio.Lock)
    _asked: Question | None = None
    _answer: str | None = None
    _answered: anyio.Event = field(default_factory=anyio.Event)
    _over: Question | None = None
    """What was asked last, until the next line."""
    _heard: bool = False
    """Whether a line ended that."""

    async def ask(self, question: Question) -> str | None:
        """Show the question and wait for its answer."""
        secret = question.kind == "secret"
        if not self.interactive or (secret and self.hide is None):
            return None
        async with self._turn:
            self._asked, self._answer, self._answered = question, None, anyio.Event()
            self._over, self._heard = None, False
            with self.hide() if secret and self.hide else nullcontext():
                return await self._answer_of(question)

    async def _answer_of(self, question: Question) -> str | None:
        try:
            self.say(shown(question))
            async with anyio.create_task_group() as group:
                if self._read is not None:
                    group.start_soon(self._hear_from, self._read)
                await self._answered.wait()
                group.cancel_scope.cancel()
            return self._answer
        finally:
            if self._asked is not None:
                self.say("that is asked no more")
            self._asked, self._answer, self._over = None, None, question

    @property
    def waiting(self) -> bool:
        """Whether the next line is an answer."""
        return self._asked is not None

    def hear(self, line: str) -> None:
        """Take a line as the answer of what is asked."""
        question = self._asked
        if question is None:
            return
        if leaves(line, question):
            self._heard = True
            self._done(None)
            self.say("not answered")
            return
        chosen = line if not question.options else chosen_key(line, question)
        if chosen is None:
            self.say(f"{one_line(line.strip()) or 'nothing'} is no answer; {_ways(question)}")
            return
        self._heard = True
        self._done(chosen)

    def late(self, line: str, *, working: bool) -> bool:
        """Whether a line was meant for a question that is over: any, where words or a secret were asked for and none came; else what would have answered it.

        After an answer that is only so while the work goes on for which it was: later a `y` may answer the model.
        """
        question, self._over = self._over, None
        if question is None or not line.strip() or (self._heard and not working):
            return False
        if not question.options:
            return not self._heard
        return leaves(line, question) or chosen_key(line, question) is not None

    def give_up(self) -> bool:
        """Leave what is asked without an answer; False when nothing is asked."""
        if self._asked is None:
            return False
        self._done(None)
        return True

    @contextmanager
    def reading(self, read: Read | None) -> Iterator[None]:
        """For this long, hear the lines that `read` gives: nobody else reads them."""
        self._read = read
        try:
            yield
        finally:
            self._read = None

    async def _hear_from(self, read: Read) -> None:
        while self.waiting:
            line = await read()
            if line is None:
                self.give_up()
            else:
                self.hear(line)

    def _done(self, answer: str | None) -> None:
        self._answer, self._asked = answer, None
        self._answered.set()


def asked_by(person: LinePerson) -> Person:
    """Who is asked: that person, or nobody where nobody types."""
    return person if person.interactive else NOBODY


def shown(question: Question) -> str:
    """The question as lines: what is asked, what to decide by, and what may be answered."""
    lines = [one_line(question.text)]
    lines += [set_in(detail).rstrip("\n") for detail in question.details]
    lines += [f"  {n}  {_named(option)}" for n, option in enumerate(question.options, 1)]
    return "\n".join([*lines, _ways(question)])


def _named(option: Option) -> str:
    return one_line(f"{option.key}: {option.label}" + (f" ({option.hint})" if option.hint else ""))


def _ways(question: Question) -> str:
    if not question.options:
        return "type the answer and press Enter; an empty line: no answer"
    enter = f"Enter means {question.default}" if question.default else "an empty line: no answer"
    return f"answer with a word, its first letters or a number; {enter}"


def leaves(line: str, question: Question) -> bool:
    """Whether a line leaves the question without an answer: an empty one where Enter means nothing, or `q` where no option begins so."""
    word = line.strip().casefold()
    if not word:
        return question.default is None
    return (
        bool(question.options) and word == "q" and not any(o.key.casefold().startswith(word) for o in question.options)
    )


def chosen_key(line: str, question: Question) -> str | None:
    """The key of the option that `line` means; None when it means none or several."""
    word = line.strip().casefold()
    if not word:
        return question.default
    keys = [option.key for option in question.options]
    if word in keys:
        return word
    if word.isdecimal():
        return keys[int(word) - 1] if 0 < int(word) <= len(keys) else None
    begun = [key for key in keys if key.casefold().startswith(word)]
    if not begun and (meant := next((key for key in _PLAIN.get(word, ()) if key in keys), None)):
        return meant
    return begun[0] if len(begun) == 1 else None
