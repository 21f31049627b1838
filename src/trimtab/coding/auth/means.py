"""What a login has of the frontend in which it happens."""

from collections.abc import Callable
from dataclasses import dataclass

from trimtab.coding.person import Person


@dataclass(frozen=True, slots=True)
class Means:
    """`tell` says a line to the person; `open_url` opens a browser on this machine and says whether it could."""

    person: Person
    tell: Callable[[str], None]
    open_url: Callable[[str], bool]
