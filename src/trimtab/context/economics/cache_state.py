"""What a provider's cache holds of this session: a value that each request turns into the next one.

Two kinds of cache, by `CacheRules.kind`:

    explicit   what stands in front of a breakpoint is written under that boundary. A later request reads the longest written boundary
               that it finds by looking back from one of its own breakpoints, over at most `lookback` blocks. Nothing between boundaries
               can be read (Anthropic).
    prefix     each request is kept whole; a later one reads the longest common prefix, rounded down to `granularity` (OpenAI, Google).

Both have a minimum, and both forget what nobody used for a while; each use starts the time again. Without times nothing is forgotten: then
the caller says `cold`. A cache belongs to one model.
"""

from dataclasses import dataclass, replace

from trimtab.context.economics.breakpoints import place
from trimtab.context.economics.shapes import RequestShape, Segment
from trimtab.types.models import CacheRules

GRACE = 1.1
"""Entries live a little longer than promised. Measured on recorded sessions with a promise of 300 s: idle for 300–330 s, 21 of 25 still
read; 330–360 s, none of 10; with a promise of an hour, none of 15 was read after more than that."""
_BOUNDARIES = 64
_REQUESTS = 4


@dataclass(frozen=True, slots=True)
class Kept:
    """A boundary that was written: how many segments stand in front of it, the name of their bytes, when it was last used (seconds) and for how
    long it then lives (0: unknown)."""

    boundary: int
    name: int
    used_at: float | None = None
    lives_s: float = 0.0

    def alive(self, now: float | None) -> bool:
        """Whether it should still be there."""
        return now is None or self.used_at is None or not self.lives_s or now - self.used_at <= self.lives_s * GRACE


@dataclass(frozen=True, slots=True)
class CacheState:
    """What was written, oldest use first. Bounded: an agent's request reads what one of its last few requests wrote."""

    model: str = ""
    boundaries: tuple[Kept, ...] = ()
    requests: tuple[tuple[RequestShape, Kept], ...] = ()

    def after(
        self, request: RequestShape, rules: CacheRules, *, answer: tuple[Segment, ...] = (), now: float | None = None
    ) -> "CacheState":
        """The cache once `request` was answered. `answer`: the segments that the next request will have of it, for caches that keep it."""
        same = self if self.model == request.model else CacheState(request.model)
        if rules.kind == "prefix":
            request = request.extended(answer) if rules.caches_answer else request
            kept = Kept(request.size, request.name(request.size), now, rules.ttl_s)
            older = [(r, k) for r, k in same.requests if k.name != kept.name]
            return replace(same, requests=(*older, (request, kept))[-_REQUESTS:])
        if rules.kind == "explicit":
            return same._marked(request, rules, now=now)
        return CacheState(request.model)

    def _marked(self, request: RequestShape, rules: CacheRules, *, now: float | None) -> "CacheState":
        read = self.boundary(request, rules, now=now)
        held = {k.name: k for k in self.boundaries if k.alive(now)}
        for mark in sorted({*marks_of(self, request, rules), read}):
            if not mark or request.tokens_before(mark) < rules.minimum:
                continue
            name = request.name(mark)
            before = held.pop(name, None)
            # Using an entry starts its own lifetime again; only writing it anew could change that.
            held[name] = Kept(mark, name, now, before.lives_s if before else rules.ttl_s)
        return replace(self, boundaries=tuple(held.values())[-_BOUNDARIES:])

    def boundary(
        self, request: RequestShape, rules: CacheRules, *, limit: int | None = None, now: float | None = None
    ) -> int:
        """The longest boundary of `request` that can be read, 0 for none. `limit`: bytes behind that boundary are about to change."""
        if self.model != request.model:
            return 0
        top = request.size if limit is None else limit
        if rules.kind == "prefix":
            shared = (request.shared_with(r) for r, kept in self.requests if kept.alive(now))
            return min(top, max(shared, default=0))
        if rules.kind == "explicit":
            held = [k for k, name in self.written(now=now) if k <= min(top, request.size) and request.name(k) == name]
            marks = marks_of(self, request, rules, edited_at=limit)
            return max((k for k in held if any(_in_reach(request, k, m, rules) for m in marks)), default=0)
        return 0

    def written(self, *, now: float | None = None) -> tuple[tuple[int, int], ...]:
        """The boundaries that are still there, as `breakpoints.place` takes them: segments in front of each, and the name of their bytes."""
        return tuple((k.boundary, k.name) for k in self.boundaries if k.alive(now))

    def readable(
        self, request: RequestShape, rules: CacheRules, *, limit: int | None = None, now: float | None = None
    ) -> int:
        """Tokens of `request` that the cache serves. See `boundary`."""
        tokens = request.tokens_before(self.boundary(request, rules, limit=limit, now=now))
        return round_down(tokens, rules)


def round_down(tokens: int, rules: CacheRules) -> int:
    """What the cache serves of a matching prefix of that size: none under the minimum, else whole steps of the granularity."""
    whole = tokens - (tokens + rules.offset) % max(rules.granularity, 1)
    return whole if whole >= rules.minimum and whole > 0 else 0


def marks_of(
    state: CacheState, request: RequestShape, rules: CacheRules, *, edited_at: int | None = None
) -> tuple[int, ...]:
    """The breakpoints of `request`: its own, or those that `breakpoints.place` would give it."""
    if request.marks and edited_at is None:
        return request.marks
    return place(request, state.written(), rules, edited_at=edited_at)


def _in_reach(request: RequestShape, boundary: int, mark: int, rules: CacheRules) -> bool:
    """Whether a read that starts at `mark` gets back to `boundary`."""
    blocks = request.blocks_before(mark) - request.blocks_before(boundary)
    return boundary <= mark and (not rules.lookback or blocks <= rules.lookback)
