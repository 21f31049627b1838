"""The name that was meant, when a word is none.

    word ──▶ spelt otherwise (case, dashes, one or many) ──▶ a few letters away ──▶ one is part of the other, word by word

The one rule: a guess has to be believable. How many letters may differ grows with the word, so a short word is near to hardly anything.
"""

from collections.abc import Iterable

_LETTERS_A_SLIP = 4
"""A word may be off by one letter for each so many of its own."""
_MOST_SLIPS = 3
_TELLING = 3
"""Letters of the shortest part that says which name was meant."""
_LONGEST = 100
"""Longer words are nobody's slip, and comparing them would take time."""


def nearest(word: str, names: Iterable[str]) -> str | None:
    """The one of `names` that `word` probably means; None when none is near."""
    return next(iter(near(word, names)), None)


def near(word: str, names: Iterable[str], *, most: int = 1) -> list[str]:
    """At most so many of `names` that `word` may mean, the likeliest first."""
    wanted = _letters(word)
    if not wanted or len(word) > _LONGEST:
        return []
    ranked: list[tuple[int, int, str]] = []
    for name in dict.fromkeys(names):
        if (rank := _rank(word, wanted, name)) is not None:
            ranked.append((*rank, name))
    best = min((tier for tier, _, _ in ranked), default=0)
    return [name for tier, _, name in sorted(ranked) if tier == best][:most]


def _rank(word: str, wanted: str, name: str) -> tuple[int, int] | None:
    """How far a name is, as a tier and a distance there; None when it is too far."""
    known = _letters(name)
    if not known or len(name) > _LONGEST:
        return None
    if wanted == known or wanted in (known + "s", known.removesuffix("s")):
        return 0, wanted != known
    off, allowed = _slips(wanted, known), max(len(wanted), len(known)) // _LETTERS_A_SLIP
    if off <= min(allowed, _MOST_SLIPS) or (off == 1 and sorted(wanted) == sorted(known)):
        return 1, off
    if _tells(_words(word), _words(name)):
        return 2, abs(len(wanted) - len(known))
    return None


def _tells(said: list[str], known: list[str]) -> bool:
    """Whether all the words of one are words of the other, and long enough to say something."""
    fewer, more = sorted((said, known), key=len)
    return len(fewer) < len(more) and set(fewer) <= set(more) and any(len(part) >= _TELLING for part in fewer)


def _words(name: str) -> list[str]:
    return "".join(c.casefold() if c.isalnum() else " " for c in name).split()


def _letters(name: str) -> str:
    return "".join(_words(name))


def _slips(a: str, b: str) -> int:
    """How many letters were left out, put in, taken for another, or swapped with the one beside (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, mine in enumerate(a, 1):
        older, before, row = before, row, [i]
        for j, other in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (mine != other))
            if i > 1 and j > 1 and mine == b[j - 2] and a[i - 2] == other:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]
