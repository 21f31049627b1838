"""Cutting to a number of tokens, always the same way: `fit` for one text, `compose` for a sequence of pieces.

A cut says that it is one, twice: in the text by a line in place of what is missing, and beside it as a flag. Text that is far too long
is never counted whole, so the cost depends on what is kept and not on what came in.

    compose: every piece whole ──too big──▶ one cap for all bodies ──still──▶ lower caps ──still──▶ the oldest pieces give way,
                                                                                            first what no user said
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Count = Callable[[str], int]
"""Tokens of a text."""

_WIDEST = 6
"""Characters per token up to which a text is tried whole: more than natural language needs."""
_LEAST = 12
"""Tokens of a body below which a piece is left out rather than cut further."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A text of at most the wanted size. `left_out` counts characters."""

    text: str
    left_out: int = 0

    @property
    def cut(self) -> bool:
        """Whether something is missing."""
        return self.left_out > 0


@dataclass(frozen=True, slots=True)
class Slot:
    """A body that may be cut, between a head and a tail that never are. `shorten` cuts it better than `fit`, which has the last word."""

    head: str
    body: str
    tail: str = ""
    shorten: Callable[[str, int], str] | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a composition: it is left out as a whole. `weight` multiplies the cap of its bodies. A higher `rank` gives way later."""

    slots: tuple[Slot, ...]
    weight: int = 1
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Composed:
    """Pieces as one text. `shortened` and `omitted` count pieces."""

    text: str
    shortened: int = 0
    omitted: int = 0


def fit(text: str, *, max_tokens: int, count: Count) -> Fitted:
    """Return `text`, or its beginning and end with a line between that says how much is missing.

    Never more than `max_tokens`; empty when not even that line fits. An open code fence is closed before the gap and opened behind it.
    """
    if _fits(text, max_tokens, count):
        return Fitted(text)
    size = min(len(text) - 1, _WIDEST * max(0, max_tokens))
    while size > 0:
        candidate = _halves(text, size)
        tokens = count(candidate.text)
        if tokens <= max_tokens:
            return candidate
        size = min(size - 1, size * max_tokens * 95 // (100 * tokens))
    only_mark = Fitted(_mark(len(text)), len(text))
    return only_mark if count(only_mark.text) <= max_tokens else Fitted("", len(text))


def both_ends(text: str, most: int) -> str:
    """Return `text`, or its beginning and end, `most` characters of them, with the usual line between: for a reader that must not take long."""
    return text if len(text) <= most else _halves(text, most).text


def compose(
    pieces: Sequence[Piece],
    *,
    count: Count,
    gap: Callable[[int], str],
    max_tokens: int | None = None,
    per_piece: int | None = None,
) -> Composed:
    """Return the pieces as one text of at most `max_tokens`; `gap` words what stands where that many pieces are missing."""
    if max_tokens is None:
        return _render(pieces, range(len(pieces)), per_piece, count, gap)
    cap = _level(pieces, max_tokens, per_piece, count)
    while True:
        whole = _render(pieces, range(len(pieces)), cap, count, gap)
        if _fits(whole.text, max_tokens, count):
            return whole
        if cap <= _LEAST:
            return _leave_out(pieces, max_tokens, cap, count, gap)
        cap = max(_LEAST, cap * 3 // 4)


def _fits(text: str, max_tokens: int, count: Count) -> bool:
    return not text or (len(text) <= _WIDEST * max_tokens and count(text) <= max_tokens)


def _level(pieces: Sequence[Piece], max_tokens: int, per_piece: int | None, count: Count) -> int:
    """The highest cap with which the bodies alone would fit, were sizes additive."""
    sizes = [(_size(slot.body, max_tokens, count), piece.weight) for piece in pieces for slot in piece.slots]
    low, high = _LEAST, max(_LEAST, max_tokens if per_piece is None else min(per_piece, max_tokens))
    while low < high:
        cap = (low + high + 1) // 2
        if sum(min(size, cap * weight) for size, weight in sizes) <= max_tokens:
            low = cap
        else:
            high = cap - 1
    return low


def _size(text: str, most: int, count: Count) -> int:
    return most if len(text) > _WIDEST * most else min(most, count(text))


def _leave_out(pieces: Sequence[Piece], max_tokens: int, cap: int, count: Count, gap: Callable[[int], str]) -> Composed:
    order = sorted(range(len(pieces)), key=lambda n: (pieces[n].rank, n))
    low, high = 1, len(order)
    while low < high:
        gone = (low + high) // 2
        if _fits(_render(pieces, sorted(order[gone:]), cap, count, gap).text, max_tokens, count):
            high = gone
        else:
            low = gone + 1
    composed = _render(pieces, sorted(order[low:]), cap, count, gap)
    return composed if _fits(composed.text, max_tokens, count) else Composed("", omitted=len(pieces))


def _render(
    pieces: Sequence[Piece], shown: Sequence[int], cap: int | None, count: Count, gap: Callable[[int], str]
) -> Composed:
    texts: list[str] = []
    shortened, last = 0, -1
    for n in (*shown, len(pieces)):
        if n - last > 1:
            texts.append(gap(n - last - 1))
        if n < len(pieces):
            text, cut = _show(pieces[n], cap, count)
            shortened += cut
            texts.append(text)
        last = n
    return Composed("\n".join(texts), shortened, len(pieces) - len(shown))


def _show(piece: Piece, cap: int | None, count: Count) -> tuple[str, bool]:
    if cap is None:
        return "".join(slot.head + slot.body + slot.tail for slot in piece.slots), False
    bodies = [_shorten(slot, cap * piece.weight, count) for slot in piece.slots]
    text = "".join(slot.head + body.text + slot.tail for slot, body in zip(piece.slots, bodies, strict=True))
    return text, any(body.cut for body in bodies)


def _shorten(slot: Slot, max_tokens: int, count: Count) -> Fitted:
    if slot.shorten is None or _fits(slot.body, max_tokens, count):
        return fit(slot.body, max_tokens=max_tokens, count=count)
    shorter = fit(slot.shorten(slot.body, max_tokens), max_tokens=max_tokens, count=count)
    return Fitted(shorter.text, max(1, len(slot.body) - len(shorter.text)))


def _halves(text: str, size: int) -> Fitted:
    """Three fifths of `size` from the beginning and the rest from the end, at line ends where one is near."""
    head = text[: size - size * 2 // 5]
    tail = text[len(text) - size * 2 // 5 :]
    if (at := head.rfind("\n")) > len(head) * 3 // 4:
        head = head[:at]
    if 0 <= (at := tail.find("\n")) < len(tail) // 4:
        tail = tail[at + 1 :]
    left_out = len(text) - len(head) - len(tail)
    fence = _open_fence(head)
    fence_behind = _open_fence(text[: len(text) - len(tail)])
    before = f"{head}\n{fence}" if fence else head
    behind = f"{fence_behind}\n{tail}" if fence_behind else tail
    return Fitted(f"{before}\n{_mark(left_out)}\n{behind}", left_out)


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


def _mark(left_out: int) -> str:
    return f"[… {left_out:,} characters left out …]"
