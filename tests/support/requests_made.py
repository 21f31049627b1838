"""Requests as the economics sees them, made of plain numbers, and strategies for histories of them."""

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import strategies as st

from trimtab.context.economics import CacheState, Remaining, RequestShape, Segment, place, shape_of
from trimtab.types.models import CacheRules, Price

EXPLICIT = CacheRules("explicit", minimum=100, lookback=20, breakpoints=4, ttl_s=300)
PREFIX = CacheRules("prefix", minimum=128, granularity=64, ttl_s=600)
EXACT = CacheRules("prefix")
"""Every shared token is read: the cache of the textbook."""
NO_CACHE = CacheRules()
PRICE = Price(input=10.0, output=50.0, cache_read=1.0, cache_write=12.5, cache_write_1h=20.0)
FLAT = Price(input=10.0, output=50.0, cache_read=1.0, cache_write=10.0)


def segment(name: str, tokens: int = 100, *, blocks: int = 1, markable: bool = True) -> Segment:
    return Segment(name.encode(), tokens, blocks, markable)


def request(*sizes: int, model: str = "m", fixed: int = 1) -> RequestShape:
    """A request of segments that are called 0, 1, 2, …"""
    return shape_of((segment(str(i), size) for i, size in enumerate(sizes)), model=model, fixed=fixed)


def sent(shape: RequestShape, rules: CacheRules) -> CacheState:
    """The cache after that one request."""
    return CacheState().after(shape, rules)


def exactly(calls: int) -> Remaining:
    """The distribution of somebody who knows: so many calls are left."""
    return Remaining(((max(calls, 1), 1.0),))


def mark_edited(
    made: RequestShape, indexes: Iterable[int], written: Iterable[tuple[int, int]], row: CacheRules
) -> RequestShape:
    """An edited request with the breakpoints of an edit step. `indexes`: its segments that were changed."""
    changed = tuple(indexes)
    if not changed:
        return made
    return replace(made, marks=place(made, written, row, edited_at=min(changed), edited_to=max(changed) + 1))


rules = st.builds(
    CacheRules,
    st.sampled_from(["none", "prefix", "explicit"]),
    minimum=st.sampled_from([0, 64, 500]),
    granularity=st.sampled_from([1, 64, 128]),
    lookback=st.sampled_from([0, 2, 20]),
    breakpoints=st.sampled_from([0, 1, 2, 4]),
    ttl_s=st.sampled_from([0, 300, 3_600]),
    offset=st.sampled_from([0, 0, 32]),
    caches_answer=st.booleans(),
)
segments = st.builds(
    segment, st.sampled_from("abcdefgh"), st.integers(0, 400), blocks=st.integers(0, 3), markable=st.booleans()
)
shapes = st.builds(shape_of, st.lists(segments, max_size=12), fixed=st.integers(0, 2))
"""Keys come from a small alphabet, so that requests share prefixes; a key has any size, as if counts were refined."""
