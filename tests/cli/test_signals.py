"""Signals at every moment of a talk and of a run: the way out is orderly, and nothing goes on that was started."""

import io
import os
import signal
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from support.cli import Cli, finish
from support.servers import wait_until
from support.terminal import PATIENCE_S, Terminal
from support.typed_talk import typing_loop
from trimtab.coding.choose import Ephemeral
from trimtab.coding.opening import open_session
from trimtab.coding.project import open_project
from trimtab.frontends.cli import chat_loop
from trimtab.frontends.cli.text import TextPrinter

SHELL = "echo $$ > job; exec sleep 75"
FRONT = "echo $$ > front; exec sleep 76"


def background(command: str) -> dict[str, object]:
    return {"tool_calls": [{"name": "bash", "arguments": {"command": command, "background": True}}]}


def pid_in(path: Path) -> int:
    assert wait_until(lambda: path.exists() and bool(path.read_text().strip()), seconds=PATIENCE_S)
    return int(path.read_text())


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("moment", ["idle", "in a turn", "in a command of the person's own", "at a question"])
def test_closing_the_terminal_ends_the_talk_and_all_that_it_started(cli: Cli, moment: str) -> None:
    front = {"tool_calls": [{"name": "bash", "arguments": {"command": FRONT}}]}
    model = cli.script(background(SHELL), {"text": "it runs"}, front, {"text": "never"})
    with Terminal(cli, "chat", "--model", model, "--permission", "full") as t:
        t.wait_for("> $")
        t.type("go\n")
        t.wait_for("it runs\\n(.*\\n)*> $")
        started = [pid_in(cli.project / "job")]
        match moment:
            case "in a turn":
                t.type("again\n")
                started.append(pid_in(cli.project / "front"))
            case "in a command of the person's own":
                t.type(f"!{FRONT}\n")
                started.append(pid_in(cli.project / "front"))
            case "at a question":
                t.type("/permissions ask\n")
                t.wait_for("mode ask")
                t.type("again\n")
                t.wait_for("answer with a word")
            case _:
                pass
        assert t.hang_up() == 129
    assert [pid for pid in started if alive(pid)] == []
    assert list(cli.home.glob("jobs/*/*")) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_the_exit_code_of_a_talk_says_which_signal_ended_it(cli: Cli, number: signal.Signals, code: int) -> None:
    with Terminal(cli, "chat", "--model", cli.script({"text": "x"})) as t:
        t.wait_for("> $")
        t.interrupt(number)
        assert t.end().code == code


def test_a_run_that_nohup_started_is_not_ended_by_its_terminal(cli: Cli) -> None:
    model = cli.script(
        {"tool_calls": [{"name": "bash", "arguments": {"command": "echo $$ > front; cat go"}}]}, {"text": "done"}
    )
    os.mkfifo(cli.project / "go")
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = cli.start("-p", "go", "--model", model, "--permission", "full")
    finally:
        signal.signal(signal.SIGHUP, before)
    pid_in(cli.project / "front")
    process.send_signal(signal.SIGHUP)
    (cli.project / "go").write_text("on\n")
    outcome = finish(process)
    assert (outcome.code, outcome.out) == (0, "done\n")


@pytest.mark.anyio
async def test_ctrl_c_gives_up_a_switch_that_takes_long_and_the_session_goes_on(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening = anyio.Event()

    async def slow(*_: object, **__: object) -> None:
        opening.set()
        await anyio.sleep_forever()

    monkeypatch.setattr(chat_loop, "prepare", slow)
    overrides = {"model": cli.script({"text": "x"})}
    project = open_project(cli.project, overrides=overrides, env={"TRIMTAB_HOME": str(cli.home)})
    err = io.StringIO()
    async with open_session(project, Ephemeral()) as session, anyio.create_task_group() as group:
        printer = TextPrinter(out=io.StringIO(), err=err, live=True, progress=True)
        loop = typing_loop(session, printer, group.start_soon)
        group.start_soon(loop.switch, project, Ephemeral())
        await opening.wait()
        assert loop.interrupt()
        while not err.getvalue():
            await anyio.lowlevel.checkpoint()
        assert (err.getvalue(), loop.following) == ("stopped; this session goes on\n", None)
        assert [loop.interrupt(), loop.interrupt()] == [True, False]
