"""What a summary can't be trusted with: rules, plan, to-do list, pins and files read, put behind each compaction from state.

    view ──▶ State: rules files, the newest plan, the newest list, pinned texts, files read and whether they were written since ──reattach──▶ text

Nothing is kept beside the view, so it follows forks, reverts and reopened sessions. Rules files are those of the project's own folder that the model
has read whole, as it read them: what stands in the system prompt is never compacted, and a file of that name in some other folder gives no rules.
"""

from collections.abc import Collection
from pathlib import Path

from trimtab.coding.tools.todo import current_todos, show_todos
from trimtab.context.naming import body_of, name_of
from trimtab.context.seeing.resources import resource_of
from trimtab.context.summary.fit import Count
from trimtab.context.summary.reattach import ReadFile, RulesFile, State, reattach
from trimtab.context.tools.plan import LABEL
from trimtab.context.window.view import View
from trimtab.types.edits import Restate
from trimtab.types.messages import Assistant, ToolResult

RULES_FILES = frozenset({"AGENTS.md", "CLAUDE.md", "GEMINI.md"})
"""Files that tell an agent how to work in a project."""
_MOST_FILES = 30
SHARE = 8
"""The part of a window, one in so many tokens, that what is reattached may have."""


def state_of(view: View, folder: Path) -> State:
    """Return what a session in `folder` knows apart from what its messages show."""
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
        rules=_rules_read(view, folder),
        pins=tuple((name_of(slot), body_of(slot.base)) for slot in slots if slot.pinned),
        plan=plan,
        todo=show_todos(current_todos(slot.base for slot in slots)),
        files=_files_read(view),
    )


def reattached(view: View, folder: Path, *, gone: Collection[int] = (), room: int, count: Count) -> str:
    """The parts of that state that no message shows once the slots of the indices `gone` are, in at most `room` tokens; empty when there are none."""
    left = frozenset(gone)
    visible = [body_of(shown.message) for shown in view.shown() if shown.place not in left]
    return reattach(state_of(view, folder), visible=visible, room=room, count=count).text


def _rules_read(view: View, folder: Path) -> tuple[RulesFile, ...]:
    """The rules files that were read whole and not written since, each as it was read last."""
    found: dict[str, RulesFile] = {}
    calls: dict[str, str] = {}
    for slot in view.slots.range(0, len(view.slots)):
        if isinstance(slot.base, ToolResult):
            name = calls.pop(slot.base.call_id, "")
            if name and slot.answered and not slot.base.is_error and slot.base.cut is None:
                found[name] = RulesFile(name, body_of(slot.base))
        for call in slot.base.tool_calls if isinstance(slot.base, Assistant) else ():
            resource = resource_of(call)
            path = Path(folder, resource.path or "")
            if path.name not in RULES_FILES or path.parent != folder:
                continue
            if resource.whole:
                calls[call.id] = path.name
            elif resource.writes:
                found.pop(path.name, None)
    return tuple(found.values())


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
