"""Ranking without SQLite: BM25 over an inverted index in plain Python.

Used where the SQLite of a Python was built without FTS5. The formula is that of FTS5's `bm25()` (k1 = 1.2, b = 0.75, an inverse document
frequency of at least 1e-6; source: sqlite.org/fts5.html, section 5.1.1), so both give the same order.
"""

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

_K1 = 1.2
_B = 0.75
_LEAST_IDF = 1e-6
DIGITS = 9
"""Scores are compared after rounding to so many digits, so that a last bit doesn't decide an order."""


class Ranker(Protocol):
    """Ranks rows, numbered from 0 in order of arrival, by the words that they hold."""

    def add(self, rows: Iterable[Sequence[str]]) -> None:
        """Take in the words of the next rows."""
        ...

    def top(self, words: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """Return rows that hold any of `words` with their scores: the best first, of equals the newest."""
        ...


class PlainRanker:
    """The same as FTS5 gives, without it. Not safe for two threads at once."""

    def __init__(self) -> None:
        self._rows: dict[str, list[tuple[int, int]]] = {}
        """Word to (row, how often)."""
        self._sizes: list[int] = []
        self._total = 0

    def add(self, rows: Iterable[Sequence[str]]) -> None:
        """Take in the words of the next rows."""
        for words in rows:
            row = len(self._sizes)
            self._sizes.append(len(words))
            self._total += len(words)
            for word, times in Counter(words).items():
                self._rows.setdefault(word, []).append((row, times))

    def top(self, words: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """Return rows that hold any of `words` with their scores: the best first, of equals the newest."""
        scores: dict[int, float] = {}
        average = self._total / len(self._sizes) if self._total else 1.0
        for word in words:
            holders = self._rows.get(word, ())
            idf = max(math.log((len(self._sizes) - len(holders) + 0.5) / (len(holders) + 0.5)), _LEAST_IDF)
            for row, times in holders:
                damped = times + _K1 * (1 - _B + _B * self._sizes[row] / average)
                scores[row] = scores.get(row, 0.0) + idf * times * (_K1 + 1) / damped
        best = heapq.nlargest(limit, ((round(score, DIGITS), row) for row, score in scores.items()))
        return [(row, score) for score, row in best]
