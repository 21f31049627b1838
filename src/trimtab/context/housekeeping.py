"""Housekeeping: what is tidied before it was ever sent, so that it never costs anything.

    memo(write, content=…) answered well      the content is a pointer in every request
    archive(…, summary=…) answered well       the summary stands in the stub; the arguments only name it
    results of the context tools              one line each; they go with the batch they belong to

Only bytes that no request has carried are touched here: an edit of those is free. An answer whose thinking is signed may not change while its
tool loop goes on; the validator refuses such an edit, and then the arguments stay and are tidied by a later batch.
"""

import json
from collections.abc import Sequence

from trimtab.context.actions import Action
from trimtab.context.view import View
from trimtab.types.messages import Assistant, ToolCall, ToolResult

_WRITERS = {"memo": "content", "archive": "summary", "memory": "content"}
"""Context tools that keep an argument elsewhere, and which."""
_LEAST_CHARS = 300
"""Shorter texts are not worth a pointer."""


def housekeeping(view: View, *, sent: int) -> Sequence[Action]:
    """Return the actions for the messages that nobody has been sent yet; `sent` is how many were."""
    targets: list[str] = []
    shown = view.shown()
    start = shown[sent].place if sent < len(shown) else len(view.slots)
    for place, slot in enumerate(view.slots.range(start, len(view.slots)), start):
        if not slot.shown or not isinstance(slot.base, Assistant) or any(o.act == "arguments" for o in slot.overlays):
            continue
        for part, call in enumerate(slot.base.parts):
            if isinstance(call, ToolCall) and _keeps_elsewhere(call) and _succeeded(view, place, call):
                targets.append(f"{slot.id}#{part}")
    if not targets:
        return ()
    return (Action("offload", tuple(targets), reason="its text is kept elsewhere"),)


def _keeps_elsewhere(call: ToolCall) -> bool:
    name = _WRITERS.get(call.name)
    text = call.arguments.get(name) if name and call.arguments else None
    if name and call.arguments is None and call.raw:
        try:
            data = json.loads(call.raw)
        except ValueError:
            data = None
        text = data.get(name) if isinstance(data, dict) else None
    return isinstance(text, str) and len(text) >= _LEAST_CHARS


def _succeeded(view: View, place: int, call: ToolCall) -> bool:
    for index in view.group(place):
        base = view.slots[index].base
        if isinstance(base, ToolResult) and base.call_id == call.id:
            return view.slots[index].answered and not base.is_error
    return False
