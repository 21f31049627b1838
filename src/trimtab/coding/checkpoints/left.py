"""A file that stays as it is, and what helps."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Remedy: TypeAlias = Literal["force", "again", "yourself"]
"""What helps with a file that was left: to say so, to mend what hinders and go back and forth once more, or to do it by hand."""


@dataclass(frozen=True, slots=True)
class Left:
    """A file that was left as it is, why, and what helps."""

    path: str
    why: str
    remedy: Remedy
