"""A finding of the doctor's, as a value that frontends print."""

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "note", "missing"]


@dataclass(frozen=True, slots=True)
class Check:
    """One finding: `status`, what it is about, what was found, and what to do about it (empty when nothing)."""

    status: Status
    name: str
    found: str
    todo: str = ""
