"""Refusals: what a server's no teaches about the next request.

    overflow                     the window is what the server says, or less than what was sent      shrink to the target
      … where only prompt and answer together were too much                                          ask for less output
    request_too_large_for_tier   the same, with the limit of the tier                                shrink
    output_cap                   the model writes less than was asked for                            ask for less output
    media                        pictures that it doesn't take                                       without them
    anything else                nothing about sizes: whoever waits, waits; nothing is shortened

A server may say anything, so figures are only believed as far as they fit what was sent; otherwise the next request is a fifth smaller. Each
refusal leaves less room than the one before, so a server that always refuses ends in the typed stop.
"""

from dataclasses import dataclass

from trimtab.types.errors import ErrorInfo

_TIGHTER = 0.8
"""Of what was sent: what a request may have after a refusal that says nothing believable."""
LEAST = 1_000
"""Tokens; no window is smaller, whatever a server says."""
_FARTHEST = 0.4
"""Our count against the server's: farther apart than this, its figures are of something else (bytes, or all requests of a minute)."""
_SAME = 0.1
"""Two counts of one thing are no farther apart than that share."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What to do otherwise. `window` in tokens of ours, prompt and answer together. `output`: the most to ask for. None: as before."""

    window: int | None = None
    output: int | None = None
    media: bool = False
    shrink: bool = False


NOTHING = Lesson()


def lesson_of(error: ErrorInfo, *, counted: int, asked: int, window: int) -> Lesson:
    """Return what `error` teaches. `counted`: our size of the refused prompt; `asked`: the output that it asked for; `window`: as believed so far."""
    match error.kind:
        case "overflow" | "request_too_large_for_tier":
            return _of_overflow(error, counted=counted, asked=asked, window=window)
        case "output_cap":
            stated = error.limit or 0
            return Lesson(output=stated if 0 < stated < asked else max(1, asked // 2))
        case "media":
            return Lesson(media=True)
        case _:
            return NOTHING


def _of_overflow(error: ErrorInfo, *, counted: int, asked: int, window: int) -> Lesson:
    limit, actual = error.limit or 0, error.actual or 0
    if limit < LEAST or (actual <= limit and limit >= min(window, counted + asked)):
        return _tighter(counted, window)
    if actual <= limit:
        return Lesson(window=limit, shrink=True)
    # Both figures are the server's; our count of the same request tells how its tokens relate to ours. Some count the answer in.
    alone, together = counted / actual, (counted + asked) / actual
    with_answer = abs(together - 1) < min(_SAME, abs(alone - 1))
    ratio = together if with_answer else alone
    if not _FARTHEST <= ratio <= 1 / _FARTHEST:
        return _tighter(counted, window)
    fits = with_answer and counted + LEAST < limit
    return Lesson(window=max(LEAST, int(limit * min(1.0, ratio))), shrink=not fits)


def _tighter(counted: int, window: int) -> Lesson:
    return Lesson(window=max(LEAST, int(min(counted, window) * _TIGHTER)), shrink=True)
