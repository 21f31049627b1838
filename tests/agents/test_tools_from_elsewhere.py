"""Which tools of servers and extensions a subagent has: those that its file names, in whatever way, and never more than its parent."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agents.conftest import agent, project_of, task
from support.cli import Cli
from trimtab.agent.events import Notice
from trimtab.agent.ports import SimpleTool, Tool, ToolOutput, ToolRun
from trimtab.coding.choose import New
from trimtab.coding.mcp.narrowed import narrowed
from trimtab.coding.mcp.tool import CallTool, FindTool, ResourceTool
from trimtab.coding.opening import open_session
from trimtab.coding.under import lent
from trimtab.types.tools import ToolSpec

pytestmark = pytest.mark.anyio


async def _run(_arguments: Mapping[str, Any], _run: ToolRun) -> ToolOutput:
    return ToolOutput.text("ran")


def tool(name: str) -> Tool:
    return SimpleTool(ToolSpec(name, name, {"type": "object", "properties": {}}), _run)


def deferred(*names: str) -> list[Any]:
    """Tools that are looked up, as far as they are looked at here."""
    return [SimpleNamespace(name=name, server=SimpleNamespace(name=name.split("__")[1])) for name in names]


ELSEWHERE = [
    tool("mcp__demo__echo"),
    tool("mcp__demo2__echo"),
    tool("notes__look"),
    FindTool(deferred("mcp__big__a", "mcp__big__b")),
    CallTool(deferred("mcp__big__a", "mcp__big__b")),
]


@pytest.mark.parametrize(
    ("front", "has", "carried"),
    [
        ("", ["mcp__demo2__echo", "mcp__demo__echo", "notes__look"], ["mcp__big__a", "mcp__big__b"]),
        ("tools: Read, mcp__demo__*", ["mcp__demo__echo"], []),
        ("tools: Read, mcp__demo", ["mcp__demo__echo"], []),
        ("tools: mcp__big__a", [], ["mcp__big__a"]),
        ("tools: mcp__*\ndisallowedTools: mcp__big__a, mcp__demo2", ["mcp__demo__echo"], ["mcp__big__b"]),
        ("disallowedTools: Write", ["mcp__demo2__echo", "mcp__demo__echo", "notes__look"], ["mcp__big__a", "mcp__big__b"]),
        ("tools: Read", [], []),
    ],
)  # fmt: skip
async def test_a_child_has_what_its_file_names_by_name_glob_or_server_and_carriers_hold_no_more(
    cli: Cli, front: str, has: list[str], carried: list[str]
) -> None:
    agent(cli, "w", front=front + "\n" if front else "")
    async with open_session(project_of(cli, {"text": "x"}), New(), extra_tools=tuple(ELSEWHERE)) as session:
        under = lent(session, session.crew.get("w"))
    names = {one.spec.name for one in under.tools if under.allows(one.spec.name)}
    assert sorted(names - {"mcp_find", "mcp_call"}) == has
    assert ({"mcp_find", "mcp_call"} <= names) is bool(carried)
    for one in under.tools:
        if isinstance(one, FindTool | CallTool):
            assert [each.name for each in one.deferred] == carried
    assert under.allows("write") is (not front)


async def test_a_glob_of_a_child_reaches_nothing_that_its_parent_lacks(cli: Cli) -> None:
    agent(cli, "inner", front="tools: mcp__*, write\n")
    agent(cli, "outer", {"text": "x"}, front="tools: mcp__demo, task\n")
    project = project_of(cli, {"text": "x"}, agents={"depth": 2})
    async with open_session(project, New(), extra_tools=tuple(ELSEWHERE)) as session:
        outer = lent(session, session.crew.get("outer"))
        async with open_session(project, New(), extra_tools=outer.tools, under=outer) as child:
            inner = lent(child, child.crew.get("inner"))
    assert [one.spec.name for one in inner.tools] == ["mcp__demo__echo"]
    assert not inner.allows("write")
    assert not inner.allows("mcp__demo2__echo")


def test_resources_are_read_of_servers_that_are_allowed() -> None:
    servers: Any = [SimpleNamespace(name="demo"), SimpleNamespace(name="big")]
    (left,) = narrowed([ResourceTool(servers, None)], lambda name: name.startswith("mcp__demo__"))  # type: ignore[arg-type]
    assert isinstance(left, ResourceTool)
    assert [server.name for server in left.servers] == ["demo"]
    assert narrowed([ResourceTool(servers, None)], lambda _name: False) == ()  # type: ignore[arg-type]


async def test_what_a_file_names_in_vain_is_said_once_when_the_agent_is_used(cli: Cli) -> None:
    agent(cli, "w", {"text": "x"}, front="tools: read, mcp__gone__*, WebSearch\n")
    project = project_of(cli, task("a", agent="w"), task("b", agent="w"), {"text": "done"})
    async with open_session(project, New(), extra_tools=tuple(ELSEWHERE)) as session:
        watcher = session.feed.subscribe()
        await session.announce()
        await session.prompt("go")
        notices = [event.message for event in watcher.pending() if isinstance(event, Notice)]
    file = Path(cli.home) / "agents" / "w.md"
    assert [text for text in notices if "no tool" in text] == [
        f"{file}: there is no tool 'WebSearch' here",
        "agent w: no tool here fits 'mcp__gone__*'",
    ]
