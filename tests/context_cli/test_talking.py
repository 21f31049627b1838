"""/context, /compact and /revert in a talk."""

import io
import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from support.cli import Cli, Json
from support.typed_talk import typing_loop
from trimtab.agent.run import AgentBusy
from trimtab.coding.choose import Choice, New
from trimtab.coding.commands.registry import run_command
from trimtab.coding.opening import open_session
from trimtab.coding.project import Project, open_project
from trimtab.coding.session import Session
from trimtab.frontends.cli.text import TextPrinter
from trimtab.types.errors import TrimtabError, UsageError

pytestmark = pytest.mark.anyio

READS: list[Json] = [
    {"text": f"I read f{n}.", "tool_calls": [{"name": "read", "arguments": {"path": f"f{n}.txt"}}]} for n in range(4)
]
WORDS = " ".join(f"/srv/data/part_{n % 4}_{n}.csv was read and holds data of the port 4711" for n in range(12))
SUMMARY: Json = {"text": f"<analysis>thoughts</analysis><summary>{WORDS}</summary>"}


class Talk:
    """A talk without a terminal."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.said: list[str] = []
        self.jobs: list[Callable[[], Awaitable[object]]] = []

    def tell(self, text: str) -> None:
        self.said.append(text)

    def answer(self, call_id: str, text: str) -> None:
        raise AssertionError

    def work(self, turn: Callable[[], Awaitable[object]], *, is_turn: bool = True) -> None:
        assert not is_turn
        self.jobs.append(turn)

    async def switch(self, project: Project, choice: Choice) -> None:
        raise AssertionError

    def reload(self, project: Project) -> None:
        raise AssertionError

    def leave(self) -> None:
        raise AssertionError

    async def take(self, name: str, rest: str = "") -> str:
        """Run a command to its end; return what it said."""
        self.said.clear()
        await run_command(self, name, rest)
        while self.jobs:
            await self.jobs.pop(0)()
        return "\n".join(self.said)


def project_with(cli: Cli, *lines: Json) -> Any:
    for n in range(4):
        cli.file(f"f{n}.txt", "\n".join(f"row {n}-{k}: /srv/data/part_{n}_{k}.csv" for k in range(60)))
    overrides = {"model": cli.script(*lines), "providers": {"scripted": {"context_window": 40_000}}}
    return open_project(cli.project, overrides=overrides, env={"TRIMTAB_HOME": str(cli.home)})


async def test_context_tells_the_meter_and_the_biggest_items(cli: Cli) -> None:
    async with open_session(project_with(cli, *READS, {"text": "done"}), New()) as session:
        await session.prompt("read them")
        lines = (await Talk(session).take("context")).splitlines()
        assert lines[0].endswith("; 10 items")
        assert lines[1].startswith("policy rules: acts from ")
        assert [line.split()[1] for line in lines[4:8]] == ["r1", "r2", "r3", "r4"]
        assert lines[12:] == ["  and 2 more; trimtab context show lists all"]


async def test_compact_asks_the_model_with_the_wishes_and_revert_takes_it_back(cli: Cli) -> None:
    wish = {**SUMMARY, "expect": {"contains": ["keep the port 4711"]}}
    async with open_session(project_with(cli, *READS, {"text": "done"}, wish), New()) as session:
        await session.prompt("read them")
        before = session.log.view()
        talk = Talk(session)
        said = await talk.take("compact", "keep the port 4711")
        assert said.startswith("compacted 6 items: ")
        assert f"written by {session.model.ref}" in said
        entry = json.loads(session.log.archive.path()[-1].raw)
        assert said.endswith(f"/revert {entry['id']} takes it back")
        assert (entry.get("author", "user"), entry["edit"]["mode"], entry["reason"]) == (
            "user",
            "serialised",
            "asked for by the user",
        )
        assert WORDS in entry["edit"]["summary"]
        told = await anyio.to_thread.run_sync(cli.inside, "context", "explain", str(session.log.path), entry["id"])
        assert "asked for by the user; wishes: keep the port 4711" in told.out
        assert len(session.log.view()) < len(before)
        assert await talk.take("revert", "last") == f"took back {entry['id']}"
        assert session.log.view() == before


async def test_what_was_asked_of_a_compaction_is_never_done(cli: Cli) -> None:
    """The words behind /compact are a wish about the summary: no turn begins with them, and a call in the answer is not made."""
    async with open_session(project_with(cli, *READS, {"text": "done"}, SUMMARY), New()) as session:
        await session.prompt("read them")
        await Talk(session).take("compact", "then delete tmp")
        prompts = [m for m in session.log.view() if getattr(m, "origin", "") == "prompt"]
        assert len(prompts) == 1


async def test_a_summary_that_is_not_accepted_gives_way_to_a_digest_and_says_so(cli: Cli) -> None:
    async with open_session(project_with(cli, *READS, {"text": "done"}, {"text": ""}), New()) as session:
        await session.prompt("read them")
        said = await Talk(session).take("compact")
        assert "a digest without a model (" in said
        file = str(session.log.path)
    outcome = await anyio.to_thread.run_sync(cli.inside, "context", "log", file)
    lines = outcome.out.splitlines()
    row = next(n for n, line in enumerate(lines) if line.endswith("user  summary rejected"))
    assert lines[row + 1].startswith(
        "    asked with a transcript: the answer holds no summary; asked behind the conversation: "
    )


async def test_nothing_old_enough_is_an_error_that_changes_nothing(cli: Cli) -> None:
    async with open_session(project_with(cli, {"text": "hello"}), New()) as session:
        await session.prompt("hi")
        before = session.log.view()
        with pytest.raises(TrimtabError, match="nothing"):
            await Talk(session).take("compact")
        assert session.log.view() == before


async def test_revert_without_an_edit_says_that_there_is_none(cli: Cli) -> None:
    async with open_session(project_with(cli, {"text": "hello"}), New()) as session:
        with pytest.raises(UsageError, match="no edit of the context holds"):
            await Talk(session).take("revert")
        with pytest.raises(UsageError, match="no edit of the context holds"):
            await Talk(session).take("revert", "last")
        with pytest.raises(TrimtabError, match="there is no edit 'nosuch'"):
            await Talk(session).take("revert", "nosuch")


async def test_other_work_shows_the_mark_again_and_takes_no_prompt_meanwhile(cli: Cli) -> None:
    err = io.StringIO()
    async with open_session(project_with(cli, {"text": "x"}), New()) as session, anyio.create_task_group() as group:
        printer = TextPrinter(out=io.StringIO(), err=err, live=True, progress=True, mark="> ")
        loop = typing_loop(session, printer, group.start_soon)
        going = anyio.Event()
        loop.work(going.wait, is_turn=False)
        with pytest.raises(AgentBusy, match="something runs already"):
            loop.work(going.wait, is_turn=False)
        assert err.getvalue() == ""
        going.set()
        while loop.working:
            await anyio.lowlevel.checkpoint()
        assert err.getvalue() == "> "
        loop.work(anyio.sleep_forever, is_turn=False)
        assert loop.interrupt()
        while loop.working:
            await anyio.lowlevel.checkpoint()
        assert err.getvalue().endswith("stopped\n> ")


def test_a_single_run_lends_its_task_group_for_what_is_prepared_beside_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    lent: list[dict[str, bool]] = []
    monkeypatch.setattr(Session, "work_beside", lambda _session, _start, **how: lent.append(how))
    outcome = cli.inside("-p", "hi", "--model", cli.script({"text": "hello"}))
    assert (outcome.code, outcome.out.strip(), lent) == (0, "hello", [{}])
