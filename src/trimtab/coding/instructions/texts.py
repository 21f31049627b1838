"""Reading a file of instructions, whatever the disk holds, and remembering it while it stays the same.

    path ──stat: as it was?──▶ what was read then
           └─otherwise──▶ a regular file (no pipe is ever opened) ──▶ at most so many bytes, decoded leniently ──▶ what nobody sees left out

The one rule: a file that can't be read is a sentence for a person, and stops nothing.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from trimtab.coding.telling.hidden import hidden_text, invisible_text, without_invisible
from trimtab.coding.telling.printable import one_line
from trimtab.coding.tools.disk import open_regular
from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.tools.paths import shown_name
from trimtab.coding.tools.text_files import sniff
from trimtab.coding.trust.place import is_foreign
from trimtab.types.text import scrub

T = TypeVar("T")
Mark: TypeAlias = tuple[int, int, int, int]
"""What differs once a file was written: device, inode, bytes, time of the change in ns."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """A file as it was read. `size` is in bytes; `rest` is the line from which it goes on where it was cut; `notes` say what is unusual.

    `hidden` is what stood in it unseen, comments too; `text` is without what no editor shows, of which there was some where the file is `spoilt`.
    """

    path: Path
    text: str
    size: int
    identity: tuple[int, int]
    rest: int | None = None
    notes: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    spoilt: bool = False

    @property
    def shown(self) -> str:
        """The path as it may stand in a line."""
        return shown_path(self.path)


class Unread(Exception):
    """A file of instructions can't be used; the text, which begins with its path, is for the person."""


@dataclass(slots=True)
class Texts:
    """Reads files, each once for each time that it changes."""

    _known: dict[tuple[Path, int], tuple[Mark, SourceText]] = field(default_factory=dict)
    _parsed: dict[Path, tuple[SourceText, Any]] = field(default_factory=dict)

    def parsed(self, source: SourceText, parse: Callable[[SourceText], T]) -> T:
        """What `parse` makes of a text, or the `Unread` that it raises: remembered as long as the file stays the same. One `parse` for each path."""
        known = self._parsed.get(source.path)
        if known is None or known[0] is not source:
            known = self._parsed[source.path] = (source, _outcome(source, parse))
        if isinstance(known[1], Unread):
            raise known[1]
        value: T = known[1]
        return value

    def read(self, path: Path, *, most: int, inside: Path | None = None) -> SourceText:
        """The file's text, of at most `most` bytes. `inside` is the folder that links must not lead out of.

        Raises `Unread`. Blocks on the disk: call it in a thread.
        """
        shown = shown_path(path)
        if inside is not None and is_foreign(real := os.path.realpath(path), os.path.realpath(inside)):
            raise Unread(
                f"{shown} is left out: it is a link to {shown_path(Path(real))}, outside of {shown_path(inside)}"
            )
        try:
            status = os.stat(path)
            mark = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
            known = self._known.get((path, most))
            if known is None or known[0] != mark:
                known = self._known[(path, most)] = (mark, _read(path, shown, most))
        except ToolFailure as failure:
            raise Unread(str(failure)) from None
        except (OSError, ValueError) as error:
            raise Unread(f"{shown} can't be read: {getattr(error, 'strerror', None) or error}") from None
        return known[1]


def _outcome(source: SourceText, parse: Callable[[SourceText], T]) -> T | Unread:
    try:
        return parse(source)
    except Unread as why:
        return why


def shown_path(path: Path) -> str:
    """A path as it may stand in a line for a model or a person."""
    return one_line(shown_name(str(path)))


def _read(path: Path, shown: str, most: int) -> SourceText:
    with open_regular(path, shown) as (file, status):
        data = b""
        while len(data) <= most and (block := file.read(most + 1 - len(data))):
            data += block
    cut = len(data) > most
    data = data[:most]
    encoding = sniff(data, complete=not cut)
    if encoding is None:
        raise ToolFailure(f"{shown} is left out: it is no text")
    text = scrub(data[len(encoding.mark) :].decode(encoding.name, "ignore" if cut else "replace"))
    notes = [f"{shown}: {encoding.note}"] if encoding.name != "utf-8" or encoding.errors != "strict" else []
    if hidden := invisible_text(text):
        notes.append(f"{shown} holds hidden text, which is left out: {'; '.join(hidden)}")
    every = hidden_text(text)
    text = without_invisible(text)
    if cut:
        text = text[: text.rfind("\n") + 1] or text
    rest = text.count("\n") + 1 if cut else None
    return SourceText(
        path,
        text,
        max(status.st_size, len(data)),
        (status.st_dev, status.st_ino),
        rest,
        tuple(notes),
        every,
        bool(hidden),
    )
