"""The unit of cost: what a story costs when everything is kept, and what doesn't fit is cut off at the front.

    requests as they would be without any edit ─▶ cut to the room, oldest first ─▶ the one bill, request by request ─▶ USD

Cut hard: from the first request that doesn't fit, each one is cut anew, so its prefix changes and the cache serves no more than what stands in front of
the messages. That is what not managing costs, and why it is no good yardstick for how good a policy is, only for how much.
"""

from collections.abc import Iterable
from itertools import chain, repeat

from trimtab.context.economics import CacheState, RequestShape, bill
from trimtab.lab.rewards.prices import Regime


def keep_all_usd(
    requests: Iterable[tuple[RequestShape, int]],
    room: int,
    regime: Regime,
    *,
    down_to: int | None = None,
    times: Iterable[float | None] = (),
    warm: bool = False,
) -> float:
    """Return the cost of requests and answers. Each request holds all of the story so far, with the tokens of its answer beside it.

    A segment goes as a whole, so what must stay together (a call and its result) is one segment. `down_to`: a cut goes on to that size; None: no
    further than it must. The fixed segments and the newest one stay. `times`: of each request in seconds, after which a cache may have grown cold. `warm`: the fixed
    part of the first request is cached already, as it is when a recording begins.
    """
    state, usd, first = CacheState(), 0.0, 0
    clock = chain(times, repeat(None))
    for (whole, answer), now in zip(requests, clock, strict=False):
        if warm:
            fixed = whole.edited(dict.fromkeys(range(whole.fixed, whole.size)))
            state, warm = state.after(fixed, regime.cache, now=now), False
        first = _first_kept(whole, first, room, down_to)
        request = whole.edited(dict.fromkeys(range(whole.fixed, first)))
        usd += bill(state, request, regime.cache, regime.price, now=now).usd or 0.0
        usd += answer * regime.price.output / 1_000_000
        state = state.after(request, regime.cache, now=now)
    return usd


def _first_kept(whole: RequestShape, first: int, room: int, down_to: int | None) -> int:
    """The first message that is kept. What was cut once stays cut."""
    first = max(first, whole.fixed)
    front = whole.tokens_before(whole.fixed)

    def size(at: int) -> int:
        return front + whole.total - whole.tokens_before(at)

    if size(first) <= room:
        return first
    aim = room if down_to is None else min(down_to, room)
    while first < whole.size - 1 and size(first) > aim:
        first += 1
    return first
