"""Contents of files by hash, kept for all sessions of a project: the same content is kept once.

    bytes ──sha256──▶ FOLDER/contents.sqlite: name, zlib of the content        made when the first content comes, for its owner alone

One table rather than a file each: a project has thousands, and making so many files takes seconds. Processes may write at the same time. A damaged table is put aside and
a new one begun: what was in it can't be put back then, and nothing else is lost.
"""

import hashlib
import os
import sqlite3
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from trimtab.context.stores.private import make_private
from trimtab.types.errors import StoreError

_LEVEL = 1
"""Of compression: the fastest one halves most source."""
_PATIENCE_S = 20.0


class ContentStore:
    """Contents under `folder`. Touches the disk: use it in a thread. Safe for threads and processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._guard = threading.RLock()
        self._open: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def put(self, data: bytes) -> str:
        """Keep `data` and return its name. Raises `StoreError`."""
        name = name_of(data)
        with self._guarded(make=True) as table:
            if table.execute("SELECT 1 FROM content WHERE name = ?", (name,)).fetchone() is None:
                table.execute("INSERT OR IGNORE INTO content VALUES (?, ?)", (name, zlib.compress(data, _LEVEL)))
        return name

    def get(self, name: str) -> bytes:
        """The content of that name. Raises `StoreError` when it is gone or damaged."""
        try:
            with self._guarded(make=False) as table:
                row = table.execute("SELECT data FROM content WHERE name = ?", (name,)).fetchone()
            data = zlib.decompress(row[0]) if row is not None else None
        except zlib.error:
            data = None
        if data is None or name_of(data) != name:
            raise StoreError(f"the kept content {name[:12]} is gone or damaged", hint="the file stays as it is")
        return data

    @contextmanager
    def together(self) -> Iterator[None]:
        """Keep all that is put in here in one go: much faster for many. Raises `StoreError`."""
        with self._guarded(make=True) as table:
            table.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                table.execute("ROLLBACK")
                raise
            table.execute("COMMIT")

    def close(self) -> None:
        """Let go of the table."""
        with self._guard:
            if self._open is not None:
                self._open.close()
                self._open = None

    @contextmanager
    def _guarded(self, *, make: bool) -> Iterator[sqlite3.Connection]:
        """The table, for this thread alone, with failures in our words."""
        with self._guard:
            try:
                yield self._connection(make=make)
            except (sqlite3.Error, OSError) as e:
                raise StoreError(f"{self.folder} can't be used: {e}", hint="make room, or fix its permissions") from e

    def _connection(self, *, make: bool) -> sqlite3.Connection:
        if self._open is None:
            path = self.folder / "contents.sqlite"
            if make:
                make_private(self.folder)
            self._open = _connect(path, make=make)
            try:
                _prepare(self._open)
            except sqlite3.DatabaseError as e:
                self._open.close()
                self._open = None
                if isinstance(e, sqlite3.OperationalError):  # locked, full, read-only: not damaged
                    raise
                os.replace(path, path.with_suffix(".damaged"))
                for more in ("-wal", "-shm"):
                    path.with_name(path.name + more).unlink(missing_ok=True)
                self._open = _connect(path, make=True)
                _prepare(self._open)
        return self._open


class NameOnly:
    """Names contents as the store does, and keeps none: for who only looks."""

    def put(self, data: bytes) -> str:
        """The name that the store gives `data`."""
        return name_of(data)


def name_of(data: bytes) -> str:
    """The name of a content."""
    return hashlib.sha256(data).hexdigest()


def _connect(path: Path, *, make: bool) -> sqlite3.Connection:
    if make:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))  # what sqlite makes has the file's mode
    elif not path.exists():
        raise FileNotFoundError(f"{path} isn't there")
    return sqlite3.connect(path, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False)


def _prepare(table: sqlite3.Connection) -> None:
    table.execute("PRAGMA journal_mode = WAL")
    table.execute("PRAGMA synchronous = NORMAL")
    table.execute("CREATE TABLE IF NOT EXISTS content (name TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID")
