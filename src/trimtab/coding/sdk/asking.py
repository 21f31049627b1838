"""A function as the person who is asked.

Question ──▶ function ──▶ the key of an option, words, or None
         ──trust──▶ None: a function that says yes to calls has not looked at what a folder brings; the option `trust` is where a program says that
"""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, cast

import anyio

from trimtab.coding.person import NOBODY, Person, Question
from trimtab.types.errors import UsageError

AskFunction: TypeAlias = Callable[[Question], str | Awaitable[str | None] | None]
"""Gets a question and returns the key of an option, words where there are no options, or None; async or plain. Whether a folder is trusted it isn't asked."""


@dataclass(frozen=True, slots=True)
class FunctionPerson:
    """A `Person` made of a function; a plain one is called in a thread."""

    function: AskFunction

    async def ask(self, question: Question) -> str | None:
        """What the function says."""
        if question.kind == "trust":
            return None
        said: str | Awaitable[str | None] | None
        if inspect.iscoroutinefunction(self.function):
            said = self.function(question)
        else:
            said = await anyio.to_thread.run_sync(partial(self.function, question))
        return said if said is None or isinstance(said, str) else await said


def person_of(given: Person | AskFunction | None) -> Person:
    """Who is asked. Raises `UsageError` for what can't be."""
    if given is None:
        return NOBODY
    if callable(getattr(given, "ask", None)):
        return cast("Person", given)
    if callable(given):
        return FunctionPerson(given)
    raise UsageError(
        f"person is {type(given).__name__}, which can't be asked",
        hint="Give a function of a Question, or an object with `ask`.",
    )
