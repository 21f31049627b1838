"""What the codecs share about messages of ours: whose `wire` it is, and what is given back as it came."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from trimtab.types.messages import Assistant, Image, Message, Opaque, Part, Text, ToolCall

Known: TypeAlias = Callable[[Sequence[Message], int], tuple[int, dict[str, Any]] | None]
"""Says how many messages from an index on are together one dict that was given, and that dict; None when they aren't."""

FORMAT = "trimtab:format"
"""Key in the `wire` of a user message or result: the format whose fields it holds."""


def nothing_known(_messages: Sequence[Message], _index: int) -> None:
    """Write every message anew."""


def walk(messages: Sequence[Message], known: Known) -> Iterator[tuple[Message, dict[str, Any] | None]]:
    """Yield each message with None, or the first of several with the dict that all of them came in."""
    n = 0
    while n < len(messages):
        count, given = known(messages, n) or (1, None)
        yield messages[n], given
        n += count


def marked(name: str, extra: Mapping[str, Any] | None, parts: Sequence[Part] = ()) -> dict[str, Any] | None:
    """Return the `wire` of a user message or result: `extra`, and the format when it or a part has fields of it."""
    special = any(isinstance(p, Opaque) or (isinstance(p, Text | Image) and p.wire is not None) for p in parts)
    return {FORMAT: name, **(extra or {})} if extra or special else None


def fields_of(message: Message, name: str, provider: str) -> dict[str, Any] | None:
    """Return the message's own fields in the format `name`, None when they are another's and its parts' `wire` with them."""
    wire = message.wire or {}
    if isinstance(message, Assistant):
        return wire if message.provider == provider else None
    return {k: v for k, v in wire.items() if k != FORMAT} if wire.get(FORMAT, name) == name else None


def wire_of(part: Text | Image | ToolCall, *, mine: bool) -> dict[str, Any]:
    """Return a part's fields for its own format, {} for another."""
    return part.wire or {} if mine else {}
