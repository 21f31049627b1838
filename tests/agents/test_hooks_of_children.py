"""Extensions and hooks act in a subagent's session as in its parent's, and see that session."""

import json
from pathlib import Path

import pytest

from agents.conftest import agent, call, project_of, task
from support.cli import Cli, Json
from support.sessions import reopened
from trimtab.coding.choose import New
from trimtab.coding.opening import open_session
from trimtab.coding.under import lent
from trimtab.types.messages import ToolResult

pytestmark = pytest.mark.anyio

WATCH = """
import json
from trimtab.extend import Note
API = 1
def kept(*row):
    with open(FILE, "a") as out:
        out.write(json.dumps(row) + "\\n")
def start(told, here): kept("start", told.agent)
def request(told, here):
    kept("request", told.agent, told.session_id == here.session_id, len(here.messages) > 0)
    return Note(f"noted for {told.agent or 'parent'}")
def event(event, here): kept("event", event.__struct_config__.tag, here.session_id)
def end(told, here): kept("end", told.agent)
def look(arguments, here): return f"seen from {here.session_id}"
def extend(api):
    api.on_session_start(start)
    api.before_request(request)
    api.on_event(event, match="tool_started | turn_ended | notice")
    api.on_session_end(end)
    api.tool("look", "looks", look)
    api.section("rules", "the rule is 42")
"""


async def test_hooks_sections_and_tools_act_in_a_child_and_see_its_session(cli: Cli) -> None:
    kept = cli.root / "kept.jsonl"
    (cli.home / "extensions").mkdir(parents=True)
    (cli.home / "extensions" / "watch.py").write_text(f"FILE = {str(kept)!r}\n{WATCH}")
    steps: list[Json] = [
        {
            **call("watch__look"),
            "expect": {"contains": ["the rule is 42", "noted for w"], "absent": ["noted for parent"]},
        },
        {"text": "x", "expect": {"contains": ["seen from"]}},
    ]
    agent(cli, "w", *steps)
    async with open_session(project_of(cli, task("a", agent="w"), {"text": "done"}), New()) as session:
        turn = await session.prompt("go")
        (worker,) = session.crew.workers
    assert (turn.reason, worker.ending) == ("stop", "stop")
    view = reopened(Path(worker.session_file or "")).view()
    (seen,) = [message for message in view if isinstance(message, ToolResult)]
    assert f"seen from {worker.session_id}" in str(seen.parts)
    rows = [json.loads(line) for line in kept.read_text().splitlines()]
    mine, childs = session.log.header.id, worker.session_id
    assert [row for row in rows if row[0] in ("start", "end")] == [["start", ""], ["end", ""]]
    assert [row for row in rows if row[0] == "request"] == [
        ["request", agent_, True, True] for agent_ in ("", "w", "w", "")
    ]
    assert sorted(row[1:] for row in rows if row[0] == "event") == sorted(
        [["tool_started", mine], ["tool_started", childs], ["turn_ended", mine]]
    )


async def test_a_command_that_listens_is_told_of_a_childs_calls_and_whose_they_are(cli: Cli) -> None:
    agent(cli, "w", call("ls"), {"text": "x"})
    hooks = {"event": [{"command": "cat >> heard.jsonl", "match": "tool_started | turn_ended"}]}
    async with open_session(project_of(cli, task("a", agent="w"), {"text": "done"}, hooks=hooks), New()) as session:
        await session.prompt("go")
        (worker,) = session.crew.workers
    heard = [json.loads(line) for line in (cli.project / "heard.jsonl").read_text().splitlines()]
    assert {(one["type"], one.get("name"), one["session_id"], one.get("agent")) for one in heard} == {
        ("tool_started", "task", session.log.header.id, None),
        ("tool_started", "ls", worker.session_id, "w"),
        ("turn_ended", None, session.log.header.id, None),
    }


async def test_a_hook_before_a_compaction_has_its_say_in_a_child(cli: Cli) -> None:
    agent(cli, "w", {"text": "x"})
    hooks = {"before_compaction": [{"command": "true"}]}
    async with open_session(project_of(cli, {"text": "x"}, hooks=hooks), New()) as session:
        under = lent(session, session.crew.get("w"))
        async with open_session(session.project, New(), under=under) as child:
            assert child.context.transcript.around.hears_compactions
