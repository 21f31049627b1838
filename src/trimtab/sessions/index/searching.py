"""Asking the index: which texts hold the words, the best first, and what to show of each."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trimtab.context.recall.words import query_words
from trimtab.context.stores.folder import SessionFolder
from trimtab.context.stores.summary import SessionSummary
from trimtab.sessions.index.kept import unpacked
from trimtab.sessions.index.query import Query
from trimtab.types.text import strip_terminal

if TYPE_CHECKING:
    from sqlite3 import Connection

_COLUMNS = "t.path, t.entry, t.role, t.time, t.text, f.summary"
_RANKED = f"""
SELECT {_COLUMNS} FROM words JOIN texts t ON t.id = words.rowid JOIN files f ON f.path = t.path
WHERE words MATCH ?1 AND (?2 IS NULL OR f.folder = ?2) ORDER BY round(bm25(words), 6), f.mtime_ns DESC, t.id DESC
"""
_AS_IT_STANDS = f"""
SELECT {_COLUMNS} FROM texts t JOIN files f ON f.path = t.path
WHERE instr(t.text, ?1) AND (?2 IS NULL OR f.folder = ?2) ORDER BY f.mtime_ns DESC, t.id DESC
"""
_BEFORE, _SNIPPET = 50, 180
"""Characters shown in front of a match, and in all."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A text that fits: its session, the entry (empty: the title), who said it (`user`, `assistant`, `tool`, `title`), when, and a line of it without secrets."""

    session: SessionSummary
    entry_id: str
    role: str
    time: str
    snippet: str


@dataclass(frozen=True, slots=True)
class Hits:
    """What was found, the best first. `all_words`: each holds all words of the query; else none did, and each holds some. `more`: there are others."""

    hits: tuple[Hit, ...] = ()
    all_words: bool = True
    more: bool = False


def search(database: Connection, query: Query, folder: SessionFolder, cwd: str | None, *, limit: int) -> Hits:
    """Look `query` up in the sessions of one project, or all. Raises `sqlite3.Error` for a damaged index."""
    scope = None if cwd is None else os.fsencode(folder.folder_of(cwd).name)
    found = _take(_fitting(database, query, scope, any_of=False), query, folder, limit)
    if found.hits or len(query.terms) < 2 or query.phrases:
        return found
    some = _take(_fitting(database, query, scope, any_of=True), query, folder, limit)
    return Hits(some.hits, all_words=not some.hits, more=some.more)


def _fitting(database: Connection, query: Query, scope: bytes | None, *, any_of: bool) -> Iterator[Any]:
    if query.terms:
        rows = database.execute(_RANKED, (query.expression(any_of=any_of), scope))
    else:
        rows = database.execute(_AS_IT_STANDS, (query.literal or query.phrases[0], scope))
    return (row for row in rows if query.fits(row[4]))


def _take(rows: Iterator[Any], query: Query, folder: SessionFolder, limit: int) -> Hits:
    hits: list[Hit] = []
    for path, entry, role, time, text, summary in rows:
        if len(hits) == limit:
            return Hits(tuple(hits), more=True)
        session = unpacked(summary, folder.sessions / os.fsdecode(path))
        hits.append(Hit(session, entry, role, time, snippet_of(text, query)))
    return Hits(tuple(hits))


def snippet_of(text: str, query: Query) -> str:
    """The line to show: around the first place where something of the query stands, else the beginning."""
    text = " ".join(strip_terminal(text).split())
    at = _place(text, query)
    start = max(at - _BEFORE, 0)
    start = start if not start else text.find(" ", start, at) + 1 or start
    cut = text[start : start + _SNIPPET]
    return f"{'…' if start else ''}{cut}{'…' if start + _SNIPPET < len(text) else ''}"


def _place(text: str, query: Query) -> int:
    wanted = [*query.shown, *(word for piece in query.shown for word in query_words(piece))]
    for piece in wanted:
        words = r"\s+".join(map(re.escape, piece.split()))
        if words and (found := re.search(words, text, re.I)):
            return found.start()
    return 0
