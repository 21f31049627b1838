"""Caps: how much of a result the model gets, and how a shortened result says so.

Text is cut on code points and, where it can be, on whole lines; sizes are bytes of UTF-8. Every function returns the
text that is left with a structured `Cut`, or None when nothing was left out. The words for people and models are the tool's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.types.tools import Cut


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits of all tools: the settings of `[tools.*]`. Bytes unless the name says otherwise."""

    read_lines: int = 2_000
    read_bytes: int = 50 * 1024
    image_bytes: int = 3_900_000
    """The strictest provider takes 5 MiB of base64 (Anthropic Messages, Vision), which is 3.9 MB of picture."""
    image_pixels_a_side: int = 8_000
    edit_file_bytes: int = 64 * 1024 * 1024
    diff_bytes: int = 16 * 1024
    list_rows: int = 500
    search_rows: int = 200
    search_row_chars: int = 500
    bash_head_bytes: int = 30 * 1024
    bash_tail_bytes: int = 20 * 1024


@dataclass(frozen=True, slots=True)
class Clip:
    """What is left of a text, and what the cut was (None: nothing is missing)."""

    text: str
    cut: Cut | None = None


def head_bytes(text: str, size: int) -> str:
    """Return the longest start of `text` of at most `size` bytes in UTF-8. Never splits a code point."""
    if len(text) * 4 <= size:
        return text
    return text[: max(size, 0)].encode("utf-8", "replace")[: max(size, 0)].decode("utf-8", "ignore")


def tail_bytes(text: str, size: int) -> str:
    """Return the longest end of `text` of at most `size` bytes in UTF-8. Never splits a code point."""
    if size <= 0:
        return ""
    if len(text) * 4 <= size:
        return text
    return text[-size:].encode("utf-8", "replace")[-size:].decode("utf-8", "ignore")


def line_count(text: str) -> int:
    """Return the number of lines; an unfinished last line counts, an empty text has none."""
    return text.count("\n") + (not text.endswith("\n") if text else 0)


def head(text: str, *, lines: int, size: int, where: str | None = None, more: str | None = None) -> Clip:
    """Keep the first lines of `text`: at most `lines` lines and `size` bytes.

    A first line longer than `size` is cut inside, and the cut then counts bytes. `where` and `more` go into the cut.
    """
    end = _after_lines(text, lines)
    kept = head_bytes(text[:end], size)
    if len(kept) == len(text):
        return Clip(text)
    if len(kept) < end:
        whole = kept.rfind("\n") + 1
        if whole == 0:
            return Clip(kept, Cut("bytes", _some((1, _size(kept))), _size(text), where, more))
        kept = kept[:whole]
    return Clip(kept, Cut("lines", _some((1, line_count(kept))), line_count(text), where, more))


def tail(text: str, *, lines: int, size: int, where: str | None = None, more: str | None = None) -> Clip:
    """Keep the last lines of `text`, as `head` keeps the first."""
    start = _before_lines(text, lines)
    kept = tail_bytes(text[start:], size)
    if len(kept) == len(text):
        return Clip(text)
    total = line_count(text)
    if len(kept) < len(text) - start and text[len(text) - len(kept) - 1] != "\n":
        whole = kept.find("\n") + 1
        if whole in (0, len(kept)):
            all_bytes = _size(text)
            return Clip(kept, Cut("bytes", _some((all_bytes - _size(kept) + 1, all_bytes)), all_bytes, where, more))
        kept = kept[whole:]
    return Clip(kept, Cut("lines", _some((total - line_count(kept) + 1, total)), total, where, more))


def head_and_tail(text: str, *, head_size: int, tail_size: int, where: str | None = None) -> Clip:
    """Keep both ends of `text` with a line between them that says what is missing. The cut counts bytes."""
    total = _size(text)
    if total <= head_size + tail_size:
        return Clip(text)
    first, last = head_bytes(text, head_size), tail_bytes(text, tail_size)
    first = first[: first.rfind("\n") + 1] or first
    start = last.find("\n") + 1
    last = last[start:] if 0 < start < len(last) else last
    gone = total - _size(first) - _size(last)
    between = f"{'' if first.endswith(chr(10)) or not first else chr(10)}[… {gone:,} bytes not shown …]\n"
    shown = ((1, _size(first)), (total - _size(last) + 1, total))
    return Clip(first + between + last, Cut("bytes", _some(*shown), total, where))


def rows(items: Sequence[str], *, limit: int, total: int | None = None, more: str | None = None) -> Clip:
    """Join the first `limit` rows. `total` is the number of all rows when `items` isn't all; None: just these."""
    known = len(items) if total is None else total
    kept = items[:limit]
    text = "\n".join(kept)
    if len(kept) == known:
        return Clip(text)
    return Clip(text, Cut("rows", _some((1, len(kept))), known, None, more))


def _after_lines(text: str, lines: int) -> int:
    """The offset behind line number `lines`."""
    at = 0
    for _ in range(lines):
        found = text.find("\n", at)
        if found < 0:
            return len(text)
        at = found + 1
    return at


def _before_lines(text: str, lines: int) -> int:
    """The offset of the first of the last `lines` lines."""
    at = len(text) - text.endswith("\n")
    for _ in range(lines):
        found = text.rfind("\n", 0, at)
        if found < 0:
            return 0
        at = found
    return at + 1 if lines else len(text)


def _some(*ranges: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """The ranges that hold anything."""
    return tuple(r for r in ranges if r[0] <= r[1])


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
