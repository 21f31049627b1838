"""A folder to work in, and a way to call one tool."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from trimtab.agent.ports import Tool, ToolOutput, ToolRun
from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.edit import edit_tool
from trimtab.coding.tools.ls import ls_tool
from trimtab.coding.tools.paths import Workspace
from trimtab.coding.tools.read import read_tool
from trimtab.coding.tools.todo import todo_tool
from trimtab.coding.tools.write import write_tool

Call = Callable[..., ToolOutput]


async def no_update(_text: str) -> None:
    """Nobody watches."""


def call_of(tool: Tool) -> Call:
    def call(**arguments: Any) -> ToolOutput:
        async def run() -> ToolOutput:
            return await tool.run(arguments, ToolRun("c1", no_update))

        return anyio.run(run)

    return call


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    cwd, home = tmp_path / "work", tmp_path / "home"
    cwd.mkdir()
    home.mkdir()
    return Workspace(cwd, home)


@pytest.fixture
def cwd(workspace: Workspace) -> Path:
    return workspace.cwd


@pytest.fixture
def read(workspace: Workspace) -> Call:
    return call_of(read_tool(workspace, caps=Caps(), images=True))


@pytest.fixture
def write(workspace: Workspace) -> Call:
    return call_of(write_tool(workspace, caps=Caps()))


@pytest.fixture
def edit(workspace: Workspace) -> Call:
    return call_of(edit_tool(workspace, caps=Caps()))


@pytest.fixture
def ls(workspace: Workspace) -> Call:
    return call_of(ls_tool(workspace, caps=Caps()))


@pytest.fixture
def todo() -> Call:
    return call_of(todo_tool())
