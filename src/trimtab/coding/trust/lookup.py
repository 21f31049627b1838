"""What the stored answers say of a project: its own, or the one of a folder above it; and if nothing, why one is asked again.

root ──own path──▶ the same folder? ──▶ its answer           another one there now ──▶ asked again
     ──paths above──▶ "below", no repository in between ──▶ trusted
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from trimtab.coding.telling.printable import one_path
from trimtab.coding.trust.known import Entry, Known
from trimtab.coding.trust.place import Place, above, is_foreign, place_of, spelled_alike


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether stored answers trust a project; None when they say nothing, with the reason if there is one that a person should know."""

    trusted: bool | None
    entry: Entry | None = None
    reason: str = ""


def look_up(root: Path, known: Known) -> Finding:
    """What `known` says of the project `root`, a real path."""
    here = place_of(root)
    entry = _entry_at(here, known)
    if entry is not None:
        if not _is_still(here, entry):
            return Finding(None, entry, "another folder is in the place of the one that you decided about")
        return Finding(entry.answer != "never", entry)
    for path in above(here.path):
        there = place_of(path)
        entry = _entry_at(there, known)
        if entry is not None and entry.answer == "never":
            break  # a wider yes doesn't reach below a no
        if entry is None or entry.answer != "below":
            continue
        if not _is_still(there, entry):
            return Finding(None, entry, f"{one_path(path)}, in which all was trusted, is another folder now")
        if is_foreign(here.path, there.path):
            return Finding(
                None, entry, f"a repository of its own or something installed, though it lies in {one_path(path)}"
            )
        return Finding(trusted=True, entry=entry)
    return Finding(None, None, _known_elsewhere(here, known.folders.values()))


def _entry_at(place: Place, known: Known) -> Entry | None:
    """The entry of this path, or of the same path as a file system spells it that doesn't tell case apart."""
    if place.path in known.folders:
        return known.folders[place.path]
    return next(
        (e for e in known.folders.values() if spelled_alike(e.path, place.path) and _same_file(e.path, place.path)),
        None,
    )


def _same_file(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _is_still(place: Place, entry: Entry) -> bool:
    return entry.identity is None or (place.identity is not None and place.identity.is_same(entry.identity))


def _known_elsewhere(place: Place, entries: Iterable[Entry]) -> str:
    """Words about the same folder under another path: it was renamed, or is mounted twice."""
    for entry in entries:
        same = entry.identity and entry.identity.born is not None and place.identity == entry.identity
        if same and entry.answer != "never":
            was = "is" if _same_file(entry.path, place.path) else "was"
            return f"it {was} trusted as {one_path(entry.path)}, and another path is asked about again"
    return ""
