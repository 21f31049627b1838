"""The index as one object: brought up to date, then asked.

    lock ──▶ open (made anew if need be) ──▶ refresh, for about a second ──not done──▶ let others in, again
                                                   └─done──▶ ask
    no lock, no disk, another program in the way ──▶ the same in memory ──no SQLite──▶ a list reads each file, a search is refused

Processes take turns by a lock of ours, so none meets a locked database; whoever waits finds done what the others did. Nothing of a session hangs on this: the
file can be deleted at any time, and no session is ever read from it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from trimtab.context.stores.disk import make_folder
from trimtab.context.stores.exclusive import exclusive
from trimtab.context.stores.folder import Listing, SessionFolder
from trimtab.sessions.index.database import discard, is_damage, open_file, open_memory
from trimtab.sessions.index.kept import unpacked
from trimtab.sessions.index.query import Query
from trimtab.sessions.index.refresh import Refreshed, refresh
from trimtab.sessions.index.searching import Hits, search
from trimtab.types.errors import StoreError, TrimtabError

if TYPE_CHECKING:
    from sqlite3 import Connection

T = TypeVar("T")
_SLICE_S = 1.0
"""Seconds of reading after which others get their turn."""
_PATIENCE_S = 10.0
"""Seconds that the others are waited for."""
_NOT_OURS = (msgspec.MsgspecError, UnicodeDecodeError, OverflowError, ValueError, TypeError)
"""What rows that we didn't write, or that are damaged, are refused with."""


class SessionIndex:
    """The index in `path` over the sessions in `folder`. `tell` is told when taking them in takes a while. Safe for other processes."""

    def __init__(self, path: Path, folder: SessionFolder, *, tell: Callable[[str], None] | None = None) -> None:
        self.path = path
        self.folder = folder
        self._tell = tell

    def listing(self, cwd: str | None = None) -> Listing:
        """List the sessions of one project, or all, as `SessionFolder.listing` does. Never raises for what is wrong with the index."""
        if _no_sqlite() or not os.path.isdir(self.folder.sessions):  # who only looks makes nothing
            return self.folder.listing(cwd)

        def ask(database: Connection, refreshed: Refreshed) -> Listing:
            folder = self.folder.folder_of(cwd).name.encode() if cwd is not None else None
            kept = dict(database.execute("SELECT path, summary FROM files WHERE ?1 IS NULL OR folder = ?1", (folder,)))
            sessions = [unpacked(kept[file.key], file.path) for file in refreshed.seen if file.key in kept]
            sessions.sort(key=lambda s: (s.modified, s.path.name), reverse=True)
            return Listing(tuple(sessions), (*sorted(refreshed.notes), *self.folder.unread(cwd)))

        found = self._answer(cwd, ask, texts=False)
        return self.folder.listing(cwd) if found is None else found

    def search(self, query: Query, cwd: str | None = None, *, limit: int = 20) -> Hits:
        """Look `query` up in the sessions of one project, or all. Raises `TrimtabError` where this Python can't search."""
        if query.empty or limit < 1 or not os.path.isdir(self.folder.sessions):
            return Hits()
        found = None
        if not _no_sqlite():
            found = self._answer(cwd, lambda db, _: search(db, query, self.folder, cwd, limit=limit), texts=True)
        if found is None:
            raise TrimtabError(
                "this Python can't search: its SQLite has no full-text search (FTS5)",
                hint="Use a Python whose sqlite3 has FTS5, as those of python.org, uv and most systems do.",
            )
        return found

    def _answer(self, cwd: str | None, ask: Callable[[Connection, Refreshed], T], *, texts: bool) -> T | None:
        """What `ask` says of an index that is up to date; None where there can be none."""
        import sqlite3  # noqa: PLC0415 - most runs look at no index

        for again in (True, False):
            try:
                return self._from_file(cwd, ask, texts=texts)
            except (StoreError, OSError):
                break
            except (sqlite3.Error, *_NOT_OURS) as problem:
                if not is_damage(problem):
                    break
                if again and not self._discarded():
                    break
        for path in (self.path, None):
            try:
                database = open_memory(path)
                try:
                    result = refresh(database, self.folder, cwd, texts=texts)
                    return ask(database, result)
                finally:
                    database.close()
            except (sqlite3.Error, OSError, *_NOT_OURS):
                continue
        return None

    def _from_file(self, cwd: str | None, ask: Callable[[Connection, Refreshed], T], *, texts: bool) -> T:
        make_folder(self.path.parent)
        told = False
        while True:
            with exclusive(self._lock, patience_s=_PATIENCE_S):
                database = open_file(self.path)
                try:
                    result = refresh(database, self.folder, cwd, texts=texts, slice_s=_SLICE_S)
                    if result.done:
                        return ask(database, result)
                finally:
                    database.close()
            if self._tell is not None and not told:
                told = True
                self._tell("reading sessions that are new to the index; this takes a while once")

    def _discarded(self) -> bool:
        try:
            with exclusive(self._lock, patience_s=_PATIENCE_S):
                discard(self.path)
        except (StoreError, OSError):
            return False
        return True

    @property
    def _lock(self) -> Path:
        return self.path.with_name(f"{self.path.name}.lock")


def _no_sqlite() -> bool:
    try:
        import sqlite3  # noqa: F401, PLC0415 - as above
    except ImportError:
        return True
    return False
