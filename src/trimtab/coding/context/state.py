"""What a summary can't be trusted with: plan, to-do list, pins and files read, put behind each compaction from state.

    view ──▶ State: the newest plan, the newest list, pinned texts, files read and whether they were written since ──reattach──▶ text

Nothing is kept beside the view, so it follows forks, reverts and reopened sessions.
"""

from trimtab.coding.tools.todo import current_todos, show_todos
from trimtab.context.naming import body_of, name_of
from trimtab.context.seeing.resources import resource_of
from trimtab.context.summary.fit import Count
from trimtab.context.summary.reattach import ReadFile, State, reattach
from trimtab.context.tools.plan import LABEL
from trimtab.context.window.view import View
from trimtab.types.edits import Restate
from trimtab.types.messages import Assistant

_MOST_FILES = 30
SHARE = 8
"""The part of a window, one in so many tokens, that what is reattached may have."""


def state_of(view: View) -> State:
    """Return what the session knows apart from what its messages show."""
    slots = tuple(view.slots.range(0, len(view.slots)))
    plan = next(
        (
            a.edit.text
            for a in reversed(view.applied)
            if isinstance(a.edit, Restate) and a.edit.label == LABEL and a.id not in view.reverted
        ),
        "",
    )
    return State(
        pins=tuple((name_of(slot), body_of(slot.base)) for slot in slots if slot.pinned),
        plan=plan,
        todo=show_todos(current_todos(slot.base for slot in slots)),
        files=_files_read(view),
    )


def reattached(view: View, *, room: int, count: Count) -> str:
    """The parts of that state that no message shows, in at most `room` tokens; empty when there are none."""
    visible = [body_of(message) for message in view.messages()]
    return reattach(state_of(view), visible=visible, room=room, count=count).text


def _files_read(view: View) -> tuple[ReadFile, ...]:
    """The files that were read, the newest last; `changed`: a call wrote it after it was read."""
    found: dict[str, ReadFile] = {}
    for slot in view.slots.range(0, len(view.slots)):
        for call in slot.base.tool_calls if isinstance(slot.base, Assistant) else ():
            resource = resource_of(call)
            if resource.path is None:
                continue
            if resource.reads:
                found.pop(resource.path, None)
                found[resource.path] = ReadFile(resource.path)
            elif resource.writes and resource.path in found:
                found[resource.path] = ReadFile(resource.path, changed=True)
    return tuple(found.values())[-_MOST_FILES:]
