"""From the path that a model wrote to a file on disk.

Models copy paths from mentions (`@src/a.py`), links (`file:///…`), shells (`~/x`) and screenshots whose names hold narrow
spaces, curly quotes or decomposed accents. `Workspace.locate` finds the file that was meant; `Workspace.place` is the stricter
form for a file that may not exist yet. The one rule: the exact name always wins, and a likeness counts only when it is the only one.

A name that isn't UTF-8 is shown with its odd bytes as `\\xNN` (`shown_name`) and found again by that spelling.
"""

import difflib
import itertools
import os
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from trimtab.coding.tools.failures import ToolFailure
from trimtab.types.text import scrub

_LOOKALIKES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"'})
_LISTED = 10_000
"""How many names of a folder are compared; a larger folder is compared in part, never walked for minutes."""


class Closed(Protocol):
    """Which files no tool opens or lists, and which no search shows unless it was about them."""

    @property
    def denied(self) -> Callable[[str], bool]:
        """Whether nobody reads this path."""
        ...

    @property
    def held(self) -> Callable[[str], bool]:
        """Whether a person is asked before this path is read."""
        ...


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where relative paths start, and what `~` means. Both absolute. `secret` is the real path of a file that no tool reads; what was damaged of it lies beside it."""

    cwd: Path
    home: Path
    secret: str = ""
    closed: Closed | None = None
    """What rules close."""

    def locate(self, text: str) -> Path:
        """Return the absolute path meant by `text`, with every likeness tried when the exact path isn't there.

        Symbolic links are kept. Raises `ToolFailure` for a text that can't be a path.
        """
        path = self._open(_seen(self._absolute(text), _loosely))
        if self.is_denied(path):
            raise ToolFailure(f"{self.shown(path)}: a rule of permissions.deny refuses to read it. Go on without it.")
        return path

    def place(self, text: str) -> Path:
        """Like `locate`, for a path to write: only another Unicode form of the same name is taken for the same file."""
        return self._open(_seen(self._absolute(text), _composed))

    def is_secret(self, path: Path) -> bool:
        """Whether `path` leads to what no tool reads."""
        return bool(self.secret) and identity(path).partition(".damaged-")[0] == self.secret

    def is_denied(self, path: Path) -> bool:
        """Whether a rule denies that `path` is read."""
        return self.closed is not None and self.closed.denied(str(path))

    def leaves_out(self, path: Path, root: Path) -> bool:
        """Whether a search in `root` shows nothing of `path`: it may not be read, or a person is asked about it, and wasn't about `root`."""
        if self.closed is None:
            return False
        return self.is_denied(path) or (self.closed.held(str(path)) and not self.closed.held(str(root)))

    def _open(self, path: Path) -> Path:
        if self.is_secret(path):
            raise ToolFailure(
                f"{self.shown(path)}: no tool opens this file, it holds the person's keys. Go on without it."
            )
        return path

    def shown(self, path: Path) -> str:
        """Return `path` for the model: relative inside the working folder, odd bytes escaped."""
        text = str(path.relative_to(self.cwd)) if path.is_relative_to(self.cwd) else str(path)
        return shown_name(text)

    def _absolute(self, text: str) -> Path:
        text = scrub(text)
        if not text.strip():
            raise ToolFailure("path is empty")
        if "\0" in text:
            raise ToolFailure("path holds a NUL character")
        if text.lower().startswith("file://"):
            text = _from_url(text)
        if text.startswith("@") and not self._literal_at(text):
            text = text[1:] or "."
        if text == "~" or text.startswith("~/"):
            return self.home / text[2:]
        return self.cwd / text

    def _literal_at(self, text: str) -> bool:
        """Whether the `@` is part of a name: `@types/x` in a folder that holds `@types`."""
        return os.path.lexists(self.cwd / Path(text).parts[0])


def identity(path: Path) -> str:
    """Return the real path of `path`, links resolved: two spellings of one file compare equal. Never raises."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return str(path)


def identities(find: Callable[[str], Path], text: object) -> frozenset[str]:
    """Return the identity of the file that `find` (a method of `Workspace`) makes of `text`, for `Access`; empty if none."""
    if not isinstance(text, str):
        return frozenset()
    try:
        return frozenset({identity(find(text))})
    except (ToolFailure, OSError):
        return frozenset()


def shown_name(name: str) -> str:
    """Return a file name that may enter a message: bytes that aren't UTF-8 become `\\xNN`, line ends become escapes."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return text.replace("\n", "\\n").replace("\r", "\\r")


def nearest(path: Path, *, limit: int = 3) -> list[str]:
    """Return up to `limit` names beside the missing `path` that look most like its name."""
    names = {shown_name(n): n for n in _names(path.parent)}
    folded = {shown.casefold(): shown for shown in names}
    close = difflib.get_close_matches(path.name.casefold(), folded, n=limit, cutoff=0.6)
    return [folded[c] for c in close]


def missing(path: Path, shown: str) -> ToolFailure:
    """Return the failure for a path that isn't there, naming what is."""
    parent = path.parent
    if not os.path.isdir(parent):
        return ToolFailure(f"{shown}: no such file; its folder doesn't exist either")
    close = nearest(path)
    hint = f"; near it: {', '.join(close)}" if close else "; use ls or find to see what is there"
    return ToolFailure(f"{shown}: no such file or folder{hint}")


def _from_url(text: str) -> str:
    parts = urlsplit(text)
    if parts.netloc not in ("", "localhost"):
        raise ToolFailure(f"{text}: only files of this machine can be used (file:///path)")
    return unquote(parts.path)


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _loosely(name: str) -> str:
    return unicodedata.normalize("NFC", shown_name(name)).translate(_LOOKALIKES)


def _seen(path: Path, key: Callable[[str], str]) -> Path:
    """Return `path`, or the existing path whose parts have the same `key`, part by part."""
    if os.path.lexists(path):
        return path
    here = Path(path.anchor)
    for part in path.parts[1:]:
        if part == ".." or os.path.lexists(here / part):
            here = here / part
            continue
        wanted = key(part)
        alike = [name for name in _names(here) if key(name) == wanted]
        here = here / (alike[0] if len(alike) == 1 else part)
    return here


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [e.name for e in itertools.islice(entries, _LISTED)]
    except OSError:
        return []
