"""Composing: a sequence of pieces as one text of at most so many tokens.

    pieces ──which can be shown at all?──▶ sizes ──too big──▶ bodies of the lowest rank shrink, then those of the next, …
                                                    ──still──▶ whole pieces give way: the lowest rank first, in it the oldest
                                                               ──▶ what room that leaves goes to the bodies that stayed ──▶ text

What gives way is decided by sizes alone, each body counted once; the text itself is made at the end, and again with less room where it came
out too big. A piece that can't be shown is never made, so the cost depends on what is kept and not on how many pieces came in.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from trimtab.context.summary.fit import Count, Fitted, fit, fits

LEAST = 12
"""Tokens of a body below which a piece is left out rather than cut further, unless the piece says otherwise."""
_FEWEST = 8
"""Pieces that a composition has room for, whatever they say that they need at least."""
_LETTERS = 4
"""Characters per token, to tell which pieces can be shown at all."""
_TRIES = 12
_LESS = 0.9
"""Of the room, at each further try."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A body that may be cut, between a head and a tail that never are. `shorten` cuts it better than `fit`, which has the last word."""

    head: str
    body: str
    tail: str = ""
    shorten: Callable[[str, int], str] | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a composition: it is left out as a whole. A higher `rank` gives way later; `weight` multiplies the cap of its bodies.

    `make` gives its slots, when they are needed. `letters`: of its text, about; `least`: tokens of a body that are kept if anything is.
    """

    make: Callable[[], tuple[Slot, ...]]
    letters: int
    weight: int = 1
    rank: int = 0
    least: int = LEAST


@dataclass(frozen=True, slots=True)
class Composed:
    """Pieces as one text. `shortened` and `omitted` count pieces."""

    text: str
    shortened: int = 0
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class _Sized:
    """A piece with its slots. `fixed`: tokens that are never cut; `bodies`: tokens of each body, up to what it may have at most; `least`: of each."""

    piece: Piece
    slots: tuple[Slot, ...]
    fixed: int = 0
    bodies: tuple[int, ...] = ()
    least: int = 0

    def size(self, cap: int) -> int:
        """Its tokens with bodies of at most `cap` times its weight."""
        most = self.most(cap)
        return self.fixed + sum(min(body, most) for body in self.bodies)

    def most(self, cap: int) -> int:
        """Tokens that each of its bodies may have under that cap."""
        return max(cap * self.piece.weight, self.least)


def compose(
    pieces: Sequence[Piece],
    *,
    count: Count,
    gap: Callable[[int, int], str],
    max_tokens: int | None = None,
    per_piece: int | None = None,
) -> Composed:
    """Return the pieces as one text of at most `max_tokens`, each body of at most `per_piece` times its weight.

    `gap` words what stands where the pieces from one index up to another (excluded) are missing; nothing, if it gives "".
    """
    if max_tokens is None:
        every = {n: _sized(piece, per_piece, count) for n, piece in enumerate(pieces)}
        return _render(every, len(pieces), dict.fromkeys(every, per_piece), count, gap)
    widest = max(1, max_tokens if per_piece is None else min(per_piece, max_tokens))
    least = max(LEAST, max_tokens // _FEWEST)
    sized = {n: _sized(pieces[n], widest, count, least) for n in _showable(pieces, max_tokens, least)}
    between = count(gap(0, len(pieces)))
    room = max_tokens
    for _ in range(_TRIES):
        shown = _kept(sized, room, between)
        if not shown:
            break
        caps = _caps(shown, room, widest, gaps=between * (len(shown) < len(pieces)))
        composed = _render(shown, len(pieces), caps, count, gap)
        if fits(composed.text, max_tokens, count):
            return composed
        room = int(room * _LESS)
    return _one(sized, len(pieces), max_tokens, count) or Composed("", omitted=len(pieces))


def _one(sized: dict[int, _Sized], total: int, max_tokens: int, count: Count) -> Composed | None:
    """The piece that gives way last, alone: where there is no room for more, words say more than what is left out."""
    for n in sorted(sized, key=lambda n: (-sized[n].piece.rank, n)):
        one = sized[n]
        room = (max_tokens - one.fixed) // max(1, len(one.slots) * one.piece.weight)
        text, cut = _show(replace(one, least=0), max(0, room), count)
        if text and fits(text, max_tokens, count):
            return Composed(text, int(cut), total - 1)
    return None


def _showable(pieces: Sequence[Piece], max_tokens: int, least: int) -> list[int]:
    """The indices, in order, of those that could be shown beside all that give way later, at their least."""
    left = max_tokens
    found: list[int] = []
    for n in sorted(range(len(pieces)), key=lambda n: (-pieces[n].rank, -n)):
        if left <= 0:
            break
        left -= 1 + min(pieces[n].letters // _LETTERS, pieces[n].least, least)
        found.append(n)
    return sorted(found)


def _sized(piece: Piece, widest: int | None, count: Count, least: int = 0) -> _Sized:
    slots = piece.make()
    if widest is None:
        return _Sized(piece, slots)
    fixed = sum(count(slot.head) + count(slot.tail) for slot in slots)
    most = widest * piece.weight
    bodies = tuple(_size(slot.body, most, count) for slot in slots)
    return _Sized(piece, slots, fixed, bodies, min(piece.least, most, least))


def _size(text: str, most: int, count: Count) -> int:
    """Tokens of `text`, or `most`."""
    return min(most, count(text)) if len(text) <= 2 * _LETTERS * most else most


def _kept(sized: dict[int, _Sized], room: int, between: int) -> dict[int, _Sized]:
    """What is shown when each body has its least: all of it, or as many as fit with a line for each gap."""
    least = {n: one.size(0) for n, one in sized.items()}
    if sum(least.values()) <= room:
        return sized
    kept: set[int] = set()
    used = between
    for n in sorted(sized, key=lambda n: (-sized[n].piece.rank, -n)):
        # A piece alone has a gap on either side; one beside another closes the one between them.
        gaps = between * (1 - (n - 1 in kept) - (n + 1 in kept))
        if used + least[n] + gaps > room:
            continue
        used += least[n] + gaps
        kept.add(n)
    return {n: sized[n] for n in sorted(kept)}


def _caps(shown: dict[int, _Sized], room: int, widest: int, *, gaps: int) -> dict[int, int | None]:
    """The cap of each piece: those of a low rank get the less, those above them all that they may have, as far as that fits."""
    ranks = sorted({one.piece.rank for one in shown.values()})
    low = {rank: 0 for rank in ranks}
    high = {rank: widest for rank in ranks}
    for at, rank in enumerate(ranks):
        settled = low | {above: high[above] for above in ranks[at + 1 :]}
        caps = _between(shown, room - gaps, rank, settled, widest)
        if caps is not None:
            return {n: caps[one.piece.rank] for n, one in shown.items()}
    return {n: low[one.piece.rank] for n, one in shown.items()}


def _between(
    shown: dict[int, _Sized], room: int, rank: int, settled: dict[int, int], widest: int
) -> dict[int, int] | None:
    """The caps with the highest one for `rank` that fits, the others as settled; None if not even the lowest does."""
    others = sum(one.size(settled[one.piece.rank]) for one in shown.values() if one.piece.rank != rank)
    mine = [one for one in shown.values() if one.piece.rank == rank]
    low, high = -1, widest
    while low < high:
        cap = (low + high + 1) // 2
        if others + sum(one.size(cap) for one in mine) <= room:
            low = cap
        else:
            high = cap - 1
    return None if low < 0 else settled | {rank: low}


def _render(
    shown: dict[int, _Sized],
    total: int,
    caps: dict[int, int | None],
    count: Count,
    gap: Callable[[int, int], str],
) -> Composed:
    texts: list[str] = []
    shortened, last = 0, -1
    for n in (*shown, total):
        if n - last > 1:
            texts += [said] if (said := gap(last + 1, n)) else []
        if n < total:
            text, cut = _show(shown[n], caps[n], count)
            shortened += cut
            texts.append(text)
        last = n
    return Composed("\n".join(texts), shortened, total - len(shown))


def _show(one: _Sized, cap: int | None, count: Count) -> tuple[str, bool]:
    if cap is None:
        return "".join(slot.head + slot.body + slot.tail for slot in one.slots), False
    bodies = [_shorten(slot, one.most(cap), count) for slot in one.slots]
    text = "".join(slot.head + body.text + slot.tail for slot, body in zip(one.slots, bodies, strict=True))
    return text, any(body.cut for body in bodies)


def _shorten(slot: Slot, max_tokens: int, count: Count) -> Fitted:
    if slot.shorten is None or fits(slot.body, max_tokens, count):
        return fit(slot.body, max_tokens=max_tokens, count=count)
    shorter = fit(slot.shorten(slot.body, max_tokens), max_tokens=max_tokens, count=count)
    return Fitted(shorter.text, max(1, len(slot.body) - len(shorter.text)))
