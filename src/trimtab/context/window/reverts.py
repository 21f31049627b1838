"""Reverts: which edits of a path hold.

    edit x          holds
    revert r1 of x  x doesn't hold
    revert r2 of r1 r1 doesn't hold, so x does again

Something holds unless a revert that holds takes it back. So a revert that comes, or stops to hold, asks the same of what it is about, and so on down
to the edit: each row counts the reverts that hold against it, and a new one changes one row for each step down. A row is a place in a persistent
vector, so that a revert costs O(log n) of everything that was edited and taken back before, and the value before it stays as it was.

Pure and total: a revert of something that isn't there changes nothing, and neither does one that nests too deep. Files may come from anywhere.
"""

from collections.abc import Iterator, Set
from typing import NamedTuple

from trimtab.context.window.vector import Vector

DEEPEST = 64
"""How far reverts of reverts of reverts … are followed. Nobody gets there who takes back the edit itself."""


class Revert(NamedTuple):
    """A revert of the path: what it took back (an edit, or an earlier revert), and the step at which."""

    id: str
    target: str
    step: int


class _Row(NamedTuple):
    """An edit or a revert. `against` counts the reverts that hold and take it back; `target` is the row that this revert takes back."""

    id: str
    against: int = 0
    target: int | None = None
    depth: int = 0


class Reverted(Set[str]):
    """The ids of edits and reverts that don't hold: a set that is grown edit by edit, revert by revert. Begin with `Reverted()`."""

    __slots__ = ("_places", "_rows", "_size", "reverts")

    def __init__(self) -> None:
        self.reverts: Vector[Revert] = Vector()
        self._rows: Vector[_Row] = Vector()
        self._size = 0
        # Shared by all values that grew from one beginning and only ever added to; what it says is checked against the rows.
        self._places: dict[str, int] = {}

    def __contains__(self, entry_id: object) -> bool:
        row = self._row(entry_id)
        return row is not None and self._rows[row].against > 0

    def __iter__(self) -> Iterator[str]:
        return (row.id for row in self._rows if row.against) if self._size else iter(())

    def __len__(self) -> int:
        return self._size

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Reverted) and self._rows is other._rows:
            return True
        return super().__eq__(other)

    @property
    def recorded(self) -> int:
        """How many edits and reverts there are, whether or not they hold."""
        return len(self._rows)

    def entry(self, place: int) -> str:
        """The id of the edit or revert that was recorded at that place, from 0."""
        return self._rows[place].id

    def with_edit(self, edit_id: str) -> "Reverted":
        """The set once an edit was made; it holds."""
        self._places[edit_id] = len(self._rows)
        return self._made(self._rows.append(_Row(edit_id)), self.reverts, self._size)

    def with_revert(self, revert: Revert) -> "Reverted":
        """The set once `revert` was recorded."""
        target = self._row(revert.target)
        depth = 0 if target is None else self._rows[target].depth + 1
        if depth > DEEPEST:
            target = None
        self._places[revert.id] = len(self._rows)
        rows, size = self._rows.append(_Row(revert.id, 0, target, depth)), self._size
        change = 1
        while target is not None:
            row = rows[target]
            now = row._replace(against=row.against + change)
            rows = rows.replace(target, now)
            if bool(row.against) == bool(now.against):
                break
            size += change
            change, target = -change, row.target
        return self._made(rows, self.reverts.append(revert), size)

    def edit_behind(self, entry_id: str) -> str:
        """The edit that a revert, or a revert of one, is about; any other id as it is."""
        place = self._row(entry_id)
        if place is None:
            return entry_id
        while (row := self._rows[place]).target is not None:
            place = row.target
        return row.id

    def is_followed(self, entry_id: str) -> bool:
        """Whether a revert of that entry would change anything: it is an edit or a revert of this path, and not nested too deep."""
        place = self._row(entry_id)
        return place is not None and self._rows[place].depth < DEEPEST

    def _row(self, entry_id: object) -> int | None:
        place = self._places.get(entry_id) if isinstance(entry_id, str) else None
        if place is None or (place < len(self._rows) and self._rows[place].id == entry_id):
            return place
        # Another value of the family gave the name to another row.
        return next((n for n in range(len(self._rows) - 1, -1, -1) if self._rows[n].id == entry_id), None)

    @classmethod
    def _from_iterable(cls, it: "Iterator[str]") -> "Set[str]":  # type: ignore[override]
        return frozenset(it)

    def _made(self, rows: Vector[_Row], reverts: Vector[Revert], size: int) -> "Reverted":
        made = Reverted.__new__(Reverted)
        made._rows, made.reverts, made._size, made._places = rows, reverts, size, self._places
        return made
