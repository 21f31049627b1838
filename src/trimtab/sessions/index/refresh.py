"""Bringing the index up to date with the files.

    stat of each file ──differs──▶ read it ──▶ its summary; for a search, the texts of the lines that are new
    a row without a file ──▶ taken out

Files only grow, so lines that are in stay in: a checksum says whether the file still begins with them, and where it doesn't all of it is read anew.
"""

from __future__ import annotations

import math
import os
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from trimtab.context.recall.words import index_words
from trimtab.context.stores.disk import read_session_bytes
from trimtab.context.stores.folder import SessionFolder
from trimtab.context.stores.jsonl import SessionFile
from trimtab.context.stores.scan import scan
from trimtab.context.stores.summary import summary_of
from trimtab.sessions.index.kept import packed
from trimtab.sessions.index.texts import TITLE_LINE, rows_of
from trimtab.types.errors import SessionError

if TYPE_CHECKING:
    from sqlite3 import Connection

_WORTH = 4
"""So many times as long as looking takes, reading has to go on: else looking would be most of it."""
_TAKE_OUT = "INSERT INTO words(words, rowid, said) VALUES ('delete', ?, ?)"


@dataclass(frozen=True, slots=True)
class Seen:
    """A session file as a folder shows it, and its key in the index, `FOLDER/NAME`."""

    place: bytes
    key: bytes
    size: int
    mtime_ns: int
    inode: int

    @property
    def path(self) -> Path:
        """Where it is."""
        return Path(os.fsdecode(self.place))

    @property
    def stamp(self) -> tuple[int, int, int]:
        """What changes when the file does."""
        return self.size, self.mtime_ns, self.inode

    @property
    def modified(self) -> float:
        """When it was written last, in seconds since 1970."""
        return self.mtime_ns / 1_000_000_000


@dataclass(slots=True)
class Refreshed:
    """What came of it. `seen`: the files there are. `notes`: those that can't be read. `done`: whether nothing is left to do."""

    seen: list[Seen]
    notes: list[str] = field(default_factory=list)
    done: bool = True


def look(folder: SessionFolder, cwd: str | None) -> list[Seen]:
    """The session files of one project, or all. One that vanishes meanwhile isn't there; a pipe or folder of such a name is seen, and refused when it is read."""
    root = os.fsencode(folder.sessions)
    names = _names(root) if cwd is None else [os.fsencode(folder.folder_of(cwd).name)]
    seen: list[Seen] = []
    for name in names:
        with suppress(OSError), os.scandir(os.path.join(root, name)) as entries:
            for entry in entries:
                if entry.name.endswith(b".jsonl"):
                    with suppress(OSError):
                        stat = _stat_of(entry)
                        key = name + b"/" + entry.name
                        seen.append(Seen(entry.path, key, stat.st_size, stat.st_mtime_ns, stat.st_ino))
    return seen


def _stat_of(entry: os.DirEntry[bytes]) -> os.stat_result:
    """What is known of a file; of a link that leads nowhere, what is known of the link. Raises `OSError` for what has vanished."""
    try:
        return entry.stat()
    except OSError:
        return entry.stat(follow_symlinks=False)


def _names(root: bytes) -> list[bytes]:
    try:
        return os.listdir(root)
    except OSError:
        return []


def refresh(
    database: Connection,
    folder: SessionFolder,
    cwd: str | None,
    *,
    texts: bool,
    slice_s: float | None = None,
) -> Refreshed:
    """Take in what changed of one project or all, the newest first, in one transaction; with `texts`, for a search. Stops after about `slice_s` seconds, or
    a few times as long as it took to see what there is.

    Raises `sqlite3.Error`, and then nothing was changed.
    """
    begun = time.monotonic()
    seen = sorted(look(folder, cwd), key=lambda file: file.mtime_ns, reverse=True)
    result = Refreshed(seen)
    took = False
    database.execute("BEGIN IMMEDIATE")
    try:
        scope = None if cwd is None else os.fsencode(folder.folder_of(cwd).name)
        _take_out_the_gone(database, {file.key for file in seen}, scope)
        summaries = _stamps(database, "files")
        read = _stamps(database, "progress") if texts else {}
        ready = time.monotonic()
        end = math.inf if slice_s is None else ready + max(slice_s, _WORTH * (ready - begun))
        for file in seen:
            fresh = summaries.get(file.key) == file.stamp
            if fresh and (not texts or read.get(file.key) == file.stamp):
                continue
            if took and time.monotonic() > end:  # whoever gets a turn takes in one at least
                result.done = False
                break
            took = True
            try:
                if not fresh:
                    _take_summary(database, file)
                if texts:
                    _take_texts(database, file, folder)
            except SessionError as problem:
                _take_out(database, file.key)
                result.notes.append(problem.message)
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")
    return result


def _stamps(database: Connection, table: str) -> dict[bytes, tuple[int, int, int]]:
    rows = database.execute(f"SELECT path, size, mtime_ns, inode FROM {table}")
    return {path: (size, mtime_ns, inode) for path, size, mtime_ns, inode in rows}


def _take_out_the_gone(database: Connection, present: set[bytes], scope: bytes | None) -> None:
    everything = database.execute("SELECT path FROM files UNION SELECT path FROM progress").fetchall()
    for (path,) in everything:
        if path not in present and (scope is None or os.path.dirname(path) == scope):
            _take_out(database, path)


def _take_out(database: Connection, key: bytes) -> None:
    _take_out_texts(database, key, after=-2)
    database.execute("DELETE FROM progress WHERE path = ?", (key,))
    database.execute("DELETE FROM files WHERE path = ?", (key,))


def _take_out_texts(database: Connection, key: bytes, *, after: int) -> None:
    """Take out what lines behind `after` say, and the title."""
    which = "path = ? AND (line > ? OR line = ?)"
    found = database.execute(f"SELECT id, text FROM texts WHERE {which}", (key, after, TITLE_LINE)).fetchall()
    database.executemany(_TAKE_OUT, [(number, words_of(text)) for number, text in found])
    database.execute(f"DELETE FROM texts WHERE {which}", (key, after, TITLE_LINE))


def words_of(text: str) -> str:
    """The words of a text as the index holds them."""
    return " ".join(index_words(text))


def _take_summary(database: Connection, file: Seen) -> None:
    summary = summary_of(SessionFile.read(file.path), file.modified)
    row = (file.key, os.path.dirname(file.key), *file.stamp, packed(summary, file.modified))
    database.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)", row)


def _take_texts(database: Connection, file: Seen, folder: SessionFolder) -> None:
    data = read_session_bytes(file.path)
    kept = database.execute("SELECT bytes, lines, checksum FROM progress WHERE path = ?", (file.key,)).fetchone()
    size, after, checksum = kept or (0, 0, 0)
    if size > len(data) or zlib.crc32(data[:size]) != checksum:
        size = after = 0
    _take_out_texts(database, file.key, after=after)
    for row in rows_of(scan(data), folder.bodies_of(file.path), after=after):
        values = (file.key, row.line, row.entry, row.role, row.time, row.text)
        cursor = database.execute("INSERT INTO texts VALUES (NULL, ?, ?, ?, ?, ?, ?)", values)
        database.execute("INSERT INTO words(rowid, said) VALUES (?, ?)", (cursor.lastrowid, words_of(row.text)))
    whole = data.rfind(b"\n") + 1
    progress = (file.key, *file.stamp, whole, data.count(b"\n"), zlib.crc32(data[:whole]))
    database.execute("INSERT OR REPLACE INTO progress VALUES (?, ?, ?, ?, ?, ?, ?)", progress)
