"""The files of a source by name, before any is read: a tree of git, or a folder.

    Entry(path, kind, size) …  ──read(paths)──▶ bytes

The one rule: no link is followed, and nothing larger than the limits is opened.
"""

import os
import stat
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from trimtab.coding.telling.printable import one_path
from trimtab.types.errors import UsageError

MOST_ENTRIES = 20_000
LARGEST = 4_000_000
"""Bytes of one file."""
LARGEST_ALL = 20_000_000
"""Bytes of all that is taken."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One name. `path` is relative and has `/` between its parts."""

    path: str
    kind: Literal["file", "link", "repository", "other"]
    size: int = 0


class Tree(Protocol):
    """The files of a source. `commit` is the one they are of, empty for files as they stand."""

    @property
    def entries(self) -> Mapping[str, Entry]:
        """What there is, by path."""
        ...

    @property
    def commit(self) -> str:
        """The commit, or nothing."""
        ...

    def read(self, paths: Collection[str]) -> dict[str, bytes]:
        """The bytes of these files. Raises `UsageError` for what can't be read, or is too large."""
        ...


def require_size(entries: Mapping[str, Entry], paths: Collection[str]) -> None:
    """Raise `UsageError` where these files are more than an extension may have."""
    large = next((path for path in paths if entries[path].size > LARGEST), None)
    if large is not None:
        raise UsageError(
            f"{one_path(large)} is larger than {LARGEST:,} bytes",
            hint="An extension is code, and small files beside it.",
        )
    if sum(entries[path].size for path in paths) > LARGEST_ALL:
        raise UsageError(
            f"the files are larger than {LARGEST_ALL:,} bytes together",
            hint="An extension is code, and small files beside it.",
        )


@dataclass(frozen=True, slots=True)
class FolderTree:
    """A folder, or one file of it, as it stands."""

    folder: Path
    entries: Mapping[str, Entry]
    commit: str = ""

    def read(self, paths: Collection[str]) -> dict[str, bytes]:
        """Read them, each once."""
        require_size(self.entries, paths)
        try:
            return {path: _bytes_of(self.folder / path) for path in paths}
        except OSError as e:
            raise UsageError(
                f"{one_path(e.filename or self.folder)} can't be read: {e.strerror or e}",
                hint="Make it readable, or leave it out.",
            ) from None


def folder_tree(path: Path) -> FolderTree:
    """What is at `path`, a file or a folder. Raises `UsageError`."""
    if not path.is_dir():
        return FolderTree(
            path.parent, {path.name: Entry(path.name, "file" if path.is_file() else "other", path.stat().st_size)}
        )
    entries: dict[str, Entry] = {}
    try:
        for entry in _walk(path, ""):
            entries[entry.path] = entry
            if len(entries) > MOST_ENTRIES:
                raise UsageError(
                    f"{one_path(path)} has more than {MOST_ENTRIES:,} files",
                    hint="Name the extension's own folder or file.",
                )
    except OSError as e:
        raise UsageError(
            f"{one_path(e.filename or path)} can't be read: {e.strerror or e}",
            hint="Make it readable, or name another folder.",
        ) from None
    return FolderTree(path, entries)


def _walk(folder: Path, prefix: str) -> Iterator[Entry]:
    with os.scandir(folder) as found:
        listed = sorted(found, key=lambda one: one.name)
    for one in listed:
        path = prefix + one.name
        if one.is_symlink():
            yield Entry(path, "link")
        elif one.is_dir(follow_symlinks=False):
            if one.name not in (".git", "__pycache__"):
                yield from _walk(Path(one.path), f"{path}/")
        elif one.is_file(follow_symlinks=False):
            yield Entry(path, "file", one.stat(follow_symlinks=False).st_size)
        else:
            yield Entry(path, "other")


def _bytes_of(path: Path) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(0, "no regular file", str(path))
        return file.read(LARGEST)
