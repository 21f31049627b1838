"""Needs: which earlier results each step used, told by distinctive strings.

    result ──strings it is the first to show──▶ origin      what the user said or the model wrote before has none
    step ──strings that its tool arguments contain──▶ origins of those that nothing showed again within the last ten steps ──▶ needed (result, step)

A need is a fact of the recording: no policy changes it. It says "was used", not "could not have been done without".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from trimtab.context.strings import Strings, arguments_text, distinctive_strings
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
class SeenString:
    """A string: the result that showed it first (None: no result did) and the step after which it was last shown or written again."""

    origin: int | None
    again: int | None = None


@dataclass(slots=True)
class StringRecord:
    """All strings so far. `known` finds those of them that a text contains, also within longer ones. Whoever follows a session calls `take` for what came in
    front of a step, then `written_by` the step, then `take` for its answer.
    """

    seen: dict[str, SeenString] = field(default_factory=dict)
    known: Strings = field(default_factory=Strings)

    def take(self, message: Message, *, step: int, number: int) -> None:
        """Take in a message that was there once `step` was answered; `number` is its place in the chain."""
        for text in texts_of(message):
            if not isinstance(message, User):
                for string in self.known.found_in(text):
                    self.seen[string].again = step
            for string in distinctive_strings(text):
                if string not in self.seen:
                    self.seen[string] = SeenString(number if isinstance(message, ToolResult) else None)
                    self.known.add(string)

    def written_by(self, step: Step) -> Iterable[tuple[str, SeenString]]:
        """The known strings that the tool arguments of `step` contain, each once."""
        found: dict[str, None] = {}
        for call in step.answer.message.tool_calls:
            found.update(self.known.found_in(arguments_text(call)))
        return ((string, self.seen[string]) for string in found)


def needs_of(steps: Sequence[Step]) -> dict[int, tuple[Need, ...]]:
    """Return step number → what it needs, in the order of the results."""
    record = StringRecord()
    needs: dict[int, tuple[Need, ...]] = {}
    for step in steps:
        for number, came in enumerate(step.came, step.first):
            # What came in front of step N was there once step N - 1 had been answered.
            record.take(came.message, step=step.number - 1, number=number)
        used: dict[int, list[str]] = {}
        for string, seen in record.written_by(step):
            if seen.origin is not None and (seen.again is None or step.number - seen.again > RECENT):
                used.setdefault(seen.origin, []).append(string)
        if used:
            needs[step.number] = tuple(Need(o, step.number, tuple(used[o])) for o in sorted(used))
        record.take(step.answer.message, step=step.number, number=-1)
    return needs


def used_results(steps: Sequence[Step]) -> frozenset[int]:
    """Return the numbers of the results of which any later call used anything, however recently that was shown."""
    record = StringRecord()
    used: set[int] = set()
    for step in steps:
        for number, came in enumerate(step.came, step.first):
            record.take(came.message, step=step.number - 1, number=number)
        used.update(seen.origin for _, seen in record.written_by(step) if seen.origin is not None)
        record.take(step.answer.message, step=step.number, number=-1)
    return frozenset(used)


def texts_of(message: Message) -> Iterable[str]:
    """The texts of a message in which strings are looked for: words, thoughts, and what the arguments of calls say."""
    for part in message.parts:
        if isinstance(part, Text | Thinking):
            yield part.text
        elif isinstance(part, ToolCall):
            yield arguments_text(part)
