"""Whether edits pay now: two whole bills, one without the edits and one with them, over a distribution of calls that may follow.

    bytes that no request has carried        edited at once: they cost nothing
    bytes that were sent                     marked; every step asks again whether they pay, together

Behind the earliest change everything is written anew anyway, so what is compared are batches: the deepest edit alone, the two deepest, and
so on to the front. The batch with the smallest bill wins, if it is smaller than keeping. Nothing else is special: with a cold cache, with a break
that happens anyway (`broken_at`), or without any cache, keeping costs as much as editing, and the bills say so by themselves. Only at the hard
limit it is no question whether something goes: then the cheapest batch is taken of those that take out enough.

While more edits keep arriving, one that pays is still better not applied alone. Let the next batch come T calls later: to apply E tokens now
saves E·r·T against waiting for it, and costs one more break, which is not all that stands behind them (whoever waits rewrites that later, and
more), but the tail that stands behind the newest edit in any case. That is the question of how much to order at a time, when an order costs
K = tail·(w−r) and a piece in stock costs r a day: with `arriving` tokens a call, batches of √(2·K·arriving/r) tokens are the cheapest (the
economic order quantity), and smaller ones wait.

The rule: what an edit leaves behind, stub or summary, is in its bill.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.economics.bill import LONG_S, bill_of
from trimtab.context.economics.break_even import break_even_calls
from trimtab.context.economics.cache_state import CacheState
from trimtab.context.economics.shapes import RequestShape
from trimtab.context.economics.survival import Remaining
from trimtab.types.models import CacheRules, Price

_CANDIDATES = 16
"""Batches that are weighed at most; with more edits, neighbours are taken together."""
_NO_PRICE = Price(input=1.0, output=5.0, cache_read=0.1, cache_write=1.0)
_NO_PRICE_EXPLICIT = Price(input=1.0, output=5.0, cache_read=0.1, cache_write=1.25, cache_write_1h=2.0)
"""Without a price the same question is asked in units of fresh tokens, at the discount that the large providers give."""


@dataclass(frozen=True, slots=True)
class MarkedEdit:
    """An edit that somebody wants. `index` is the segment that it changes, from `before` to `after` tokens, stub or summary included.

    `sent`: a request has carried the segment's present bytes. `text_usd` is what making its text costs: a summary call, nothing for a stub.
    """

    id: str
    index: int
    before: int
    after: int
    sent: bool = True
    text_usd: float = 0.0

    @property
    def gain(self) -> int:
        """Tokens that it takes out."""
        return self.before - self.after


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything that decides. `request` is the next request as it is without the edits; `state` what the cache holds.

    `growth`: tokens that a later call adds. `arriving`: tokens a call that new wishes are expected to take out; 0: these are the last. `cold`: the cache holds nothing. `broken_at`: a change that happens anyway breaks the cache behind
    this boundary. `need`: the request can't leave before so many tokens are gone. `now` in seconds, on the clock of the state.
    """

    request: RequestShape
    state: CacheState
    rules: CacheRules
    remaining: Remaining
    prices: tuple[Price, ...] = ()
    growth: int = 0
    arriving: float = 0.0
    cold: bool = False
    broken_at: int | None = None
    need: int = 0
    now: float | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with each edit, and the figures behind it.

    `apply` now, deepest first; `mark` and ask again; `refuse`: takes out nothing. `keep_usd` and `edit_usd` are expected prices of all
    calls left without and with `apply`, in USD where prices are known, else in millions of fresh tokens. `broken` tokens that the cache had are
    paid again. `break_even`: with so many calls left the whole set would have paid.
    """

    apply: tuple[str, ...] = ()
    mark: tuple[str, ...] = ()
    refuse: tuple[str, ...] = ()
    reason: str = ""
    keep_usd: float = 0.0
    edit_usd: float = 0.0
    broken: int = 0
    break_even: float = 0.0


@dataclass(frozen=True, slots=True)
class _Batch:
    edits: tuple[MarkedEdit, ...]
    usd: float
    broken: int = 0
    gain: int = 0
    """Tokens of what was sent that it takes out."""


def decide(edits: Sequence[MarkedEdit], situation: Situation) -> Decision:
    """Say which of `edits` are applied now and which stay marked. Their order doesn't matter."""
    ordered = sorted(edits, key=lambda e: (-e.index, e.id))
    useful = [e for e in ordered if e.gain > 0]
    refused = tuple(e.id for e in ordered if e.gain <= 0)
    free = tuple(e for e in useful if not e.sent)
    sent = [e for e in useful if e.sent]
    cached = _cached(situation, None)
    keep = _Batch(free, _price(situation, free, cached))
    batches = [_weigh(situation, free, tuple(sent[:n]), cached) for n in _sizes(sent, situation.broken_at)]
    paying = [b for b in batches if b.usd < keep.usd]
    best = min((b for b in paying if _large_enough(situation, b, batches[0])), key=lambda b: b.usd, default=keep)
    if situation.need > 0 and batches:
        # Whether is no question then; how far still is.
        enough = [b for b in batches if sum(e.gain for e in b.edits) >= situation.need]
        best = min(enough, key=lambda b: b.usd, default=batches[-1])
        reason = f"{_count(len(best.edits) - len(free))} applied: the hard limit leaves no choice"
    elif best is not keep:
        reason = _why(situation, len(best.edits) - len(free), cached)
    else:
        reason = _why_not(sent, paying=bool(paying))
        if free:
            reason = f"{_count(len(free))} applied: no request has carried the bytes"
    chosen = tuple(sorted(best.edits, key=lambda e: (-e.index, e.id)))
    return Decision(
        apply=tuple(e.id for e in chosen),
        mark=tuple(e.id for e in sent if e not in best.edits),
        refuse=refused,
        reason=reason,
        keep_usd=keep.usd,
        edit_usd=best.usd,
        broken=best.broken,
        break_even=_break_even(situation, sent, cached),
    )


