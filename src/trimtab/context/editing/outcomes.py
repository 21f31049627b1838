"""What came of an action, as a dict for the program that asked: done or not, what is wrong, and what to do next.

{"action", "targets", "done", "edits": [{"id", "kind", "targets", "before_tokens", "after_tokens"}], "problems", "notes", "next", "used_tokens"}

`problems` are why it isn't done, or not all of it; `notes` what a person should know though it is done: a summary was rejected and what stands in its place.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from trimtab.context.actions import ACTIONS
from trimtab.context.editing.applying import Done
from trimtab.types.edits import edit_kind

_NEXT: tuple[tuple[str, str], ...] = (
    ("did you mean", "write the name as the problem says"),
    ("'action' is missing", f"use one of: {', '.join(ACTIONS)}"),
    ("no action", f"use one of: {', '.join(ACTIONS)}"),
    ("no item", "take a target from observe()['active_context'] or observe()['archive']"),
    ("no room for", "read it with recall, page by page, or archive something first"),
    ("is pinned", "unpin it first, or choose another target"),
    ("asked for last", "wait for the next request of the user, or choose another target"),
    ("still waits", "give the answer of its call first"),
    ("needs targets", "name what it is about in 'target' or 'targets'"),
    ("needs params", "give what the problem names in 'params'"),
    ("can be made of it", "choose a larger target, or allow more in params.max_tokens"),
    ("nothing to gain", "leave it as it is, or choose a larger target"),
    ("tokens together", "unpin or shorten something, then try again"),
    (" alone ha", "unpin or shorten something, then try again"),
    ("may be sent", "archive or drop something first, then try again"),
    ("the summarizer", "put the summarizer right and summarize again; until then a text without a model stands there"),
    ("is an object", "give {'action', 'targets', 'params', 'reason'}"),
    ("bad action", "give {'action', 'targets', 'params', 'reason'}"),
)


def outcome(
    action: str,
    targets: Sequence[str],
    *,
    done: Iterable[Done] = (),
    problems: Sequence[str] = (),
    notes: Sequence[str] = (),
    used: int,
    fine: bool | None = None,
) -> dict[str, Any]:
    """Return what came of an action. `fine`: it counts as done though it made no edit."""
    edits = [
        {
            "id": made.entry_id,
            "kind": edit_kind(made.entry.edit),
            "targets": list(made.entry.edit.targets),
            "before_tokens": made.entry.before_tokens,
            "after_tokens": made.entry.after_tokens,
        }
        for made in done
    ]
    return {
        "action": action,
        "targets": list(targets),
        "done": bool(edits) if fine is None else fine,
        "edits": edits,
        "problems": list(problems),
        "notes": list(notes),
        "next": next_step(problems),
        "used_tokens": used,
    }


def next_step(problems: Sequence[str]) -> str:
    """What to do about the first of `problems`; nothing when there is none."""
    if not problems:
        return ""
    return next((step for words, step in _NEXT if words in problems[0]), "choose another action or another target")
