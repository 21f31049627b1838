"""Where a request puts its cache breakpoints, for caches that want to be told.

A provider gives few of them (Anthropic: four), and each does two things: what stands in front of it is written, and a read looks back
from it, over a bounded number of blocks. So they go, in this order, as far as there are any:

    1  behind tools and system prompt      survives whatever happens to the messages
    2  at the end                          what the next request reads
    3  on the newest written boundary that is still intact: the end of the request before, or, when something changes,
       the last boundary in front of the earliest change. Without it a long batch of calls, or an edit, would read nothing
    4  on an edit, just behind the last change: all of that is written anew now, and the next edit, which will lie further on, reads up
       to there instead of up to where this one began

A request carries them as `ModelRequest.cache_marks`, indexes of messages; the system prompt's is the wire's own affair.
"""

from collections.abc import Iterable

from trimtab.context.economics.shapes import RequestShape
from trimtab.types.models import CacheRules

MOST = 4
"""When a row doesn't say how many there are."""


def place(
    request: RequestShape,
    written: Iterable[tuple[int, int]],
    rules: CacheRules,
    *,
    edited_at: int | None = None,
    edited_to: int | None = None,
) -> tuple[int, ...]:
    """Return the boundaries to mark, ascending. `written`: what the cache holds (`CacheState.written`).

    `edited_at` and `edited_to`: the boundaries in front of the first and behind the last segment that differs from what was sent before. A
    boundary that can't be marked gives way to the one before it.
    """
    size = request.size
    if rules.kind != "explicit" or not size:
        return ()
    wanted = [request.fixed, size, _newest(request, written, edited_at), edited_to or 0]
    distinct = dict.fromkeys(_markable(request, k) for k in wanted)
    distinct.pop(0, None)
    return tuple(sorted(list(distinct)[: rules.breakpoints or MOST]))


def message_marks(marks: Iterable[int], fixed: int) -> tuple[int, ...]:
    """Turn boundaries into indexes of messages, where each message is one segment behind `fixed` others."""
    return tuple(k - fixed - 1 for k in marks if k > fixed)


def _markable(request: RequestShape, boundary: int) -> int:
    """The boundary, or the last one before it that can be marked."""
    k = min(max(boundary, 0), request.size)
    while k and not request.segment(k).markable:
        k -= 1
    return k


def _newest(request: RequestShape, written: Iterable[tuple[int, int]], edited_at: int | None) -> int:
    top = request.size if edited_at is None else min(edited_at, request.size)
    return max((k for k, name in written if k <= top and request.name(k) == name), default=0)
