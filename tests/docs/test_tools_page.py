"""The page about the tools names their arguments, their details and their caps as the code has them."""

import re
from pathlib import Path

import pytest

from support.cli import Cli
from support.pages import ROOT
from support.servers import FakeServer, Reply
from trimtab.coding.project import open_project
from trimtab.coding.tools.capture import PrivateFolder
from trimtab.coding.toolset import build_tools
from trimtab.config.settings import Settings

TEXT = (ROOT / "docs" / "tools.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S))
BIG = "\n".join(f"line {n}" for n in range(3_000))
CALLS = {
    "read": [{"path": "a.txt"}],
    "write": [
        {"path": "a.txt", "content": "new"},
        {"path": "big", "content": BIG},
        {"path": "big", "content": BIG.upper()},
    ],
    "edit": [{"path": "a.txt", "edits": [{"old": "a", "new": "b"}]}, {"path": "big", "edits": [{"old": "e", "new": "f"}]}],
    "bash": [{"command": "true"}, {"command": "kill -9 $$"}, {"command": "echo a > new"}, {"command": "true", "background": True}],
    "grep": [{"pattern": "a"}],
    "find": [{"pattern": "*"}],
    "ls": [{}],
    "todo": [{"items": [{"content": "a", "status": "done"}]}],
    "jobs": [{"action": "list"}],
    "task": [{"prompt": "x"}],
}  # fmt: skip


def rows(tool: str, head: str) -> set[str]:
    """The names in the first column of one table of a tool's section."""
    table = re.search(rf"^\| {re.escape(head)} \|.*\n\|[-|]+\n((?:\|.*\n)+)", SECTIONS[tool] + "\n", re.M)
    return set(re.findall(r"^\| `(\w+)` \|", table[1], re.M)) if table else set()


def test_every_tool_has_its_section_with_the_arguments_of_its_schema(tmp_path: Path) -> None:
    on = {"TRIMTAB_TOOLS__FETCH__ENABLED": "true"}
    project = open_project(tmp_path, env={"TRIMTAB_HOME": str(tmp_path / "home"), **on})
    specs = [tool.spec for tool in build_tools(project, PrivateFolder(), images=True)]
    assert [spec.name for spec in specs] == list(SECTIONS)
    for spec in specs:
        assert rows(spec.name, "argument") == set(spec.parameters["properties"]), spec.name


@pytest.mark.parametrize("tool", CALLS)
def test_details_hold_what_the_page_says(tool: str, tmp_path: Path) -> None:
    cli = Cli.at(tmp_path)
    cli.file("a.txt", "a\n")
    if tool == "edit":
        cli.file("big", "e" + "x" * 40_000)
    found = {key for arguments in CALLS[tool] for key in cli.call(tool, **arguments)["details"]}
    assert found == rows(tool, "in `details`")


def test_details_of_a_page_hold_what_the_page_says(tmp_path: Path) -> None:
    cli = Cli.at(tmp_path, TRIMTAB_TOOLS__FETCH__ENABLED="true")
    with FakeServer(Reply([b"x"], headers={"content-type": "text/plain"})) as server:
        assert set(cli.call("fetch", "full", url=server.url)["details"]) == rows("fetch", "in `details`")


def test_a_refused_call_has_the_details_that_the_page_says(tmp_path: Path) -> None:
    ended = Cli.at(tmp_path).call("bash", "auto-edit", command="make all")
    assert ended["details"] == {"permission": "denied", "rules": ["bash(make all)"]}
    assert all(part in TEXT for part in ('`{"permission": "denied"}`', '`"rules"`'))


def test_caps_stand_there_as_the_settings_have_them() -> None:
    named = re.findall(r"`(tools\.[a-z._]+)` \(([\d,]+)\)", TEXT)
    assert len(named) >= 8
    for path, number in named:
        value: object = Settings()
        for part in path.split("."):
            value = getattr(value, part)
        assert value == int(number.replace(",", "")), path
