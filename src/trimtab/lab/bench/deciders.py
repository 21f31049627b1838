"""Deciders: how many of an arm's decisions were left to the rules, since it couldn't know, failed, or wasn't asked any more.

    rows of an arm ──decisions, left──▶ Left ──above a half──▶ "mostly the rules decided": its figures are theirs, and it becomes no default by them

Rows of a version that didn't count who decided say nothing of it: what isn't known is said to be, and never read as none.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trimtab.lab.bench.row import Row

MOSTLY = 0.5
"""The share of decisions left to the rules above which an arm's figures are no longer its own."""
SAYS = "mostly the rules decided"
NOT_KNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Left:
    """Of an arm: its decisions, those left to the rules, and the stories of which nobody counted."""

    arm: str
    decisions: int
    left: int
    uncounted: int = 0

    @property
    def share(self) -> float | None:
        """Of its decisions that were left to the rules; None where none was counted."""
        return self.left / self.decisions if self.decisions else None

    @property
    def mostly(self) -> bool:
        """Whether the rules made more than a half of them."""
        return self.decisions > 0 and self.left > MOSTLY * self.decisions

    @property
    def says(self) -> str:
        """In a word or two; empty where there is nothing to say."""
        if self.mostly:
            return SAYS
        return NOT_KNOWN if self.uncounted else ""

    @property
    def figures(self) -> str:
        """The share with its numbers."""
        assert self.share is not None, "there is a share where something was decided"
        return f"{self.left:,} of {self.decisions:,} ({self.share:.0%})"


def left_of(arm: str, rows: Iterable[Row]) -> Left:
    """Return what rows of one arm say of who decided."""
    rows = list(rows)
    counted = [row.decided for row in rows if row.decided is not None]
    return Left(arm, sum(one.decisions for one in counted), sum(one.left for one in counted), len(rows) - len(counted))


def told(found: Iterable[Left]) -> Iterator[str]:
    """Yield what a reader must know of who decided: whose decisions were left to the rules, and of whom that isn't known."""
    found = list(found)
    if some := [one for one in found if one.left]:
        yield f"Decisions left to the rules: {', '.join(f'{one.arm} {one.figures}' for one in some)}."
    if mostly := [one.arm for one in found if one.mostly]:
        yield f"{SAYS.capitalize()} in place of {', '.join(mostly)}: those figures are the rules' rather than its own."
    if unknown := [one.arm for one in found if one.uncounted]:
        whose = "any arm" if len(unknown) == len(found) else ", ".join(unknown)
        yield f"How many decisions were left to the rules isn't known for {whose}: rows of an older version don't say."
