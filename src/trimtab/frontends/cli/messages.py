"""Messages as a person reads them."""

from typing import assert_never

from trimtab.coding.telling.printable import one_line, set_in
from trimtab.types.messages import Assistant, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult, User


def message_text(message: Message, *, name: str = "") -> str:
    """Return one message under a head line that says who speaks; `name` is how it can be named. All that is said is indented, so no text looks like a head."""
    match message:
        case User():
            who = "you" if message.origin == "prompt" else f"you ({message.origin.replace('_', '-')})"
        case Assistant():
            who = f"{message.provider}/{message.model}" + (
                "" if message.stop_reason in ("stop", "tool_use") else f" [{message.stop_reason}]"
            )
        case ToolResult():
            who = f"{message.tool_name}" + (" [failed]" if message.is_error else "")
        case _:
            assert_never(message)
    body = "\n".join(filter(None, map(_part, message.parts)))
    head = one_line(f"{who} · {name}" if name else who)
    return f"── {head}\n{set_in(body)}"


def _part(part: Part) -> str:
    match part:
        case Text():
            return part.text
        case Thinking():
            return f"(thinking) {part.text}" if part.text else ""
        case ToolCall():
            return f"→ {part.name} {part.raw}"
        case Image():
            return f"[image {part.media_type}]"
        case Opaque():
            return f"[{part.provider} item]"
        case _:
            assert_never(part)
