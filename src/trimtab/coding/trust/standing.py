"""What is stored about a project, and about all of them: for people who ask."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trimtab.coding.trust.answers import StoredAnswer
from trimtab.coding.trust.inputs import Input, project_inputs
from trimtab.coding.trust.known import read_known
from trimtab.coding.trust.lookup import look_up
from trimtab.coding.trust.place import place_of, project_root

Now = Literal["as it was", "gone", "another folder"]
"""What became of a folder since the answer."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A project and what holds for it. `trusted` is None when nobody has answered, `by` the path of the answer that counts, `code` the names of trusted code."""

    root: Path
    trusted: bool | None
    by: str = ""
    reason: str = ""
    inputs: tuple[Input, ...] = ()
    code: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stored:
    """One stored answer."""

    path: str
    answer: StoredAnswer
    now: Now


def standing(cwd: Path, store: Path, *, home: str | None = None) -> Standing:
    """What holds for the project of `cwd`. Raises `ConfigError` when the store is damaged."""
    root = project_root(cwd, home=home)
    known = read_known(store)
    found = look_up(root, known)
    by = found.entry.path if found.entry is not None and found.trusted is not None else ""
    inputs = project_inputs(root, cwd.resolve())
    return Standing(root, found.trusted, by, found.reason, inputs, tuple(sorted(known.code.get(str(root), {}))))


def all_stored(store: Path) -> tuple[Stored, ...]:
    """Every stored answer, by path. Raises `ConfigError` when the store is damaged."""
    found = []
    for path, entry in sorted(read_known(store).folders.items()):
        place = place_of(path)
        now: Now = "as it was"
        if place.identity is None:
            now = "gone"
        elif place.path != path or (entry.identity is not None and not entry.identity.is_same(place.identity)):
            now = "another folder"
        found.append(Stored(path, entry.answer, now))
    return tuple(found)