def _large_enough(situation: Situation, batch: _Batch, deepest: _Batch) -> bool:
    """Whether waiting for more edits wouldn't be cheaper still; see the module."""
    read, write = _rates(_tier(situation), situation.rules)
    tail = max(deepest.broken - deepest.gain, 0)
    return batch.gain**2 * read >= 2 * tail * max(write - read, 0.0) * situation.arriving


def _sizes(sent: Sequence[MarkedEdit], broken_at: int | None) -> list[int]:
    """How many of the deepest edits a batch has: all that stand behind a break, and what reaches further. Edits of one segment are never torn apart."""
    whole = [n for n in range(1, len(sent) + 1) if n == len(sent) or sent[n].index != sent[n - 1].index]
    step = max(1, -(-len(whole) // _CANDIDATES))
    behind = 0 if broken_at is None else sum(edit.index >= broken_at for edit in sent)
    return sorted({*whole[::-1][::step], *([behind] if behind else [])})


def _weigh(situation: Situation, free: tuple[MarkedEdit, ...], batch: tuple[MarkedEdit, ...], cached: int) -> _Batch:
    read = _cached(situation, min(e.index for e in batch))
    usd = _price(situation, free + batch, read)
    return _Batch(free + batch, usd, max(cached - read, 0), sum(e.gain for e in batch))


def _cached(situation: Situation, limit: int | None) -> int:
    """Tokens that the next request reads when the bytes behind boundary `limit` change."""
    if situation.cold:
        return 0
    tops = [k for k in (limit, situation.broken_at) if k is not None]
    top = min(tops) if tops else None
    return situation.state.readable(situation.request, situation.rules, limit=top, now=situation.now)


def _price(situation: Situation, edits: tuple[MarkedEdit, ...], read: int) -> float:
    """Expected price of all calls left, the next one with `read` tokens from the cache."""
    total = situation.request.total - sum(e.gain for e in edits)
    first = bill_of(min(read, total), total, total, situation.rules, _prices(situation)).usd or 0.0
    return first + _later(situation, total) + sum(e.text_usd for e in edits)


def _later(situation: Situation, prompt: int) -> float:
    """Expected price of the calls behind the next one, whose prompt has that size: each reads the prompt before it and adds `growth`.

    The same as asking `bill` call by call (a test holds the two together), in the time that a step has.
    """
    rules, growth = situation.rules, max(situation.growth, 0)
    step, least = max(rules.granularity, 1), rules.minimum if rules.kind != "none" else float("inf")
    tiers = [(p.above, *_rates(p, rules)) for p in sorted(_prices(situation), key=lambda p: p.above)]
    tier, expected = 0, 0.0
    for likely in _alive(situation.remaining):
        served = prompt - (prompt + rules.offset) % step
        served = served if served >= least else 0
        prompt += growth
        while tier + 1 < len(tiers) and prompt >= tiers[tier + 1][0]:
            tier += 1
        _, read, write = tiers[tier]
        expected += likely * (served * read + (prompt - served) * write)
    return expected / 1_000_000


def _alive(remaining: Remaining) -> list[float]:
    """The probability that there is a second call, a third, and so on."""
    points = sorted(remaining.points)
    alive: list[float] = []
    left = sum(weight for _, weight in points)
    for calls, weight in points:
        alive += [left] * (calls - 1 - len(alive))
        left -= weight
    return alive


def _rates(price: Price, rules: CacheRules) -> tuple[float, float]:
    """USD per million tokens of a read, and of what is not read."""
    if rules.kind != "explicit":
        return price.read, price.input
    return price.read, price.write_1h if rules.ttl_s >= LONG_S else price.write


def _prices(situation: Situation) -> tuple[Price, ...]:
    if situation.prices:
        return situation.prices
    return (_NO_PRICE_EXPLICIT,) if situation.rules.kind == "explicit" else (_NO_PRICE,)


def _tier(situation: Situation) -> Price:
    tiers = [p for p in _prices(situation) if situation.request.total >= p.above]
    return max(tiers, key=lambda p: p.above)


def _break_even(situation: Situation, sent: Sequence[MarkedEdit], cached: int) -> float:
    if not sent or situation.rules.kind == "none":
        return 0.0
    read, write = _rates(_tier(situation), situation.rules)
    start = _cached(situation, min(e.index for e in sent))
    suffix = max(cached - start - sum(e.before for e in sent), 0)
    return break_even_calls(sum(e.gain for e in sent), suffix, read, write)


def _why(situation: Situation, count: int, cached: int) -> str:
    edits = f"{_count(count)} applied: "
    if situation.rules.kind == "none":
        return edits + "there is no cache to break"
    if situation.cold:
        return edits + "the cache is cold"
    if situation.broken_at is not None:
        return edits + "a break happens anyway"
    return edits + ("it pays over the calls that are left" if cached else "nothing is cached")


def _why_not(sent: Sequence[MarkedEdit], *, paying: bool) -> str:
    if not sent:
        return "nothing to decide"
    why = "more are expected, and one break serves all" if paying else "not enough calls are left to pay for it"
    return f"{_count(len(sent))} marked: {why}"


def _count(n: int) -> str:
    return "1 edit" if n == 1 else f"{n} edits"
