"""Files and folders that the user may not touch: described, and never changed."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from trimtab.agent.ports import Tool, ToolOutput, ToolRun
from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.edit import edit_tool
from trimtab.coding.tools.ls import ls_tool
from trimtab.coding.tools.paths import Workspace
from trimtab.coding.tools.read import read_tool
from trimtab.coding.tools.write import write_tool

NOBODY = 65_534


@pytest.fixture
def closed() -> Iterator[Workspace]:
    """A folder of a plain user, whom the test is while it runs: root, who may do everything, steps down."""
    folder = Path(tempfile.mkdtemp(prefix="trimtab-"))
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        yield Workspace(folder, folder)
    finally:
        os.seteuid(os.getuid())
        for path in folder.iterdir():
            path.chmod(0o755)
        shutil.rmtree(folder)


def call(tool: Tool, **arguments: object) -> tuple[bool, str]:
    async def run() -> ToolOutput:
        return await tool.run(arguments, ToolRun("c", _silent))

    output = anyio.run(run)
    return output.is_error, "".join(getattr(p, "text", "") for p in output.parts)


async def _silent(_text: str) -> None:
    """Nobody watches."""


def test_a_file_that_may_not_be_read_is_described(closed: Workspace) -> None:
    (closed.cwd / "f").write_text("x")
    (closed.cwd / "f").chmod(0)
    assert call(read_tool(closed, caps=Caps(), images=True), path="f") == (True, "f: permission denied")


def test_a_folder_that_may_not_be_entered_is_described(closed: Workspace) -> None:
    (closed.cwd / "d").mkdir()
    (closed.cwd / "d").chmod(0)
    assert call(ls_tool(closed, caps=Caps()), path="d") == (True, "d: permission denied")
    assert call(read_tool(closed, caps=Caps(), images=True), path="d/f") == (True, "d/f: permission denied")
    assert call(write_tool(closed, caps=Caps()), path="d/f", content="") == (True, "d/f: permission denied")


def test_a_write_protected_file_is_not_replaced(closed: Workspace) -> None:
    (closed.cwd / "f").write_text("x")
    (closed.cwd / "f").chmod(0o444)
    for tool, arguments in (
        (write_tool(closed, caps=Caps()), {"content": "y"}),
        (edit_tool(closed, caps=Caps()), {"edits": [{"old": "x", "new": "y"}]}),
    ):
        failed, words = call(tool, path="f", **arguments)
        assert failed
        assert words.startswith("f: the file is write-protected")
    assert (closed.cwd / "f").read_text() == "x"


def test_a_file_in_a_closed_folder_is_written_in_place(closed: Workspace) -> None:
    (closed.cwd / "d").mkdir()
    (closed.cwd / "d/f").write_text("x")
    (closed.cwd / "d").chmod(0o555)
    assert call(write_tool(closed, caps=Caps()), path="d/f", content="y") == (False, "replaced d/f: 1 lines, 1 bytes")
    assert call(write_tool(closed, caps=Caps()), path="d/new", content="") == (True, "d/new: permission denied")
    assert (closed.cwd / "d/f").read_text() == "y"
