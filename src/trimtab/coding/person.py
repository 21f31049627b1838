"""Questions to a person: what is asked, what may be answered, and who is asked.

    permission, trust, a server's form ──Question──▶ Person.ask ──▶ the key of an option, or words ──▶ whoever asked
                                                        └─ None: nobody answers, so what holds without a person holds

A frontend that has a person in front of it is a `Person`; without one there is `NOBODY`. The one rule: what a question shows is data, made harmless by
whoever shows it, and no answer is ever made up.
"""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

Kind: TypeAlias = Literal["permission", "trust", "choice", "text", "secret"]
"""What is asked for; a frontend may show each in its own way. `text` and `secret` are answered in words (a secret isn't shown as it is typed)."""


@dataclass(frozen=True, slots=True)
class Option:
    """One answer. `key` is what comes back, one word; `label` is what a person reads; `hint` says what it means for later."""

    key: str
    label: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, in one line; `details` are the lines to decide by (a command whole, a diff, what would be trusted).

    `options` are empty for kinds that are answered in words. `default` is the key that Enter means; without it a person has to choose.
    """

    kind: Kind
    text: str
    details: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    default: str | None = None


class Person(Protocol):
    """Whoever can be asked."""

    async def ask(self, question: Question) -> str | None:
        """Return the key of the chosen option, or the words; None when nobody answers. One question at a time is shown; later ones wait."""
        ...


@dataclass(frozen=True, slots=True)
class Nobody:
    """No person is there."""

    async def ask(self, question: Question) -> str | None:
        """Return None."""
        return None


NOBODY = Nobody()
