"""Cutting a text to a number of tokens, always the same way.

A cut says that it is one, twice: in the text by a line in place of what is missing, and beside it as a flag. It falls at the end of a line where
one is near, else between words: half a number is another number. Text that is far too long is never counted whole, so the cost depends on what is
kept and not on what came in.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

Count = Callable[[str], int]
"""Tokens of a text."""

_WIDEST = 6
"""Characters per token up to which a text is tried whole: more than natural language needs."""
_LONGEST_WORD = 120
"""Characters of a name or number that a cut leaves whole; in a longer run of them it falls anywhere."""
_WORD = r"[A-Za-z0-9_\u00c0-\u1fff./\\:@%+,-]+"
"""Letters of scripts that part words by spaces, and what holds the parts of a name or a number together."""
_BEFORE = re.compile(rf"{_WORD}\Z")
_BEHIND = re.compile(_WORD)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A text of at most the wanted size. `left_out` counts characters."""

    text: str
    left_out: int = 0

    @property
    def cut(self) -> bool:
        """Whether something is missing."""
        return self.left_out > 0


def _mark(left_out: int) -> str:
    return f"[… {left_out:,} characters left out …]"


def fit(text: str, *, max_tokens: int, count: Count, mark: Callable[[int], str] = _mark) -> Fitted:
    """Return `text`, or its beginning and end with a line between that says how much is missing, as `mark` words it.

    Never more than `max_tokens`; empty when not even that line fits. An open code fence is closed before the gap and opened behind it.
    """
    if fits(text, max_tokens, count):
        return Fitted(text)
    size = min(len(text) - 1, _WIDEST * max(0, max_tokens))
    while size > 0:
        candidate = _halves(text, size, mark)
        tokens = count(candidate.text)
        if tokens <= max_tokens:
            return candidate
        size = min(size - 1, size * max_tokens * 95 // (100 * tokens))
    only_mark = Fitted(mark(len(text)), len(text))
    return only_mark if count(only_mark.text) <= max_tokens else Fitted("", len(text))


def both_ends(text: str, most: int) -> str:
    """Return `text`, or its beginning and end, `most` characters of them, with the usual line between: for a reader that must not take long."""
    return text if len(text) <= most else _halves(text, most, _mark).text


def fits(text: str, max_tokens: int, count: Count) -> bool:
    """Whether `text` has at most so many tokens. What is far too long isn't counted."""
    return not text or (len(text) <= _WIDEST * max_tokens and count(text) <= max_tokens)


def _halves(text: str, size: int, mark: Callable[[int], str]) -> Fitted:
    """Three fifths of `size` from the beginning and the rest from the end, at line ends where one is near, else between words."""
    head = text[: _between_words(text, size - size * 2 // 5, back=True)]
    tail = text[_between_words(text, len(text) - size * 2 // 5, back=False) :]
    if (at := head.rfind("\n")) > len(head) * 3 // 4:
        head = head[:at]
    if 0 <= (at := tail.find("\n")) < len(tail) // 4:
        tail = tail[at + 1 :]
    head, tail = head.rstrip(" "), tail.lstrip(" ")
    left_out = len(text) - len(head) - len(tail)
    fence = _open_fence(head)
    fence_behind = _open_fence(text[: len(text) - len(tail)])
    before = f"{head}\n{fence}" if fence else head
    behind = f"{fence_behind}\n{tail}" if fence_behind else tail
    return Fitted("\n".join(part for part in (before, mark(left_out), behind) if part), left_out)


def _between_words(text: str, at: int, *, back: bool) -> int:
    """The place of a cut at `at`, moved out of the word, name or number that it would part."""
    before = _BEFORE.search(text, max(0, at - _LONGEST_WORD - 1), at)
    behind = _BEHIND.match(text, at, at + _LONGEST_WORD + 1)
    if before is None or behind is None or behind.end() - before.start() > _LONGEST_WORD:
        return at
    return before.start() if back else behind.end()


def _open_fence(text: str) -> str:
    """The code fence that is open at the end of `text`, or nothing."""
    if "```" not in text and "~~~" not in text:
        return ""
    fence = ""
    for line in text.split("\n"):
        mark = line.strip()[:3]
        if mark in ("```", "~~~") and mark in (fence, fence or mark):
            fence = "" if fence else mark
    return fence
