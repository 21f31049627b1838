"""How a model knows an item, and what its recorded text is."""

import re
from collections.abc import Collection

from trimtab.context.window.slots import Slot
from trimtab.types.messages import Assistant, Message, Text, ToolCall, ToolResult

_HANDLE = re.compile(r"r([0-9]{1,9})")


def handle_number(handle: str) -> int | None:
    """The number in a handle; None for what no session of ours gives, such as more than nine digits."""
    found = _HANDLE.fullmatch(handle)
    return int(found[1]) if found else None


def name_of(slot: Slot) -> str:
    """The name that a model knows a slot by: its handle, else the id of its call, else that of its entry."""
    if isinstance(slot.base, ToolResult):
        return slot.base.handle or slot.base.call_id
    return slot.id


def body_of(message: Message, part: int | None = None) -> str:
    """The text of a message or of one part of it, as an edit finds it: recorded, without a head."""
    if part is not None:
        piece = message.parts[part] if part < len(message.parts) else None
        return piece.text if isinstance(piece, Text) else piece.raw if isinstance(piece, ToolCall) else ""
    return "\n".join(piece.text for piece in message.parts if isinstance(piece, Text))


def text_of(slot: Slot, *, without: Collection[str] = ()) -> str:
    """All that the message of a slot says, as it was recorded; of an answer, its calls too, but for those of the tools `without`."""
    if not isinstance(slot.base, Assistant):
        return body_of(slot.base)
    calls = [f"{p.name} {p.raw}" for p in slot.base.parts if isinstance(p, ToolCall) and p.name not in without]
    return "\n".join(text for text in (body_of(slot.base), *calls) if text)
