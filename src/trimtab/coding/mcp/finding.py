"""Which tools a few words are about: words in common, those of the name counting most. Pure, and the same each time."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Entry:
    """A tool, as far as it is looked for."""

    name: str
    description: str
    arguments: tuple[str, ...] = ()


def found(entries: Sequence[Entry], query: str, limit: int) -> list[str]:
    """Names of the entries that fit best, the best first; none that has nothing in common."""
    if any(entry.name == query.strip() for entry in entries):
        return [query.strip()]
    wanted = _words(query)
    scored = [(_score(entry, wanted), entry.name) for entry in entries]
    return [name for score, name in sorted(scored, key=lambda s: (-s[0], s[1])) if score > 0][:limit]


def nearest_names(names: Sequence[str], name: str) -> list[str]:
    """Names that are written alike."""
    return difflib.get_close_matches(name, names, n=3, cutoff=0.5)


def _score(entry: Entry, wanted: list[str]) -> int:
    name, rest = _words(entry.name), _words(entry.description[:2_000])
    arguments = _words(" ".join(entry.arguments))
    return sum(6 * _has(name, w) + 2 * _has(rest, w) + _has(arguments, w) for w in wanted)


def _has(words: list[str], wanted: str) -> int:
    """2 for the word, 1 for one that begins as it does."""
    if wanted in words:
        return 2
    return int(len(wanted) > 2 and any(word.startswith(wanted[:5]) for word in words))


def _words(text: str) -> list[str]:
    parted = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text)
    return _WORD.findall(parted.lower())
