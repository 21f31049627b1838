"""The line that stands where a body was hidden, and which names of it that line should carry."""

from collections.abc import Collection

from trimtab.context import markers
from trimtab.context.editing.kit import Kit
from trimtab.context.naming import body_of, name_of
from trimtab.context.strings import arguments_text, distinctive_strings
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import View
from trimtab.types.messages import Image, Text, ToolCall, ToolResult


def stub_for(slot: Slot, kit: Kit, *, summary: str = "", part: int | None = None) -> str:
    """The line that stands for the body of `slot` (or of a part of it) once it is hidden."""
    body = body_of(slot.base, part)
    name = name_of(slot) if part is None else f"{slot.id}#{part}"
    size = kit.count(body)
    result = slot.base if isinstance(slot.base, ToolResult) else None
    picture = any(isinstance(p, Image) for p in (slot.base.parts if part is None else slot.base.parts[part : part + 1]))
    role = "text of the user" if slot.base.__class__.__name__ == "User" else "text of yours"
    return markers.stub(
        name=name,
        key=markers.marker_key(name, size=size, salt=kit.salt),
        tokens=size,
        lines=body.count("\n") + 1 if body else 0,
        tool=(result.tool_name if result else role) + (", with pictures" if picture else ""),
        is_error=bool(result and result.is_error),
        summary=summary,
        way_back=kit.way_back(slot),
    )


def standing_strings(view: View, *, but: Collection[int]) -> set[str]:
    """The distinctive strings of all that the view shows, the slots of those indices left out."""
    strings: set[str] = set()
    for shown in view.shown():
        if shown.place not in but:
            for part in shown.message.parts:
                text = (
                    part.text if isinstance(part, Text) else arguments_text(part) if isinstance(part, ToolCall) else ""
                )
                strings.update(distinctive_strings(text))
    return strings
