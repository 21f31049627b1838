"""Ranking by SQLite: an FTS5 table in memory that holds words and no text.

The words are cut before they come here, so SQLite's own tokenizer must only split at blanks: `ascii` keeps every character beyond ASCII,
and the underscore is named. Nothing of this reaches a disk.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from trimtab.context.recall.ranking import DIGITS

if TYPE_CHECKING:
    import sqlite3

_TABLE = """CREATE VIRTUAL TABLE rows USING fts5(words, content='', tokenize="ascii tokenchars '_'")"""
_TOP = f"""
SELECT rowid, round(-bm25(rows), {DIGITS}) AS score FROM rows WHERE rows MATCH ? ORDER BY score DESC, rowid DESC LIMIT ?
"""


class FullTextRanker:
    """Rows in an FTS5 table. Not safe for two threads at once, but any thread may be the one."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        weakref.finalize(self, database.close)
        self._count = 0

    @classmethod
    def open(cls) -> FullTextRanker | None:
        """Return an empty one, or None where Python came without SQLite or SQLite without FTS5."""
        try:
            import sqlite3  # noqa: PLC0415 - most sessions never search, and some builds have none
        except ImportError:
            return None
        database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        try:
            database.execute(_TABLE)
        except sqlite3.OperationalError:
            database.close()
            return None
        return cls(database)

    def add(self, rows: Iterable[Sequence[str]]) -> None:
        """Take in the words of the next rows."""
        texts = [(self._count + n, " ".join(words)) for n, words in enumerate(rows)]
        self._database.execute("BEGIN")
        self._database.executemany("INSERT INTO rows(rowid, words) VALUES (?, ?)", texts)
        self._database.execute("COMMIT")
        self._count += len(texts)

    def top(self, words: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """Return rows that hold any of `words` with their scores: the best first, of equals the newest."""
        if not words:
            return []
        wanted = " OR ".join('"' + word.replace('"', '""') + '"' for word in words)
        return [(int(row), float(score)) for row, score in self._database.execute(_TOP, (wanted, limit))]
