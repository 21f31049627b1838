"""`todo`: one call replaces the list; the transcript holds it."""

from collections.abc import Callable

import pytest

from trimtab.agent.ports import ToolOutput
from trimtab.coding.tools.todo import TodoItem, current_todos
from trimtab.types.messages import Text, ToolResult, user

Call = Callable[..., ToolOutput]


def result(details: dict[str, object] | None, *, is_error: bool = False, name: str = "todo") -> ToolResult:
    return ToolResult("c", name, (Text(""),), is_error, details=details)


def test_the_list_is_shown_and_kept_in_the_details(todo: Call) -> None:
    items = [
        {"content": "read", "status": "done"},
        {"content": "fix\n it", "status": "in_progress"},
        {"content": "test", "status": "pending"},
        {"content": " ", "status": "pending"},
    ]
    assert todo(items=items) == ToolOutput.text(
        "1 of 3 done\n[x] read\n[>] fix it\n[ ] test",
        details={
            "todos": [
                {"content": "read", "status": "done"},
                {"content": "fix it", "status": "in_progress"},
                {"content": "test", "status": "pending"},
            ]
        },
    )


def test_an_empty_list_clears(todo: Call) -> None:
    assert todo(items=[]) == ToolOutput.text("todo list is empty", details={"todos": []})


def test_a_list_sent_as_text_is_taken(todo: Call) -> None:
    assert todo(items='[{"content": "a"}]').details == {"todos": [{"content": "a", "status": "pending"}]}


@pytest.mark.parametrize(
    "items", [None, "[", 3, [{"content": 1}], [{"status": "done"}], [{"content": "a", "status": "x"}]]
)
def test_any_other_list_is_refused_in_words(todo: Call, items: object) -> None:
    output = todo(items=items)
    assert output.is_error
    assert output.details is None


def test_a_very_long_list_is_refused(todo: Call) -> None:
    assert todo(items=[{"content": "a"}] * 101).is_error


def test_a_lone_surrogate_in_an_item_becomes_a_mark(todo: Call) -> None:
    assert todo(items=[{"content": "a\udc83"}]).details == {"todos": [{"content": "a\ufffd", "status": "pending"}]}


def test_the_last_good_result_of_a_transcript_is_the_list() -> None:
    good = result({"todos": [{"content": "a", "status": "done"}]})
    messages = [
        result({"todos": [{"content": "old", "status": "pending"}]}),
        good,
        user("go on"),
        result({"todos": []}, is_error=True),
        result({"todos": []}, name="other"),
        result({"todos": "damaged"}),
        result(None),
    ]
    assert current_todos(messages) == (TodoItem("a", "done"),)
    assert current_todos([]) == ()
