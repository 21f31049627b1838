"""The `todo` tool: the plan of a longer task, replaced as a whole by each call.

The list lives in the results: `details["todos"]` of the last good one is the present list, so it follows forks and reopened sessions
without a file of its own. `current_todos` reads it back.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

import msgspec

from trimtab.agent.ports import SimpleTool, ToolOutput, ToolRun
from trimtab.coding.tools.failures import ToolFailure, answering
from trimtab.types.messages import Message, ToolResult
from trimtab.types.text import scrub
from trimtab.types.tools import ToolSpec

Status = Literal["pending", "in_progress", "done"]
_MARKS: dict[str, str] = {"pending": "[ ]", "in_progress": "[>]", "done": "[x]"}
_ITEMS = 100

SPEC = ToolSpec(
    "todo",
    "Replace the todo list. For tasks of several steps: keep it current, one item in_progress.",
    {
        "type": "object",
        "properties": {
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"content": {"type": "string"}, "status": {"enum": list(get_args(Status))}},
                    "required": ["content", "status"],
                },
            }
        },
        "required": ["items"],
    },
)


class TodoItem(msgspec.Struct, frozen=True):
    """One step of the plan."""

    content: str
    status: Status = "pending"


def todo_tool() -> SimpleTool:
    """Return the tool. It touches nothing."""
    return SimpleTool(SPEC, answering(_handle), snippet="keep a list of steps")


def current_todos(messages: Iterable[Message]) -> tuple[TodoItem, ...]:
    """Return the list that the last successful `todo` result among `messages` (oldest first) left; empty if none."""
    found: tuple[TodoItem, ...] = ()
    for message in messages:
        if isinstance(message, ToolResult) and message.tool_name == SPEC.name and not message.is_error:
            try:
                found = msgspec.convert((message.details or {}).get("todos"), tuple[TodoItem, ...])
            except msgspec.ValidationError:
                continue
    return found


def show_todos(items: Iterable[TodoItem]) -> str:
    """The list, a line each."""
    return "\n".join(f"{_MARKS[item.status]} {item.content}" for item in items)


async def _handle(arguments: Mapping[str, Any], _run: ToolRun) -> ToolOutput:
    items = _items(arguments.get("items"))
    if not items:
        return ToolOutput.text("todo list is empty", details={"todos": []})
    rows = show_todos(items)
    done = sum(item.status == "done" for item in items)
    return ToolOutput.text(f"{done} of {len(items)} done\n{rows}", details={"todos": msgspec.to_builtins(list(items))})


def _items(value: object) -> tuple[TodoItem, ...]:
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except msgspec.DecodeError:
            raise ToolFailure("items must be a list of {content, status}") from None
    try:
        items = msgspec.convert(value, tuple[TodoItem, ...])
    except msgspec.ValidationError as error:
        raise ToolFailure(f"items must be a list of {{content, status: {' | '.join(_MARKS)}}}: {error}") from None
    if len(items) > _ITEMS:
        raise ToolFailure(f"{len(items)} items; the list takes up to {_ITEMS}: join some")
    kept = (TodoItem(" ".join(scrub(item.content).split()), item.status) for item in items)
    return tuple(item for item in kept if item.content)
