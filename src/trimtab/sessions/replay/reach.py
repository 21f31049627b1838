"""Reach: whether a step had what it needed in front of it.

visible   all the strings stand in the request
stub      they don't, but something in the request says how the result is fetched: its stub, its head, or the summary that covers it
lost      they don't, and nothing does
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from trimtab.context.window.slots import Slot
from trimtab.context.window.view import View
from trimtab.sessions.replay.needs import texts_of
from trimtab.types.edits import Compact

Reach: TypeAlias = Literal["visible", "stub", "lost"]
_WAYS = ("recall id=", "read path=")


def reach_of(view: View, system: str, entry_id: str, strings: Sequence[str]) -> Reach:
    """Say how the request that shows `view` stands to the strings of the result `entry_id`."""
    address = view.find(entry_id)
    slot = None if address is None else view.slots[address.index]
    if slot is not None and slot.state == "full" and slot.answered:
        return "visible"
    if stand_in(view, system, strings):
        return "visible"
    return "stub" if slot is not None and leads_to(view, slot) else "lost"


def stand_in(view: View, system: str, strings: Sequence[str]) -> bool:
    """Whether all of `strings` stand somewhere in the request."""
    left = [string for string in strings if string not in system]
    for message in reversed(view.messages()):
        if not left:
            break
        for text in texts_of(message):
            left = [string for string in left if string not in text]
    return not left


def leads_to(view: View, slot: Slot) -> bool:
    """Whether something in the request says how the body of `slot` is read."""
    if slot.state != "gone":
        return any(way in text for message in slot.shown for text in texts_of(message) for way in _WAYS)
    hidden_by = next((o.edit for o in reversed(slot.overlays) if o.act == "hide" and o.edit not in view.reverted), None)
    applied = None if hidden_by is None else view.edit(hidden_by)
    return applied is not None and isinstance(applied.edit, Compact) and any(w in applied.edit.summary for w in _WAYS)
