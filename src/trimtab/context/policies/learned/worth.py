"""What a batch is worth: tokens not read again, against the cache that it breaks and what hiding something needed costs.

    pieces, each with a chance to be needed ─▶ edge: where the cache breaks ─▶ all behind it that is worth hiding ─▶ the best batch

All in fresh tokens. A piece of g tokens that goes is not read in the `calls` requests to come, and not written again with what stands behind the edge:

    worth(piece) = g·read·calls + [it is cached] g·(write − read) − chance·loss          loss: a reload, and what a stub that nobody notices costs
    worth(batch) = Σ worth(piece) − (cached tokens behind the edge)·(write − read)

Where the cache breaks is the only thing that pieces share, so for each edge the best batch is every piece behind it whose own worth is above zero. To make room,
space gets a price: the lowest at which enough goes, added to what each token is worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.actions import ActionName
from trimtab.context.seeing.observation import ItemFacts

_TRIES = 40
"""Halvings of the price of space."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that can go: `op` on `item` takes out `gain` tokens. `chance`: that it is needed again; `loss`: what that would cost, in fresh tokens. `cached`: the cache serves it."""

    item: ItemFacts
    op: ActionName
    gain: int
    chance: float
    loss: float
    cached: bool

    @property
    def risk(self) -> float:
        """The expected loss."""
        return self.chance * self.loss


@dataclass(frozen=True, slots=True)
class Stakes:
    """Prices in units of fresh input, the requests that are counted on, and where the cache ends, as an offset among items."""

    read: float
    write: float
    calls: float
    cached_to: int = 0

    @property
    def broken(self) -> float:
        """What a cached token costs that must be written again, beyond reading it."""
        return max(0.0, self.write - self.read)

    def worth(self, piece: Piece, space: float = 0.0) -> float:
        """Of a piece by itself, with a price on space."""
        return piece.gain * (self.read * self.calls + space + (self.broken if piece.cached else 0.0)) - piece.risk


@dataclass(frozen=True, slots=True)
class Best:
    """The best batch, and what it is worth in fresh tokens. `edge`: the offset of its first sent item; `suffix`: cached tokens behind it, of which what goes isn't written again.

    `space`: the price of a token of space at which enough went; 0 where nothing had to.
    """

    pieces: tuple[Piece, ...] = ()
    worth: float = 0.0
    suffix: int = 0
    space: float = 0.0

    @property
    def gain(self) -> int:
        """Tokens that go."""
        return sum(piece.gain for piece in self.pieces)

    @property
    def tail(self) -> int:
        """Cached tokens that stay behind the edge, and are written again."""
        return max(0, self.suffix - sum(piece.gain for piece in self.pieces if piece.cached))


def best_batch(pieces: Sequence[Piece], stakes: Stakes, *, need: int = 0) -> Best:
    """Return the batch that is worth most; of those that take out `need` tokens, where something must go and that much can. It may be worth less than nothing then."""
    if need <= 0:
        best = _best(pieces, stakes, 0.0, 0)
        return best if best.worth > 0 else Best()
    if sum(piece.gain for piece in pieces) <= need:
        return _best(pieces, stakes, float("inf"), need)
    low, high = 0.0, 1.0 + max(piece.risk / max(1, piece.gain) for piece in pieces)
    if _gain(pieces, stakes, low) >= need:
        return _best(pieces, stakes, low, need)
    for _ in range(_TRIES):
        middle = (low + high) / 2
        low, high = (low, middle) if _gain(pieces, stakes, middle) >= need else (middle, high)
    return _best(pieces, stakes, high, need)


def _gain(pieces: Sequence[Piece], stakes: Stakes, space: float) -> int:
    return sum(piece.gain for piece in pieces if stakes.worth(piece, space) > 0)


def _best(pieces: Sequence[Piece], stakes: Stakes, space: float, need: int) -> Best:
    """The best edge for what is worth hiding at this price of space."""
    wanted = [p for p in pieces if space == float("inf") or stakes.worth(p, space) > 0]
    wanted.sort(key=lambda piece: (not piece.item.sent, piece.item.offset), reverse=True)
    free = [piece for piece in wanted if not piece.item.sent]
    chosen, worth, gain = list(free), sum(map(stakes.worth, free)), sum(piece.gain for piece in free)
    best = Best(tuple(chosen), worth, 0, space) if gain >= need else None
    for piece in (p for p in wanted if p.item.sent):
        chosen.append(piece)
        worth += stakes.worth(piece)
        gain += piece.gain
        suffix = max(0, stakes.cached_to - piece.item.offset)
        net = worth - suffix * stakes.broken
        if gain >= need and (best is None or net > best.worth):
            best = Best(tuple(chosen), net, suffix, space)
    return best or Best(tuple(chosen), worth, 0, space)
