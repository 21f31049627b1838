"""Commands that the person runs: shown, and read by the model or not; and the report on a bug."""

import os
from pathlib import Path

import anyio
import pytest

from commands.conftest import Sitting
from trimtab.agent.run import AgentBusy
from trimtab.coding.check import Check
from trimtab.coding.commands.own import read_own, run_line
from trimtab.coding.doctor import examine
from trimtab.types.errors import UsageError
from trimtab.types.messages import ToolResult, User

pytestmark = pytest.mark.anyio


def read(file: str | Path) -> str:
    return Path(file).read_text()


@pytest.mark.parametrize(
    ("line", "meant"),
    [("!ls -l", ("ls -l", True)), ("!! ls", ("ls", False)), (" !ls", None), ("ls!", None), ("!!!x", ("x", False)), ("", None)],
)  # fmt: skip
def test_a_line_that_begins_with_a_mark_is_a_command(line: str, meant: tuple[str, bool] | None) -> None:
    assert read_own(line) == meant


@pytest.mark.parametrize("line", ["!", "!! ", "!\t"])
def test_a_mark_alone_is_said_to_be_none(line: str) -> None:
    with pytest.raises(UsageError, match="no command stands behind"):
        read_own(line)


async def test_it_runs_as_typed_unasked_and_the_model_reads_what_is_shared(sitting: Sitting, folder: Path) -> None:
    expect = {"contains": ["$ echo first-word; exit 3", "first-word\n[exit 3]"], "absent": ["second-word"]}
    async with sitting({"text": "seen", "expect": expect}, mode="plan") as desk:
        await run_line(desk, "echo first-word; exit 3", shared=True)
        assert desk.said == ["  first-word", "(exit 3; the model reads it with your next words)"]
        await run_line(desk, "echo second-word > ../out.txt; echo second-word", shared=False)
        assert desk.said[2:] == ["  second-word", "(the model doesn't see it)"]
        assert (await desk.session.prompt("and?")).text == "seen"
        first, second, _ = desk.session.messages
        assert isinstance(first, User)
        assert (first.origin, isinstance(second, User)) == ("command", True)
    assert read(folder.parent / "out.txt") == "second-word\n", "no sandbox stands around it"


async def test_an_undo_takes_back_the_turn_and_not_what_the_person_ran(sitting: Sitting, folder: Path) -> None:
    write = {"tool_calls": [{"name": "write", "arguments": {"path": "a.txt", "content": "x"}}]}
    async with sitting(write, {"text": "done"}) as desk:
        await run_line(desk, "echo mine > mine.txt", shared=True)
        await desk.session.prompt("write")
        await desk.session.undo()
        assert os.listdir(folder) == ["mine.txt"]
        assert len(desk.session.messages) == 1


async def test_a_long_output_is_cut_for_the_model_and_lies_whole_beside_the_session(sitting: Sitting) -> None:
    async with sitting() as desk:
        await run_line(desk, "seq 1 60000", shared=True)
        (told,) = (m for m in desk.session.messages if isinstance(m, User))
        assert len("".join(getattr(part, "text", "") for part in told.parts)) < 60_000
        where = desk.said[-1].partition("all of it is in ")[2].partition(";")[0]
        assert read(where).endswith("59999\n60000\n")


async def test_what_it_prints_is_obeyed_by_no_terminal(sitting: Sitting) -> None:
    async with sitting() as desk:
        await run_line(desk, r"printf '\033]0;t\007\033[2Ja\nb\r\n\377'", shared=True)
        shown = "\n".join(desk.said)
        assert "\x1b" not in shown
        assert all(line.startswith(("  ", "(")) for line in shown.split("\n"))


async def test_a_cancel_ends_it_and_the_conversation_is_as_it_was(sitting: Sitting) -> None:
    async with sitting() as desk:
        began = anyio.Event()

        async def update(_: str) -> None:
            began.set()

        async with anyio.create_task_group() as group:

            async def run() -> None:
                await desk.session.run_command("echo on; sleep 60", update=update)

            group.start_soon(run)
            await began.wait()
            group.cancel_scope.cancel()
        assert desk.session.messages == ()


async def test_it_waits_for_no_turn_and_runs_beside_none(sitting: Sitting) -> None:
    async with sitting({"text": "slow", "delay_ms": 60_000}) as desk, desk.session.stream("hi") as events:
        await anext(events)
        with pytest.raises(AgentBusy):
            await run_line(desk, "ls", shared=True)


SECRET = "hunter2-is-long"


async def test_a_report_holds_what_ran_and_no_word_of_the_conversation_and_no_secret(
    sitting: Sitting, folder: Path, tmp_path: Path
) -> None:
    env = {"MY_API_KEY": SECRET, "HOME": str(tmp_path)}
    settings = {
        "providers": {"mine": {"base_url": f"https://me:{SECRET}@models.example/v1/private?key=x", "api_key": SECRET}},
        "append_system_prompt": "token = ghp_0123456789abcdefghij0123",
    }
    bad = {"tool_calls": [{"name": "read", "arguments": {"path": "gone-away.txt"}}]}
    fails = {"error": {"status": 400, "body": f"no such thing, says {SECRET} of {tmp_path}/x ```"}}
    async with sitting(bad, fails, env=env, settings=settings) as desk:
        await desk.session.prompt("my private words")
        assert any(isinstance(m, ToolResult) and m.is_error for m in desk.session.messages)
        said = await desk.run("bug")
        file = Path(said.splitlines()[0].removeprefix("written to "))
        text = read(file)
        with pytest.raises(UsageError, match="is there already"):
            await desk.run("bug", str(file))
    assert file.parent == tmp_path / "home" / "bugs"
    assert os.stat(file).st_mode & 0o777 == 0o600
    for part in ("What I did", "trimtab", "model scripted/none", "result of read", "failed", "models.example"):
        assert part in text
    assert "error invalid 400 no such thing, says [secret] of ~/x" in text
    for gone in (SECRET, "private words", "gone-away", "ghp_", str(tmp_path), "/v1/private", "//me"):
        assert gone not in text
    assert text.count("```") == 8


async def test_the_doctor_is_asked_for_the_report(sitting: Sitting) -> None:
    async with sitting() as desk:
        checks = await examine(desk.session.project)
        assert all(isinstance(check, Check) for check in checks)
        file = Path((await desk.run("bug")).splitlines()[0].removeprefix("written to "))
        assert f"{checks[0].status}: {checks[0].name}: {checks[0].found}" in read(file)
