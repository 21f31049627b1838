"""`ls`: a row for each entry, bounded."""

import os
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from trimtab.agent.ports import Access, ToolOutput, ToolRun
from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.ls import ls_tool
from trimtab.coding.tools.paths import Workspace
from trimtab.types.tools import Cut

Call = Callable[..., ToolOutput]


def said(output: ToolOutput) -> str:
    return "".join(getattr(p, "text", "") for p in output.parts)


def test_every_kind_of_entry_has_its_row_in_order(ls: Call, cwd: Path) -> None:
    (cwd / "src").mkdir()
    (cwd / ".hidden").write_bytes(b"x")
    (cwd / "B.bin").write_bytes(bytes(1536))
    (cwd / "a").touch()
    (cwd / "to_dir").symlink_to("src")
    (cwd / "to_file").symlink_to("a")
    (cwd / "to_nothing").symlink_to("nowhere")
    (cwd / "to_self").symlink_to("to_self")
    (cwd / os.fsdecode(b"caf\xe9\n")).touch()
    os.mkfifo(cwd / "zpipe")
    assert said(ls()).split("\n") == [
        ".hidden  1 B",
        "a  0 B",
        "B.bin  1.5 KB",
        "caf\\xe9\\n  0 B",
        "src/",
        "to_dir -> src/",
        "to_file -> a",
        "to_nothing -> nowhere  (broken)",
        "to_self -> to_self  (broken)",
        "zpipe  (named pipe)",
    ]


def test_an_empty_folder_says_so(ls: Call, cwd: Path) -> None:
    (cwd / "d").mkdir()
    assert said(ls(path="d")) == "d is empty"


def test_a_file_is_listed_alone(ls: Call, cwd: Path) -> None:
    (cwd / "f").write_text("abc")
    assert said(ls(path="f")) == "f  3 B"


def test_a_broken_link_is_listed_alone(ls: Call, cwd: Path) -> None:
    (cwd / "link").symlink_to("nowhere")
    assert said(ls(path="link")) == "link -> nowhere  (broken)"


def test_a_file_used_as_a_folder_is_described(ls: Call, cwd: Path) -> None:
    (cwd / "f").touch()
    output = ls(path="f/x")
    assert output.is_error
    assert said(output) == "f/x: a part of the path is a file, not a folder"


def test_a_missing_folder_names_what_is_near(ls: Call, cwd: Path) -> None:
    (cwd / "tests").mkdir()
    output = ls(path="test")
    assert output.is_error
    assert said(output) == "test: no such file or folder; near it: tests"


def test_rows_over_the_cap_are_counted(workspace: Workspace) -> None:
    for n in range(12):
        (workspace.cwd / f"f{n:02}").touch()
    tool = ls_tool(workspace, caps=Caps(list_rows=3))
    output = anyio.run(tool.run, {}, ToolRun("c", _silent))
    more = "use find or grep to narrow it down"
    assert said(output) == f"f00  0 B\nf01  0 B\nf02  0 B\n[3 of 12 entries; {more}]"
    assert output.cut == Cut("rows", ((1, 3),), 12, ".", more)


@pytest.mark.parametrize("path", ["", "."])
def test_no_path_is_the_working_folder(ls: Call, cwd: Path, path: str) -> None:
    (cwd / "f").touch()
    assert said(ls(path=path)) == "f  0 B"


def test_a_listing_waits_for_every_earlier_change(workspace: Workspace) -> None:
    assert ls_tool(workspace, caps=Caps()).access({}) == Access(reads="*")


async def _silent(_text: str) -> None:
    """Nobody watches."""
