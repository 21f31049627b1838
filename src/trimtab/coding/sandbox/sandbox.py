"""What a backend is to whoever starts commands: it turns a command into one that runs confined, and says what it stops and what not."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

Started: TypeAlias = tuple[tuple[str, ...], Mapping[str, str]]
"""Arguments and environment of a process to start."""


@dataclass(frozen=True, slots=True)
class Description:
    """A backend in words: `name`, and sentences about what it holds and what gets past it."""

    name: str
    holds: tuple[str, ...]
    gaps: tuple[str, ...] = ()


class Sandbox(Protocol):
    """One way to confine a command."""

    def wrap(self, argv: tuple[str, ...], environment: Mapping[str, str], cwd: Path) -> Started:
        """Return what to start in `cwd` instead. `argv[0]` is an absolute path."""
        ...

    def describe(self) -> Description:
        """Say what it does."""
        ...
