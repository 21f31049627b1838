"""What a search asks for.

    fix "connection refused" retr*   ──▶   words that have to stand in a text, the beginnings of words, phrases word for word

Whatever a person types is a query: nothing in it is the language of a database. What has no word in it (`???`, a picture) is looked for as it stands.
"""

import re
from dataclasses import dataclass

from trimtab.context.recall.words import plain, query_words
from trimtab.types.text import scrub

_PIECES = re.compile(r'"([^"]*)"?|(\S+)')
_MOST = 64
"""Words of a query that count."""
_CUT = 2_000
"""Characters of it that are looked at."""


@dataclass(frozen=True, slots=True)
class Query:
    """`terms` in the notation of FTS5, of which each has to be there; `phrases` and `literal` have to stand in the text. `shown` finds the place to show."""

    terms: tuple[str, ...]
    phrases: tuple[str, ...]
    literal: str
    shown: tuple[str, ...]

    @property
    def empty(self) -> bool:
        """Whether it asks for nothing."""
        return not (self.terms or self.phrases or self.literal)

    def expression(self, *, any_of: bool = False) -> str:
        """The terms as one expression of FTS5."""
        return (" OR " if any_of else " AND ").join(self.terms)

    def fits(self, text: str) -> bool:
        """Whether the phrases stand in `text`, whatever the case, accents and breaks between words."""
        if not self.phrases:
            return True
        flat = _flat(text)
        return all(phrase in flat for phrase in self.phrases)


def parse(text: str) -> Query:
    """Read a query. Never raises."""
    text = scrub(text[:_CUT])
    terms: list[str] = []
    phrases: list[str] = []
    shown: list[str] = []
    for phrase, word in _PIECES.findall(text):
        if flat := _flat(phrase):
            phrases.append(flat)
        shown += [phrase] if phrase.strip() else []
        bare = word.rstrip("*")
        shown += [bare] if bare.strip('"') else []
        words = query_words(phrase or bare)
        if word.endswith("*") and words and words[0] == plain(bare).casefold().strip("_"):
            terms.append(f"{_quoted(words[0])}*")
        else:
            terms += map(_quoted, words)
    terms = list(dict.fromkeys(terms))[:_MOST]
    literal = "" if terms or phrases else text.strip().replace("\0", "")
    return Query(tuple(terms), tuple(phrases), literal, tuple(shown))


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def _flat(text: str) -> str:
    return " ".join(plain(text).casefold().split())
