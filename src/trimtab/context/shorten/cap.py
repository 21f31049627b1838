"""Cap: what a result keeps when it is recorded, head and tail, with a structured `Cut` beside the mark.

The counter may be slow and, on one endless word, worse than linear; so it never sees more than a fixed number of characters for each
token of the limit. A text beyond that is over the limit or so dense in nothing that it is cut all the same.
"""

import unicodedata
from collections.abc import Callable

from trimtab.context.markers import gap_mark
from trimtab.context.shorten.pieces import first_number
from trimtab.types.tools import Cut

Count = Callable[[str], int]
"""Tokens of a text."""

HEAD_SHARE = 0.6
"""Of what is kept; the end of a result says how it went, the start what it is."""
_CHARS_PER_TOKEN = 16
_NEAR = 0.25
"""Share of a head or tail that may go so that it ends at the end of a line."""


def cap_text(
    text: str, max_tokens: int, count: Count, *, key: str = "", where: str | None = None, next_step: str | None = None
) -> tuple[str, Cut | None]:
    """Return `text` and None when it has at most `max_tokens`; else its head and tail around a mark, and what they show.

    The result always has at most `max_tokens` and is shorter; where the mark doesn't fit in, it is the start of the text alone.
    `where` and `next_step` are the fields of `Cut`.
    """
    longest = max(max_tokens, 1) * _CHARS_PER_TOKEN
    if len(text) <= longest and count(text) <= max_tokens:
        return text, None
    budget = max(max_tokens - count(gap_mark(len(text), "chars", key=key, first=1, fenced=True)) - 2, 0)
    while budget > 0:
        head = _head(text, int(budget * HEAD_SHARE), count)
        tail = _tail(text[head:], budget - int(budget * HEAD_SHARE), count)
        shown, cut = _around(text, head, len(text) - tail, key=key)
        if len(shown) < len(text) and count(shown) <= max_tokens:
            return shown, Cut(cut.unit, cut.shown, cut.total, where, next_step)
        budget = budget * 9 // 10
    head = fit(text, max_tokens, count)
    return text[:head], Cut("chars", ((1, head),) if head else (), len(text), where, next_step)


def fit(text: str, max_tokens: int, count: Count) -> int:
    """Return a length of a start of `text` that has at most `max_tokens`, close to the longest such. Few calls of `count`."""
    if max_tokens <= 0:
        return 0
    low, high = 0, min(len(text), max_tokens * _CHARS_PER_TOKEN)
    if count(text[:high]) <= max_tokens:
        return high
    while high - low > max(8, low // 64):
        middle = (low + high) // 2
        if count(text[:middle]) <= max_tokens:
            low = middle
        else:
            high = middle
    return low


def _head(text: str, max_tokens: int, count: Count) -> int:
    end = fit(text, max_tokens, count)
    line = text.rfind("\n", int(end * (1 - _NEAR)), end)
    return line + 1 if line >= 0 else _boundary(text, end)


def _tail(text: str, max_tokens: int, count: Count) -> int:
    reach = text[-max_tokens * _CHARS_PER_TOKEN :][::-1] if max_tokens > 0 else ""
    start = len(text) - fit(reach, max_tokens, lambda part: count(part[::-1]))
    line = text.find("\n", start, start + int((len(text) - start) * _NEAR))
    return len(text) - (line + 1 if line >= 0 else _boundary(text, start))


def _boundary(text: str, at: int) -> int:
    """`at`, or the place before it where no mark, joiner or selector is torn from its letter."""
    for place in range(at, max(at - 8, 0), -1):
        if place >= len(text) or not (_joins(text[place]) or text[place - 1] == "\u200d"):
            return place
    return at


def _joins(char: str) -> bool:
    return (
        char == "\u200d"
        or "\ufe00" <= char <= "\ufe0f"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or unicodedata.combining(char) > 0
    )


def _around(text: str, head: int, tail: int, *, key: str) -> tuple[str, Cut]:
    """Head and tail with the mark between them: in lines where both end at one, else in characters."""
    whole = (head == 0 or text[head - 1] == "\n") and (tail == len(text) or text[tail - 1] == "\n")
    if whole and "\n" in text:
        above = text.count("\n", 0, head)
        gone = text.count("\n", head, tail) + (tail == len(text) and not text.endswith("\n"))
        total = text.count("\n") + (not text.endswith("\n"))
        shown = ((1, above), (above + gone + 1, total))
        first, last = (
            text[head : text.find("\n", head) + 1],
            text[text.rfind("\n", head, max(tail - 1, head)) + 1 : tail],
        )
        number = first_number(first, last, count=gone, default=above + 1)
        mark = gap_mark(gone, "lines", key=key, first=number) + "\n"
        return text[:head] + mark + text[tail:], Cut("lines", tuple(r for r in shown if r[0] <= r[1]), total)
    shown = ((1, head), (tail + 1, len(text)))
    mark = gap_mark(tail - head, "chars", key=key)
    return text[:head] + mark + text[tail:], Cut("chars", tuple(r for r in shown if r[0] <= r[1]), len(text))
