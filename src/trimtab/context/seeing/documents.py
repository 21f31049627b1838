"""Documents: what a result shows is often a file or a page at an address, and that may read otherwise since.

    result ──its call──▶ document: PATH, PATH#SPAN, URL        a later write to the path, or a later result of the same document with another text ──▶ stale

A summary of a document is found again by its text; what stands in place of an older text of it says so.
"""

import json
from collections.abc import Iterator

from trimtab.context.naming import body_of
from trimtab.context.seeing.resources import resource_of
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import View
from trimtab.types.messages import Assistant, ToolCall, ToolResult

_ADDRESSES = ("url", "uri")


def document_of(view: View, slot: Slot) -> str | None:
    """The document that a result shows, as one name; None where it shows no such thing, or couldn't."""
    if not isinstance(slot.base, ToolResult) or slot.base.is_error or not slot.answered:
        return None
    call = _call_of(view, slot)
    return None if call is None else _named(call)


def stale_documents(view: View) -> frozenset[int]:
    """The indices of the slots whose document reads otherwise now, as far as this conversation tells."""
    shown: dict[str, list[int]] = {}
    paths: dict[str, list[int]] = {}
    stale: set[int] = set()
    for index, slot in enumerate(view.slots):
        if isinstance(slot.base, Assistant):
            for call in slot.base.tool_calls:
                resource = resource_of(call)
                if resource.writes and resource.path is not None:
                    stale.update(paths.get(resource.path, ()))
            continue
        name = document_of(view, slot)
        if name is None:
            continue
        body = body_of(slot.base)
        stale.update(i for i in shown.get(name, ()) if body_of(view.slots[i].base) != body)
        shown.setdefault(name, []).append(index)
        paths.setdefault(name.partition("#")[0], []).append(index)
    return frozenset(stale)


def _call_of(view: View, slot: Slot) -> ToolCall | None:
    base, group = slot.base, slot.group
    if group is None or not isinstance(base, ToolResult):
        return None
    caller = view.slots[group].base
    calls: Iterator[ToolCall] = iter(caller.tool_calls if isinstance(caller, Assistant) else ())
    return next((call for call in calls if call.id == base.call_id), None)


def _named(call: ToolCall) -> str | None:
    resource = resource_of(call)
    if resource.reads and resource.path is not None:
        return resource.path if resource.whole else f"{resource.path}#{resource.key.partition('#')[2]}"
    arguments = call.arguments or {}
    address = next((a for key in _ADDRESSES if isinstance(a := arguments.get(key), str)), "")
    if not address.startswith(("http://", "https://")):
        return None
    rest = {key: value for key, value in arguments.items() if value != address}
    return address if not rest else f"{address}#{json.dumps(rest, sort_keys=True, ensure_ascii=False, default=str)}"
