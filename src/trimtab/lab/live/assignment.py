"""Assignments: a repository with failing tests, what has to be known to repair it, and a plan that repairs it.

    prompt + files ──▶ whoever works there      facts, moves ──▶ the scripted agent, which has to find each value in what it is shown
    truth          ──▶ the judge alone          open files are all that the tests see of what was changed

The one rule: no move and no fact holds a value of `truth`. A move names facts in brackets (`⟨name⟩`), and whoever makes it fills in what it sees.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

BLANK = re.compile(r"⟨(\w+)⟩")
"""Where the value of a fact goes."""
TESTS = "python3 -m unittest 2>&1"
"""The command that runs the tests of a repository."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that has to be known. `pattern` finds its value, as its one group, in whatever shows it; `source` is the file that says it; `words` are what somebody would search for
    who wants it. All three may name other facts.

    `guess`: what is written by somebody who doesn't know it. It is wrong.
    """

    name: str
    pattern: str
    source: str
    words: str
    guess: str


@dataclass(frozen=True, slots=True)
class Move:
    """One step of the plan: a few words and one call. Texts of the arguments may name facts."""

    say: str
    tool: str
    arguments: Mapping[str, Any]

    @property
    def needs(self) -> tuple[str, ...]:
        """The facts that it names, each once."""
        return blanks(self.arguments)


@dataclass(frozen=True, slots=True)
class Assignment:
    """One repository and what is to be done in it. `open_files` may be changed; all others are as they were when the tests judge, and others there are none."""

    family: str
    number: int
    prompt: str
    files: Mapping[str, str]
    open_files: tuple[str, ...]
    facts: tuple[Fact, ...]
    moves: tuple[Move, ...]
    truth: Mapping[str, str]

    @property
    def name(self) -> str:
        """What tables call it."""
        return f"{self.family}-{self.number}"


def blanks(value: object) -> tuple[str, ...]:
    """The facts that the texts of a JSON value name, each once, in order."""
    found: dict[str, None] = {}
    filled(value, lambda name: found.setdefault(name) or "")
    return tuple(found)


def filled(value: Any, known: Callable[[str], str]) -> Any:
    """The JSON value with what `known` says for each fact that it names."""
    if isinstance(value, str):
        return BLANK.sub(lambda blank: known(blank[1]), value)
    if isinstance(value, Mapping):
        return {key: filled(inner, known) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [filled(inner, known) for inner in value]
    return value
