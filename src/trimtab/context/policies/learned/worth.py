"""What a batch is worth: tokens not read again, against the cache that it breaks and what hiding something needed costs.

    pieces, each with a chance to be needed ─▶ edge: where the cache breaks ─▶ all behind it that is worth hiding ─▶ the best batch

All in fresh tokens. A piece of g tokens that goes is not read in the `calls` requests to come, and not written again with what stands behind the edge:

    worth(piece) = g·read·calls + [it is cached] g·(write − read) − chance·loss          loss: a reload, and what a stub that nobody notices costs
    worth(batch) = Σ worth(piece) − (cached tokens behind the edge)·(write − read)

Where the cache breaks is the only thing that items share, so for each edge the best batch is every item behind it in the form that is worth most (hidden, or shortened to lines that may be what is
needed), if that is above zero. To make room, space gets a price: the lowest at which enough goes, added to what each token is worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from trimtab.context.actions import ActionName
from trimtab.context.seeing.observation import ItemFacts

_ABOVE = 1e-9
"""How much higher than where a form becomes the best a price is, as a share of it: sums of floats don't end where they should."""


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
    """Return the batch that is worth most; of those that take out `need` tokens, where something must go and that much can. It may be worth less than nothing then.

    Several pieces of one item are forms of it, of which one is taken at most.
    """
    items = _forms(pieces)
    if need <= 0:
        best = _best(items, stakes, 0.0, 0)
        return best if best.worth > 0 else Best()
    if sum(max(piece.gain for piece in forms) for forms in items) <= need:
        return _best(items, stakes, inf, need)
    return _best(items, stakes, _price(items, stakes, need), need)


def _forms(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """The pieces of each item."""
    items: dict[str, list[Piece]] = {}
    for piece in pieces:
        items.setdefault(piece.item.id, []).append(piece)
    return list(items.values())


def _price(items: Sequence[Sequence[Piece]], stakes: Stakes, need: int) -> float:
    """The lowest price of space at which `need` tokens go."""
    gain = 0
    rises: list[tuple[float, int]] = []
    for forms in items:
        now = _form(forms, stakes, 0.0)
        worth, taken = (stakes.worth(now), now.gain) if now else (0.0, 0)
        gain += taken
        # A line a form: what it is worth, by the price. The next is the one that crosses the present one first.
        while larger := [(stakes.worth(form), form.gain) for form in forms if form.gain > taken]:
            price, most, of = min(((worth - w) / (g - taken), -g, w) for w, g in larger)
            rises.append((price, -most - taken))
            worth, taken = of, -most
    if gain >= need:
        return 0.0
    for price, more in sorted(rises):
        gain += more
        if gain >= need:
            return price * (1 + _ABOVE) + _ABOVE
    return inf


def _form(forms: Sequence[Piece], stakes: Stakes, space: float) -> Piece | None:
    """The form that is worth most at this price of space, the largest at any; None: it is better to keep the item."""
    if len(forms) == 1 and space != inf:
        return forms[0] if stakes.worth(forms[0], space) > 0 else None
    if space == inf:
        return max(forms, key=lambda piece: piece.gain)
    best = max(forms, key=lambda piece: stakes.worth(piece, space))
    return best if stakes.worth(best, space) > 0 else None


def _best(items: Sequence[Sequence[Piece]], stakes: Stakes, space: float, need: int) -> Best:
    """The best edge for what is worth taking out at this price of space."""
    wanted = [piece for forms in items if (piece := _form(forms, stakes, space)) is not None]
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
