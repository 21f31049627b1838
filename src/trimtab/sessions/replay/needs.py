"""Needs: which earlier results each step used, told by distinctive strings.

    result ──strings it is the first to show──▶ origin      what the user said or the model wrote before has none
    step ──strings of its tool arguments──▶ origins of those that nothing showed again within the last ten steps ──▶ needed (result, step)

A need is a fact of the recording: no policy changes it. It says "was used", not "could not have been done without".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trimtab.context.strings import distinctive_strings
from trimtab.sessions.replay.steps import Step
from trimtab.types.messages import Message, Text, Thinking, ToolCall, ToolResult, User

RECENT = 10
"""Steps within which a string that was shown or written again is taken from there."""


@dataclass(frozen=True, slots=True)
class Need:
    """A (result, step) pair. `result` is the number of the result's message in the chain, from 0."""

    result: int
    step: int
    strings: tuple[str, ...]


@dataclass(slots=True)
class _Seen:
    """A string: the result that showed it first (None: no result did) and the step after which it was last shown or written again."""

    origin: int | None
    again: int | None = None


def needs_of(steps: Sequence[Step]) -> dict[int, tuple[Need, ...]]:
    """Return step number → what it needs, in the order of the results."""
    seen: dict[str, _Seen] = {}
    needs: dict[int, tuple[Need, ...]] = {}
    for step in steps:
        for number, came in enumerate(step.came, step.first):
            # What came in front of step N was there once step N - 1 had been answered.
            _take(seen, came.message, step=step.number - 1, number=number)
        used: dict[int, list[str]] = {}
        for string in _strings(call.raw for call in step.answer.message.tool_calls):
            known = seen.get(string)
            if known is None or known.origin is None:
                continue
            if known.again is None or step.number - known.again > RECENT:
                used.setdefault(known.origin, []).append(string)
        if used:
            needs[step.number] = tuple(Need(o, step.number, tuple(used[o])) for o in sorted(used))
        _take(seen, step.answer.message, step=step.number, number=-1)
    return needs


def used_results(steps: Sequence[Step]) -> frozenset[int]:
    """Return the numbers of the results of which any later call used anything, however recently that was shown."""
    origins: dict[str, int | None] = {}
    used: set[int] = set()
    for step in steps:
        for number, came in enumerate(step.came, step.first):
            origin = number if isinstance(came.message, ToolResult) else None
            for string in _strings(texts_of(came.message)):
                origins.setdefault(string, origin)
        for string in _strings(call.raw for call in step.answer.message.tool_calls):
            if (known := origins.get(string)) is not None:
                used.add(known)
        for string in _strings(texts_of(step.answer.message)):
            origins.setdefault(string, None)
    return frozenset(used)


def _take(seen: dict[str, _Seen], message: Message, *, step: int, number: int) -> None:
    for string in _strings(texts_of(message)):
        known = seen.get(string)
        if known is None:
            seen[string] = _Seen(number if isinstance(message, ToolResult) else None)
        elif not isinstance(message, User):
            known.again = step


def _strings(texts: Iterable[str]) -> dict[str, None]:
    return dict.fromkeys(string for text in texts for string in distinctive_strings(text))


def texts_of(message: Message) -> Iterable[str]:
    """The texts of a message in which strings are looked for: words, thoughts, and the arguments of calls as they were written."""
    for part in message.parts:
        if isinstance(part, Text | Thinking):
            yield part.text
        elif isinstance(part, ToolCall):
            yield part.raw
