"""What a person should know about something that was found: that it was left out and why, or what is odd about it."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

About: TypeAlias = Literal["files", "skills", "prompts", "agents"]


@dataclass(frozen=True, slots=True)
class Remark:
    """One remark, a line that begins with a path. `left_out`: what it is about isn't used."""

    text: str
    about: About
    left_out: bool = True
    told: bool = True
    """Whether the person hears of it unasked."""
