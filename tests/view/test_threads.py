"""A view in several hands: whatever runs between any two of its lines, it shows what it shows."""

from collections.abc import Callable

import pytest

from support.interleaving import doing
from trimtab.context.window import view as module
from trimtab.context.window.view import View
from trimtab.types.edits import Elide
from trimtab.types.messages import user


def conversation() -> View:
    """Five messages that were shown, an edit over one of them that was not, and one more message."""
    view = View()
    for number in range(5):
        view = view.with_message(f"e{number}", user(f"text {number}"))
    view.messages()
    return view.with_edit("x", Elide(targets=("e1",), texts={"e1": "stub"})).with_message("e5", user("text 5"))


def texts(view: View) -> list[str]:
    return [message.parts[0].text for message in view.messages()]


def shown(view: View) -> View:
    view.messages()
    return view


STEPS: dict[str, tuple[Callable[[View], View], list[str]]] = {
    "look": (shown, ["text 0", "stub", "text 2", "text 3", "text 4", "text 5"]),
    "message": (
        lambda view: view.with_message("e6", user("more")),
        ["text 0", "stub", "text 2", "text 3", "text 4", "text 5", "more"],
    ),
    "edit": (
        lambda view: view.with_edit("y", Elide(targets=("e5",), texts={"e5": "another"})),
        ["text 0", "stub", "text 2", "text 3", "text 4", "another"],
    ),
    "revert": (
        lambda view: view.with_revert("z", "x"),
        ["text 0", "text 1", "text 2", "text 3", "text 4", "text 5"],
    ),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_look_between_any_two_lines_of_a_step_changes_nothing(step: str) -> None:
    take, want = STEPS[step]
    line, came = 0, True
    while came:
        view = conversation()
        locked = view.lineage.guard.locked
        made, came = doing(lambda view=view: take(view), view.messages, code=module, locked=locked, line=line)
        assert texts(made) == want
        assert texts(view) == STEPS["look"][1]
        line += 1
    assert line > 3
