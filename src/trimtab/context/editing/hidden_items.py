"""Hidden items as a source of a summary: in words instead of markers, and beside that what was recorded.

    slot ──in_words──▶ `(result of read r7, hidden)` with its summary and names; the rest of a shortened body without the keys of its gaps
    slots ──recorded──▶ the bodies behind them, for the audit of facts: the user's whole, others as far as they stay within a size

A marker is a form that only an edit may write. In a summary it would be a copy that leads nowhere, and cut in the middle it would be noise. The way back
to each item stands in the frame of the summary.
"""

from collections.abc import Sequence

from msgspec import structs

from trimtab.context.markers import pointers_in_words, rendered_in_words
from trimtab.context.naming import body_of, name_of
from trimtab.context.summary.fit import both_ends
from trimtab.context.window.slots import Slot
from trimtab.types.messages import Message, Part, Text, ToolCall, ToolResult, User
from trimtab.types.stream import parse_arguments

MOST_OF_ONE = 20_000
"""Characters of one hidden body that are searched for facts, from both ends."""
MOST_OF_ALL = 200_000
"""Characters of all hidden bodies of a run together, the newest first: a search of them takes some tenths of a second."""


def in_words(slot: Slot, message: Message) -> Message:
    """Return `message`, which `slot` shows, with words in place of the markers that edits put there. A summary in front of the slot is returned as it is."""
    if slot.lead is not None and message is slot.shown[0]:
        return message
    look = slot.layers.effect
    rendered = {*look.texts.values(), *(() if look.text is None else (look.text,))}
    raws = set(look.raws.values())
    if not rendered and not raws:
        return message

    def told(part: Part) -> Part:
        if isinstance(part, Text):
            head, body = _split_head(slot, part.text)
            return Text(head + rendered_in_words(body, what=_what(slot))) if body in rendered else part
        if isinstance(part, ToolCall) and part.raw in raws:
            raw = pointers_in_words(part.raw)
            return structs.replace(part, raw=raw, arguments=parse_arguments(raw))
        return part

    return structs.replace(message, parts=tuple(told(part) for part in message.parts))


def recorded(shown: Sequence[tuple[Slot, Message]]) -> tuple[Message, ...]:
    """Return the messages, which their slots show, with the recorded body where an edit hid or shortened it and a search of it costs little enough."""
    found = [message for _, message in shown]
    left = MOST_OF_ALL
    for at in range(len(shown) - 1, -1, -1):
        slot, message = shown[at]
        if in_words(slot, message) is message:
            continue
        base = slot.base
        if isinstance(base, User):
            found[at] = base
            continue
        if isinstance(base, ToolResult):
            base = structs.replace(base, parts=(Text(both_ends(body_of(base), MOST_OF_ONE)),))
        size = len(body_of(base)) + sum(len(part.raw) for part in base.parts if isinstance(part, ToolCall))
        if size <= left:
            left -= size
            found[at] = base
    return tuple(found)


def _split_head(slot: Slot, text: str) -> tuple[str, str]:
    """The handle at the head of a result, and what stands below."""
    handle = slot.base.handle if isinstance(slot.base, ToolResult) else None
    head = f"[{handle}]\n"
    return (head, text[len(head) :]) if handle and text.startswith(head) else ("", text)


def _what(slot: Slot) -> str:
    if isinstance(slot.base, ToolResult):
        return f"result of {slot.base.tool_name} {name_of(slot)}"
    return f"text of {'the user' if isinstance(slot.base, User) else 'the assistant'} {name_of(slot)}"
