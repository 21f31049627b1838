"""Where a request puts its cache breakpoints, for caches that want to be told.

A provider gives few of them (Anthropic: four), and each does two things: what stands in front of it is written, and a read looks back
from it, over a bounded number of blocks. So they go, in this order, as far as there are any:

    1  behind tools and system prompt      survives whatever happens to the messages
    2  at the end                          what the next request reads
    3  on the newest written boundary that is still intact: the end of the request before, or, when something changes,
       the last boundary in front of the earliest change. Without it a long batch of calls, or an edit, would read nothing
    4  on an edit, just in front of the earliest change: written now, it serves the next edit in the same place

A request carries them as `ModelRequest.cache_marks`, indexes of messages; the system prompt's is the wire's own affair.
"""

from collections.abc import Iterable

from trimtab.context.economics.shapes import RequestShape
from trimtab.types.models import CacheRules

MOST = 4
"""When a row doesn't say how many there are."""


def place(
    request: RequestShape, written: Iterable[bytes], rules: CacheRules, *, edited_at: int | None = None
) -> tuple[int, ...]:
    """Return the boundaries to mark, ascending. `written`: names of the boundaries that the cache holds.

    `edited_at`: bytes behind that boundary differ from what was sent before.
    """
    size = len(request.segments)
    if rules.kind != "explicit" or not size:
        return ()
    wanted = [request.fixed, size, _newest(request, frozenset(written), edited_at)]
    if edited_at is not None:
        wanted.append(edited_at)
    distinct = dict.fromkeys(k for k in wanted if 0 < k <= size)
    return tuple(sorted(list(distinct)[: rules.breakpoints or MOST]))


def message_marks(marks: Iterable[int], fixed: int) -> tuple[int, ...]:
    """Turn boundaries into indexes of messages, where each message is one segment behind `fixed` others."""
    return tuple(k - fixed - 1 for k in marks if k > fixed)


def _newest(request: RequestShape, written: frozenset[bytes], edited_at: int | None) -> int:
    top = len(request.chain) if edited_at is None else edited_at
    return next((k for k in range(top, 0, -1) if request.chain[k - 1] in written), 0)
