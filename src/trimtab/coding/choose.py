"""Which session a run continues: a value that flags become, and the log that value opens."""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class New:
    """A fresh session in the folder of this project; `parent_session` is the id of one that it comes from, and holds nothing of."""

    parent_session: str | None = None


@dataclass(frozen=True, slots=True)
class Resume:
    """An existing session: id, unique id prefix, path, or `last`."""

    ref: str


@dataclass(frozen=True, slots=True)
class Fork:
    """A new session that starts as a copy of another one's branch, up to entry `at` (an id, the start of one, or a label; None: all of it)."""

    ref: str
    at: str | None = None


@dataclass(frozen=True, slots=True)
class AtFile:
    """This file: opened when it exists, else created."""

    path: Path


@dataclass(frozen=True, slots=True)
class Ephemeral:
    """Nothing is written."""


Choice: TypeAlias = New | Resume | Fork | AtFile | Ephemeral
