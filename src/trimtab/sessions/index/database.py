"""The file of the index: its tables, and what makes it unusable.

    files      what a list shows of a session, as it was at that size and time of the file
    progress   how far the texts of a session are in: bytes, lines, and a checksum of them
    texts      a text of a session, without secrets            words   the same, cut into words, without the text (FTS5)

A file of another form, or one that is damaged, is removed and made anew; it is never changed in place, for it may be somebody else's.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from sqlite3 import Connection

FORM = 3
"""Raise it when tables, summaries, texts or words change: what stands in the words of a text has to be known when it is taken out."""
_MARK = 0x7472696D
"""`application_id` of the file: whose it is."""
_BUSY_S = 2.0
"""Seconds that another program, such as a browser of databases, may keep it locked."""
_TABLES = f"""
PRAGMA application_id = {_MARK};
PRAGMA user_version = {FORM};
CREATE TABLE files (
    path BLOB PRIMARY KEY, folder BLOB, size INTEGER, mtime_ns INTEGER, inode INTEGER, summary BLOB
) WITHOUT ROWID;
CREATE TABLE progress (
    path BLOB PRIMARY KEY, size INTEGER, mtime_ns INTEGER, inode INTEGER, bytes INTEGER, lines INTEGER, checksum INTEGER
) WITHOUT ROWID;
CREATE TABLE texts (id INTEGER PRIMARY KEY, path BLOB, line INTEGER, entry TEXT, role TEXT, time TEXT, text TEXT);
CREATE INDEX texts_by_path ON texts (path, line);
CREATE VIRTUAL TABLE words USING fts5(said, content='', tokenize="ascii tokenchars '_'");
"""
_UNUSABLE = (
    "SQLITE_BUSY",
    "SQLITE_LOCKED",
    "SQLITE_READONLY",
    "SQLITE_FULL",
    "SQLITE_CANTOPEN",
    "SQLITE_IOERR",
    "SQLITE_PERM",
)
"""Where the disk or another program refuses, a new file would be refused too."""


def open_file(path: Path) -> Connection:
    """Open the index in `path`, made anew where there is none or one of another form. Raises `sqlite3.Error` or `OSError`; the caller holds its lock."""
    database = _connect_file(path)
    try:
        if _is_ours(database):
            return database
        database.close()
        discard(path)
        database = _connect_file(path)
        database.executescript(f"BEGIN; {_TABLES} COMMIT;")
    except BaseException:
        database.close()
        raise
    return database


def open_memory(path: Path | None) -> Connection:
    """Open an index that is kept nowhere and begins with what the file in `path` knows, if that can be read. Raises `sqlite3.Error`."""
    import sqlite3  # noqa: PLC0415 - most runs look at no index, and some builds of Python have no SQLite

    if path is not None and path.is_file():
        with suppress(sqlite3.Error):
            kept = sqlite3.connect(f"file:{quote(os.fsencode(path))}?mode=ro&immutable=1", uri=True)
            try:
                if _is_ours(kept):
                    copy = _set_up(sqlite3.connect(":memory:", isolation_level=None))
                    kept.backup(copy)
                    return copy
            finally:
                kept.close()
    database = _set_up(sqlite3.connect(":memory:", isolation_level=None))
    database.executescript(f"BEGIN; {_TABLES} COMMIT;")
    return database


def discard(path: Path) -> None:
    """Remove the file and what SQLite keeps beside it. Raises `OSError`."""
    for name in (path.name, f"{path.name}-journal", f"{path.name}-wal", f"{path.name}-shm"):
        path.with_name(name).unlink(missing_ok=True)


def is_damage(problem: Exception) -> bool:
    """Whether a new file would help."""
    name = getattr(problem, "sqlite_errorname", "")
    return not isinstance(problem, OSError) and not name.startswith(_UNUSABLE)


def _connect_file(path: Path) -> Connection:
    import sqlite3  # noqa: PLC0415 - as above

    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600))  # for its mode
    return _set_up(sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None))


def _set_up(database: Connection) -> Connection:
    database.text_factory = _text
    return database


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _is_ours(database: Connection) -> bool:
    """Whether it is an index of this form. Raises `sqlite3.Error` for no database at all."""
    ((mark,), (form,)) = (_pragma(database, "application_id"), _pragma(database, "user_version"))
    return (mark, form) == (_MARK, FORM)


def _pragma(database: Connection, name: str) -> tuple[Any]:
    row: tuple[Any] = database.execute(f"PRAGMA {name}").fetchone()
    return row
