"""Search in the chunks of a document: phrases, any of which is enough, ranked by BM25.

    "kiln output, north works" ──▶ two phrases ──▶ chunks that hold one of them ──▶ ranked by all words that were asked for

A phrase is found where its words stand in their order with at most two others in between, as in the harness that this follows (`OR` of phrases, slop 2).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.recall.ranking import PlainRanker
from trimtab.context.recall.words import index_words
from trimtab.lab.docqa.document import Chunk, section_at

SLOP = 2
"""Other words that may stand within a phrase."""
_SHOWN = 200
"""Characters of a highlight."""


@dataclass(frozen=True, slots=True)
class Found:
    """A chunk with its score and the phrases that it holds; `highlight` shows the first of them, `section` is the heading above that."""

    chunk: Chunk
    score: float
    phrases: tuple[str, ...]
    highlight: str
    section: str


class ChunkIndex:
    """The chunks of one document, by their words."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self.chunks = tuple(chunks)
        self._words = [index_words(chunk.text) for chunk in self.chunks]
        self._ranker = PlainRanker()
        self._ranker.add(self._words)

    def search(self, keyword: str, limit: int = 10) -> tuple[Found, ...]:
        """Return the chunks that hold any of the phrases in `keyword` (with commas in between), the best first, at most `limit`."""
        phrases = {phrase: index_words(phrase) for part in keyword.split(",") if (phrase := part.strip())}
        phrases = {phrase: words for phrase, words in phrases.items() if words}
        asked = list(dict.fromkeys(word for words in phrases.values() for word in words))
        found = []
        for row, score in self._ranker.top(asked, len(self.chunks)):
            held = tuple(phrase for phrase, words in phrases.items() if holds_phrase(self._words[row], words))
            if held:
                chunk = self.chunks[row]
                at = _place(chunk.text, phrases[held[0]])
                found.append(Found(chunk, score, held, _highlight(chunk.text, at), section_at(chunk, at)))
        found.sort(key=lambda hit: (-hit.score, hit.chunk.number))
        return tuple(found[:limit])


def holds_phrase(text: Sequence[str], phrase: Sequence[str], slop: int = SLOP) -> bool:
    """Whether the words of `phrase` stand in `text` in their order, with at most `slop` other words in between."""
    starts = [at for at, word in enumerate(text) if word == phrase[0]]
    return any(_follows(text, at, phrase[1:], slop) for at in starts)


def _follows(text: Sequence[str], at: int, words: Sequence[str], slop: int) -> bool:
    """Whether `words` follow the word at `at`. The nearest place of each leaves the most room for the others."""
    for word in words:
        near = next((gap for gap in range(slop + 1) if at + 1 + gap < len(text) and text[at + 1 + gap] == word), None)
        if near is None:
            return False
        at, slop = at + 1 + near, slop - near
    return True


def _place(text: str, words: Sequence[str]) -> int:
    """Where a phrase begins; where its first word stands if letters were told apart otherwise, or the beginning."""
    between = rf"\W+(?:\w+\W+){{0,{SLOP}}}?"
    found = re.search(between.join(map(re.escape, words)), text, re.IGNORECASE) or re.search(
        re.escape(words[0]), text, re.IGNORECASE
    )
    return found.start() if found else 0


def _highlight(text: str, at: int) -> str:
    """What stands around a place, on one line."""
    start = max(0, at - _SHOWN // 3)
    shown = text[start : start + _SHOWN]
    return ("…" if start else "") + " ".join(shown.split()) + ("…" if start + _SHOWN < len(text) else "")
