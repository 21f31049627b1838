"""Re-fetches: whether a later call asks once more for what a result held.

    item ──▶ the same resource read again, and not written since · the same call made again · recall of it by name · an edit that brings it back

That a text turns up in two results is no re-fetch: two logs may hold the same line. The regret ledger and `blame` both go by this module.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from trimtab.context.seeing.resources import Resource, resource_of
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import View
from trimtab.types.edits import Restore
from trimtab.types.messages import Assistant, ToolCall, ToolResult

Cause: TypeAlias = Literal["read", "repeat", "recall", "reload"]
CONTEXT_TOOLS = frozenset({"recall", "archive", "memo", "memory", "plan", "edit_context", "context_status"})
"""A repeated call of these asks for nothing that a result held."""


@dataclass(frozen=True, slots=True)
class Refetch:
    """One re-fetch: by which call, or by which edit, at which step. `place` is the slot of the call's answer; none of an edit."""

    cause: Cause
    step: int
    name: str
    tool: str = ""
    place: int | None = None


def covers(view: View, index: int, wanted: Resource) -> bool:
    """Whether the result in that slot shows what `wanted` asks for."""
    call = call_behind(view, index)
    if call is None:
        return False
    shown = resource_of(call)
    return shown.key == wanted.key or (
        shown.reads and wanted.reads and shown.path is not None and shown.path == wanted.path and shown.whole
    )


def call_behind(view: View, index: int) -> ToolCall | None:
    """The call that the result in that slot answers; None of what is no result, or a failed one."""
    slot = view.slots[index] if index < len(view.slots) else None
    if slot is None or slot.group is None or not isinstance(slot.base, ToolResult) or slot.base.is_error:
        return None
    answer = view.slots[slot.group].base
    calls = answer.tool_calls if isinstance(answer, Assistant) else ()
    return next((call for call in calls if call.id == slot.base.call_id), None)


def recalled(view: View, call: ToolCall) -> int | None:
    """The slot of the one item that a call of `recall` names; a search names none."""
    named = (call.arguments or {}).get("id") if call.name == "recall" else None
    address = view.find(named.strip().strip("[]").strip()) if isinstance(named, str) else None
    return None if address is None or address.edit is not None else address.index


def is_named(slot: Slot, target: str) -> bool:
    """Whether the target of an edit names this very slot, and not only one that goes with it."""
    name = target.partition("#")[0]
    base = slot.base
    return name == slot.id or (isinstance(base, ToolResult) and name in (base.call_id, base.handle))


def refetches(view: View, index: int) -> Iterator[Refetch]:
    """Yield what asked again for the item in that slot, in the order of the conversation: calls, then edits."""
    slot, mine = view.slots[index], call_behind(view, index)
    path = None if mine is None else resource_of(mine).path
    written = False
    for place in range(view.group(index).stop, len(view.slots)):
        answer = view.slots[place].base
        for call in answer.tool_calls if isinstance(answer, Assistant) else ():
            wanted = resource_of(call)
            cause: Cause | None = None
            if call.name in CONTEXT_TOOLS:
                cause = "recall" if recalled(view, call) == index else None
            elif wanted.writes and wanted.path:
                written = written or path is None or path == wanted.path
            elif not written and covers(view, index, wanted):
                cause = "read" if wanted.reads else "repeat"
            if cause is not None:
                yield Refetch(cause, view.slots[place].step, call.id, call.name, _answer_to(view, place, call))
    for applied in view.applied:
        if isinstance(applied.edit, Restore) and any(is_named(slot, target) for target in applied.edit.targets):
            yield Refetch("reload", applied.step, applied.id)


def _answer_to(view: View, place: int, call: ToolCall) -> int | None:
    """The slot of the result that answers a call of the answer in slot `place`."""
    for index in view.group(place):
        base = view.slots[index].base
        if isinstance(base, ToolResult) and base.call_id == call.id:
            return index
    return None
