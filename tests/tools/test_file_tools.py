"""What the file tools have in common: terse definitions, and an event loop that never waits for a disk."""

from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from trimtab.agent.ports import Tool, ToolOutput, ToolRun
from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.edit import edit_tool
from trimtab.coding.tools.ls import ls_tool
from trimtab.coding.tools.paths import Workspace
from trimtab.coding.tools.read import read_tool
from trimtab.coding.tools.todo import todo_tool
from trimtab.coding.tools.write import write_tool


def tools(workspace: Workspace) -> tuple[Tool, ...]:
    caps = Caps()
    return (
        read_tool(workspace, caps=caps, images=True),
        write_tool(workspace, caps=caps),
        edit_tool(workspace, caps=caps),
        ls_tool(workspace, caps=caps),
        todo_tool(),
    )


def test_a_definition_costs_a_request_little(workspace: Workspace) -> None:
    for tool in tools(workspace):
        assert len(msgspec.json.encode(tool.spec)) <= 450
        assert len(tool.snippet) <= 60
        assert sum(map(len, tool.guidelines)) <= 100


def test_every_schema_is_a_closed_description_of_an_object(workspace: Workspace) -> None:
    for tool in tools(workspace):
        schema = tool.spec.parameters
        assert schema["type"] == "object"
        assert set(schema.get("required", ())) <= set(schema["properties"])


@pytest.mark.anyio
async def test_row_19_the_event_loop_lives_while_files_are_worked_on(workspace: Workspace, cwd: Path) -> None:
    line = "value = compute(value)\n"
    (cwd / "f").write_text(line * 200_000 + "last\n")
    longest = 0.0
    output: list[ToolOutput] = []

    async def work(scope: anyio.CancelScope) -> None:
        tool = edit_tool(workspace, caps=Caps())
        arguments: dict[str, Any] = {"path": "f", "edits": [{"old": "valuation = compute(values)", "new": "x"}]}
        output.append(await tool.run(arguments, ToolRun("c", _silent)))
        scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(work, group.cancel_scope)
        while True:
            before = anyio.current_time()
            await anyio.sleep(0.01)
            longest = max(longest, anyio.current_time() - before)
    assert output[0].is_error
    assert longest < 0.5


async def _silent(_text: str) -> None:
    """Nobody watches."""
