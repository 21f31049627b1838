"""The index over the archive: which items hold a text, exactly or by its words.

    add(document) ──▶ list of documents          nothing else, until somebody searches
    search(query) ──▶ exact: the text as it stands, newest first          "E4711: port" in r7, lines 12 and 40
                  └─▶ ranked: by words, the best first (FTS5, or `PlainRanker`), without what was exact

A cache: built from the log, kept in memory, thrown away with the session. Documents are added and never removed, for the log forgets
nothing either. Cutting words waits for the first ranked search, so a session that never recalls pays nothing.

The one rule: a query is a text. No character in it has a meaning for a search engine, so none can be wrong.
"""

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from trimtab.context.recall.full_text import FullTextRanker
from trimtab.context.recall.ranking import PlainRanker, Ranker
from trimtab.context.recall.words import index_words, plain, query_words

_SNIPPET = 160
"""Characters of a line that a hit shows."""
_SHOWN = 3
"""Lines of a document that a hit shows."""
_COUNTED = 1_000
"""Matches in one document that are counted."""
_ASKED = 64
"""Words of a query that count; FTS5 limits how long an expression may be."""


@dataclass(frozen=True, slots=True)
class Document:
    """One item. `id` is what a model may name; `kind` says what it is (result, user, assistant, memo, …), `tool` who made it."""

    id: str
    kind: str
    tool: str
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a document, numbered from 1, cut to what a list can show."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found. `size` in characters. `matches` counts exact ones; then `exact` is true, and `score` is that count."""

    id: str
    kind: str
    tool: str
    size: int
    score: float
    exact: bool
    matches: int
    lines: tuple[Line, ...]


class Index:
    """Documents of one session. Safe for threads: every method takes the one lock. `fts=False` does without SQLite."""

    def __init__(self, *, fts: bool = True) -> None:
        self._documents: dict[str, Document] = {}
        self._rows: list[Document] = []
        self._ranked = 0
        """How many rows the ranker has."""
        self._ranker: Ranker | None = None if fts else PlainRanker()
        self._guard = threading.Lock()

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, document_id: object) -> bool:
        return document_id in self._documents

    def add(self, document: Document) -> None:
        """Take in a document. A second one of an id is left out: what was recorded doesn't change."""
        with self._guard:
            if document.id not in self._documents:
                self._documents[document.id] = document
                self._rows.append(document)

    def get(self, document_id: str) -> Document | None:
        """The document of that exact id."""
        return self._documents.get(document_id)

    def search(self, query: str, limit: int = 10) -> tuple[Hit, ...]:
        """Return up to `limit` hits: exact ones first, the newest before older, then ranked ones."""
        found = self.exact(query, limit)
        if len(found) == limit:
            return found
        seen = {hit.id for hit in found}
        ranked = (hit for hit in self.ranked(query, limit + len(seen)) if hit.id not in seen)
        return (*found, *islice(ranked, limit - len(found)))

    def exact(self, query: str, limit: int = 10) -> tuple[Hit, ...]:
        """Return documents that hold `query` as it stands, newest first; if there is none, those that do but for upper and lower case."""
        query = query.strip()
        if not query or limit < 1:
            return ()
        with self._guard:
            rows = tuple(self._rows)
        as_written = (_exact_hit(d, _positions(d.text, query)) for d in reversed(rows) if query in d.text)
        if found := tuple(islice(as_written, limit)):
            return found
        pattern = re.compile(re.escape(query), re.IGNORECASE)
        either_case = (
            (d, (m.start() for m in pattern.finditer(d.text))) for d in reversed(rows) if pattern.search(d.text)
        )
        return tuple(islice((_exact_hit(d, positions) for d, positions in either_case), limit))

    def ranked(self, query: str, limit: int = 10) -> tuple[Hit, ...]:
        """Return documents that hold words of `query`, the best first."""
        words = query_words(query)[:_ASKED]
        if not words or limit < 1:
            return ()
        with self._guard:
            if self._ranker is None:
                self._ranker = FullTextRanker.open() or PlainRanker()
            self._ranker.add(index_words(document.text) for document in self._rows[self._ranked :])
            self._ranked = len(self._rows)
            best = [(self._rows[row], score) for row, score in self._ranker.top(words, limit)]
        return tuple(
            Hit(d.id, d.kind, d.tool, len(d.text), score, exact=False, matches=0, lines=_best_lines(d.text, words))
            for d, score in best
        )


def _positions(text: str, query: str) -> Iterator[int]:
    at = text.find(query)
    while at >= 0:
        yield at
        at = text.find(query, at + len(query))


def _exact_hit(document: Document, positions: Iterator[int]) -> Hit:
    lines: dict[int, Line] = {}
    matches = at = 0
    number = 1
    for position in islice(positions, _COUNTED):
        matches += 1
        if len(lines) < _SHOWN:
            number += document.text.count("\n", at, position)
            at = position
            lines.setdefault(number, Line(number, _around(document.text, position)))
    shown = tuple(lines.values())
    d = document
    return Hit(d.id, d.kind, d.tool, len(d.text), float(matches), exact=True, matches=matches, lines=shown)


def _around(text: str, position: int) -> str:
    """The line at `position`, or the part of it around there."""
    first = text.rfind("\n", 0, position) + 1
    last = text.find("\n", position)
    last = len(text) if last < 0 else last
    start = max(first, min(position - _SNIPPET // 4, last - _SNIPPET))
    end = min(last, start + _SNIPPET)
    return ("…" if start > first else "") + text[start:end].strip() + ("…" if end < last else "")


def _best_lines(text: str, words: list[str]) -> tuple[Line, ...]:
    """The line that holds most of the words, the first of equals."""
    best, number, found = 0, 1, ""
    for n, line in enumerate(text.split("\n"), 1):
        folded = plain(line).casefold()
        held = sum(word in folded for word in words)
        if held > best:
            best, number, found = held, n, line
    folded = found.casefold()
    position = min((at for word in words if (at := folded.find(word)) >= 0), default=0)
    return (Line(number, _around(found, min(position, len(found)))),)
