"""`SYSTEM.md` and `APPEND_SYSTEM.md`: a system prompt of one's own, and words at the end of the one that there is.

    HOME/SYSTEM.md ◀ .trimtab/SYSTEM.md of the folders from the root down (the last one holds)      in place of Trimtab's own words
    HOME/APPEND_SYSTEM.md, then .trimtab/APPEND_SYSTEM.md of each folder                              behind them, all that there are

The one rule: what the settings or a flag say (`system_prompt`) holds over a file.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trimtab.coding.instructions.remark import Remark
from trimtab.coding.instructions.section import Section
from trimtab.coding.instructions.texts import SourceText, Texts, Unread
from trimtab.coding.telling.printable import one_line
from trimtab.coding.tools.paths import shown_name

_MOST = 64 * 1024
"""Bytes of one file."""


@dataclass(frozen=True, slots=True)
class SystemFiles:
    """The files that there are. `base` stands in place of what Trimtab says, `appended` behind it."""

    base: Section | None = None
    appended: tuple[Section, ...] = ()

    def texts(self) -> dict[str, str]:
        """What each says, by name."""
        return {one.name: one.text for one in ((self.base,) if self.base else ()) + self.appended}


def find_system_files(home: Path, folders: tuple[Path, ...], texts: Texts, remarks: list[Remark]) -> SystemFiles:
    """Look in the person's home, and in `.trimtab` of the folders of a trusted project, the top one first. Touches the disk."""
    top = folders[0] if folders else None
    places = [(home, None), *((folder / ".trimtab", top) for folder in folders)]
    found = {
        name: [one for folder, inside in places for one in _read(folder / name, inside, texts, remarks)]
        for name in ("SYSTEM.md", "APPEND_SYSTEM.md")
    }
    base = next((Section("base", one.source, one.text) for one in reversed(found["SYSTEM.md"])), None)
    return SystemFiles(base, tuple(found["APPEND_SYSTEM.md"]))


def _read(path: Path, inside: Path | None, texts: Texts, remarks: list[Remark]) -> Iterator[Section]:
    if not os.path.lexists(path):
        return
    try:
        source = texts.read(path, most=_MOST, inside=inside)
    except Unread as why:
        remarks.append(Remark(str(why), "files"))
        return
    remarks += [Remark(note, "files", left_out=False) for note in _notes(source)]
    if source.text.strip():
        shown = shown_name(os.path.relpath(path, inside)) if inside else f"user:{path.name}"
        yield Section(one_line(shown), source.shown, source.text)


def _notes(source: SourceText) -> Iterator[str]:
    yield from source.notes
    if source.rest is not None:
        yield f"{source.shown} is cut at line {source.rest}: it has {source.size:,} bytes, and {_MOST:,} are read"
