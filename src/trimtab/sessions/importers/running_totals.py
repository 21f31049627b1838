"""Usage that was recorded as running totals, told from usage of each call, and made into it.

    recorded   per call  21k 23k 24k …   a request is the one before and what came since:  the difference is what came
               totals    21k 44k 68k …   each adds a whole request:                        the difference of differences is what came

What came since is known from the messages, so both readings predict every number, and the one whose predictions are right is true. That alone could be luck in
a short or odd session, so a reading as totals also asks for what totals can't be without: no count ever falls, unless
the counter begins anew. When in doubt, numbers stay as they are.
"""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from msgspec import structs

from trimtab.sessions.recorded import Answered, Came, Compacted, Event
from trimtab.types.messages import Message, Text, Thinking, ToolCall
from trimtab.types.usage import Usage

NOTE = "usage was recorded as running totals; each call has what it added"
"""What is said of a recording whose usage was totals."""
_LEAST_CALLS = 4
"""Fewer numbers fit either reading."""
_CLEARLY = 4
"""How many times smaller the error of one reading must be than that of the other."""
_FIELDS = Usage.__struct_fields__
_BYTES_PER_TOKEN = 4


def per_call(events: Sequence[Event]) -> list[Event]:
    """Return the events with the usage of each call where they hold running totals, else as they are (the same objects)."""
    if not _are_totals(events):
        return list(events)
    made: list[Event] = []
    before = Usage()
    for event in events:
        usage = event.message.usage if isinstance(event, Answered) else None
        if isinstance(event, Answered) and usage is not None:
            event = _with_usage(event, usage if _begins_anew(before, usage) else _less(usage, before))
            before = usage
        made.append(event)
    return made


def _are_totals(events: Sequence[Event]) -> bool:
    known = _reported(events)
    if len(known) < _LEAST_CALLS:
        return False
    as_calls: list[int] = []
    as_totals: list[int] = []
    grew = added_before = 0
    for (before, _), (usage, came) in pairwise(((Usage(), 0), *known)):
        if _begins_anew(before, usage):
            added_before = usage.prompt
            continue
        if any(getattr(usage, name) < getattr(before, name) for name in _FIELDS):
            return False
        added = usage.prompt - before.prompt
        as_calls.append(abs(added - came))
        as_totals.append(abs(added - added_before - came))
        grew += usage.output > before.output
        added_before = added
    # The middle error of each: a context that was shortened, or a counter that began anew, is one odd number among many.
    return 2 * grew > len(known) and median(as_totals) * _CLEARLY < median(as_calls)


def _reported(events: Sequence[Event]) -> list[tuple[Usage, int]]:
    """The usage of each call that has one, and about how many tokens came since the call before."""
    known: list[tuple[Usage, int]] = []
    came = 0
    for event in events:
        match event:
            case Answered():
                usage = event.message.usage
                if usage is not None and usage.prompt and (not known or usage != known[-1][0]):
                    known.append((usage, came // _BYTES_PER_TOKEN))
                    came = 0
                came += _size(event.message)
            case Came():
                came += _size(event.message)
            case Compacted():
                pass
    return known


def _begins_anew(before: Usage, usage: Usage) -> bool:
    """Whether a counter of totals begins here, or begins anew: it is smaller than it was."""
    return not before.prompt or usage.prompt < before.prompt


def _less(usage: Usage, before: Usage) -> Usage | None:
    left = Usage(**{name: max(0, getattr(usage, name) - getattr(before, name)) for name in _FIELDS})
    return left if left.prompt else None


def _with_usage(event: Answered, usage: Usage | None) -> Answered:
    return Answered(
        structs.replace(event.message, usage=usage),
        event.time,
        id=event.id,
        hidden_thinking=event.hidden_thinking,
        output_unreliable=event.output_unreliable,
    )


def _size(message: Message) -> int:
    """Bytes of what a model reads of a message, about."""
    size = 0
    for part in message.parts:
        if isinstance(part, Text | Thinking):
            size += len(part.text.encode("utf-8", "replace"))
        elif isinstance(part, ToolCall):
            size += len(part.name) + len(part.raw.encode("utf-8", "replace"))
    return size
