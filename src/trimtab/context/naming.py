"""How a model knows an item, and what its recorded text is."""

from trimtab.context.slots import Slot
from trimtab.types.messages import Message, Text, ToolCall, ToolResult


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
