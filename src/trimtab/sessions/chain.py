"""What a recording says as plain messages.

events ──▶ messages         everything that was said, in order: the uncompacted chain
   └─────▶ conversation     the same as a model reads it: every call answered once, right behind its message
"""

from collections.abc import Iterator

from trimtab.context.window.pairs import pair
from trimtab.sessions.recorded import Answered, Came, Compacted, Recording
from trimtab.types.messages import Message


def messages(recording: Recording) -> tuple[Message, ...]:
    """Return every message of the uncompacted chain."""
    return tuple(event.message for event in recording.events if not isinstance(event, Compacted))


def conversation(recording: Recording) -> tuple[Message, ...]:
    """Return the uncompacted chain as a valid conversation."""
    return pair(messages(recording))[0]


def answers(recording: Recording) -> Iterator[tuple[Answered, tuple[Came, ...]]]:
    """Yield each answer with what came in since the one before."""
    came: list[Came] = []
    for event in recording.events:
        match event:
            case Came():
                came.append(event)
            case Answered():
                yield event, tuple(came)
                came = []
            case Compacted():
                pass
