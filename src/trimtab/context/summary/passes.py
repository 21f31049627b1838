"""Several passes, when a run of messages doesn't fit into the summariser's own window.

    messages ─plan_passes─▶ Pass 1 ─▶ summary 1 ─▶ Pass 2 (previous: summary 1) ─▶ summary 2 ─▶ … ─▶ the summary

A pass ends where a turn ends if it can, else behind the results of a step, never between a call and its result. A step that is too big
alone is a pass of its own, and its transcript is cut.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from trimtab.context.summary.fit import Count
from trimtab.context.summary.serialize import serialize
from trimtab.types.messages import Message, ToolResult, User

MOST_PASSES = 8
"""Passes over one source at most; a longer one has larger passes, whose transcripts are cut."""


@dataclass(frozen=True, slots=True)
class Pass:
    """Messages `first` to `last` (the second one excluded), number `number` of `of`. `turn_goes_on`: it ends inside a turn."""

    first: int
    last: int
    number: int
    of: int
    turn_goes_on: bool = False


def plan_passes(
    messages: Sequence[Message], *, room: int, count: Count, most: int = MOST_PASSES, turn_goes_on: bool = False
) -> tuple[Pass, ...]:
    """Return the passes over `messages` whose transcripts have at most `room` tokens each, as far as messages can be parted.

    `turn_goes_on`: the messages behind the last one belong to the same turn.
    """
    steps = _steps(messages)
    sizes = [min(room, _size(messages[first:last], room, count)) for first, last in steps]
    wanted = max(room, -(-sum(sizes) // max(1, most)))
    cuts: list[int] = []
    begin, filled = 0, 0
    for n, size in enumerate(sizes):
        if filled and filled + size > wanted and len(cuts) < most - 1:
            at = _turn_start(messages, steps, begin, n)
            cuts.append(at)
            begin, filled = at, sum(sizes[at:n])
        filled += size
    edges = [0, *(steps[at][0] for at in cuts), len(messages)] if messages else []
    pairs = list(pairwise(edges))
    return tuple(
        Pass(
            first, last, n, len(pairs), turn_goes_on if last == len(messages) else not isinstance(messages[last], User)
        )
        for n, (first, last) in enumerate(pairs, 1)
    )


def _steps(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """Ranges that stay together: a message with the results behind it."""
    starts = [n for n, message in enumerate(messages) if n == 0 or not isinstance(message, ToolResult)]
    return list(pairwise([*starts, len(messages)]))


def _size(messages: Sequence[Message], room: int, count: Count) -> int:
    text = serialize(messages)
    return room if len(text) > 16 * room else count(text)


def _turn_start(messages: Sequence[Message], steps: Sequence[tuple[int, int]], begin: int, end: int) -> int:
    """The last step at or before `end` that begins a turn, if that leaves at least half of the pass; else `end`."""
    for n in range(end, begin + (end - begin) // 2, -1):
        if isinstance(messages[steps[n][0]], User):
            return n
    return end
