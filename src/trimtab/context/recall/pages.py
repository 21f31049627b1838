"""Pages: an exact text in pieces that each fit a budget.

    text ──ends()──▶ where each page ends ──page(n)──▶ Page

A page ends behind a line where it can, and inside a line that is longer than a page. All pages joined are the text, character for
character. Where pages end depends on the text, the budget and the counter alone, so a number means the same page as long as these do.
"""

from collections.abc import Callable
from dataclasses import dataclass

Count = Callable[[str], int]
LEAST_TOKENS = 96
"""No answer is asked to be shorter than this: a head line and an error fit."""
_LONG_HEAD = "[: page 0000 of 0000, lines 000000-000000 of 000000; there is no such page; go on with page 0000]\n"
_SEAM = 8
"""Tokens by which two texts together may count more than each alone."""
_FIRST_GUESS = 4
"""Characters that a token may have, to begin with; the pages before say it better."""
_TRIES = 4


@dataclass(frozen=True, slots=True)
class Page:
    """One page. `number` counts from 1 to `of`; lines count from 1, both included."""

    text: str
    number: int
    of: int
    first_line: int
    last_line: int


def page(text: str, number: int, max_tokens: int, count: Count) -> Page:
    """Return page `number` of `text`, the nearest one there is: nobody can turn too far. `max_tokens` as `count` counts."""
    ends = page_ends(text, max_tokens, count)
    number = min(max(number, 1), len(ends))
    start, end = (ends[number - 2] if number > 1 else 0), ends[number - 1]
    first_line = text.count("\n", 0, start) + 1
    last_line = first_line + text.count("\n", start, max(end - 1, start))
    return Page(text[start:end], number, len(ends), first_line, last_line)


def item_room(name: str, max_tokens: int, count: Count) -> int:
    """Return how many tokens of an item stand on a page of `max_tokens`, head line and all: the same for each of its pages, or their numbers would mean nothing.

    `name` is the item's id: whoever reads a page and whoever brings one back count by the same.
    """
    return max(max(max_tokens, LEAST_TOKENS) - count(_LONG_HEAD + name) - _SEAM, 1)


def page_ends(text: str, max_tokens: int, count: Count) -> tuple[int, ...]:
    """Return for each page of `text` the index behind its last character. An empty text has one page; a page has a character at least."""
    ends: list[int] = []
    start, guess = 0, max(max_tokens, 1) * _FIRST_GUESS
    while start < len(text):
        end = _furthest(text, start, guess, max_tokens, count)
        guess = end - start
        if end < len(text):
            end = _behind_line(text, start, end, max_tokens, count)
        ends.append(end)
        start = end
    return tuple(ends) or (0,)


def page_at(ends: tuple[int, ...], position: int) -> int:
    """Return the number of the page that holds the character at `position`."""
    return next((n for n, end in enumerate(ends, 1) if position < end), len(ends))


def _behind_line(text: str, start: int, end: int, max_tokens: int, count: Count) -> int:
    """Return the last line end of the piece; `end` where it has none, or where less text oddly counts as more."""
    behind = text.rfind("\n", start, end) + 1
    return behind if behind > start and count(text[start:behind]) <= max_tokens else end


def _furthest(text: str, start: int, guess: int, max_tokens: int, count: Count) -> int:
    """Return how far a piece from `start` on can go; within a sixteenth of a full page is full. What is returned was counted.

    Counting is what costs here, so the next try is in proportion to the last one: two counts a page, where text is even. After a few
    tries the gap is halved instead, which ends for any counter.
    """
    good, bad = start, len(text) + 1
    tried = start + guess
    tries = 0
    while bad - good > 1:
        tried = min(max(tried, good + 1), bad - 1)
        tokens = count(text[start:tried])
        if tokens <= max_tokens:
            good = tried
            if tokens * 16 >= max_tokens * 15:
                break
        else:
            bad = tried
        tries += 1
        in_proportion = start + (tried - start) * max_tokens * 31 // (max(tokens, 1) * 32)
        tried = in_proportion if tries < _TRIES else (good + bad) // 2
    return max(good, start + 1)
