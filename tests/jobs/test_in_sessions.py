"""Jobs from outside: in a run, in a talk, under rules, after a kill."""

import json
import os
import signal
import sys
import time
from pathlib import Path

import anyio
import pytest

from jobs.conftest import alive
from support.cli import Cli, finish, text_of
from support.desks import Desk
from trimtab.agent.loop import Turn
from trimtab.coding.choose import New, Resume
from trimtab.coding.confine import confiner_of
from trimtab.coding.opening import open_session
from trimtab.coding.project import Project, open_project
from trimtab.types.errors import UsageError
from trimtab.types.messages import Text, User

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="what left its process group is only found by /proc"),
]


def bash(command: str, **more: object) -> dict[str, object]:
    return {"tool_calls": [{"name": "bash", "arguments": {"command": command, "background": True, **more}}]}


def use(**arguments: object) -> dict[str, object]:
    return {"tool_calls": [{"name": "jobs", "arguments": arguments}]}


def project_of(cli: Cli, *lines: dict[str, object], **overrides: object) -> Project:
    wishes = {"model": cli.script(*lines), "permissions": {"mode": "full"}, **overrides}
    return open_project(cli.project, overrides=wishes, env=cli.environment())


def notes(outcome_err: str) -> list[str]:
    return [line for line in outcome_err.splitlines() if "job " in line]


def pid_in(path: Path) -> int:
    return int(path.read_text())


def test_a_run_ends_its_jobs_and_says_so_before_its_result(cli: Cli) -> None:
    model = cli.script(bash("echo $$ > pid; sleep 71"), {"text": "done"})
    outcome = cli.inside("-p", "go", "--mode", "json", "--permission", "full", "--model", model)
    assert outcome.code == 0, outcome.err
    told = [event["message"] for event in outcome.of("notice") if "job" in event["message"]]
    assert [text.rpartition(") ")[2].partition(",")[0] for text in told] == [
        "runs in the background; /jobs shows it",
        "is over: ended with the session",
    ]
    assert outcome.result["reason"] == "stop"
    (started,), (ended,) = outcome.of("job_started"), outcome.of("job_ended")
    assert (started["job_id"], started["command"]) == ("j1", "echo $$ > pid; sleep 71")
    assert (ended["job_id"], ended["ending"], ended["failed"]) == ("j1", "ended with the session", False)
    assert not alive(pid_in(cli.project / "pid"))
    assert list(cli.home.glob("jobs/*/*")) == []


def test_a_kept_job_outlives_the_run_and_the_next_one_says_where_it_is(cli: Cli) -> None:
    model = cli.script(bash("echo $$ > pid; exec sleep 72"), use(action="keep", id="j1"), {"text": "done"})
    assert cli.inside("-p", "go", "--permission", "full", "--model", model).code == 0
    pid = pid_in(cli.project / "pid")
    try:
        assert alive(pid)
        again = cli.inside("-p", "hi", "--model", cli.script({"text": "hello"}))
        (said,) = notes(again.err)
        assert f"was kept (pid {pid}); /jobs kill j1 ends it" in said
        assert alive(pid)
    finally:
        os.killpg(pid, signal.SIGKILL)


def test_after_a_kill_of_trimtab_the_next_run_finds_what_it_left(cli: Cli) -> None:
    model = cli.script(bash("echo $$ > pid; exec sleep 73"), {"text": "late", "delay_ms": 60_000})
    process = cli.start("-p", "go", "--mode", "json", "--permission", "full", "--model", model)
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["type"] == "tool_ended":
            break
    pid = pid_in(cli.project / "pid")
    try:
        process.kill()
        finish(process)
        assert alive(pid)
        again = cli.inside("-p", "hi", "--model", cli.script({"text": "hello"}))
        (said,) = notes(again.err)
        assert f"goes on although its session was cut off (pid {pid}); /jobs kill j1 ends it" in said
        assert alive(pid), "nobody asked for its end"
    finally:
        os.killpg(pid, signal.SIGKILL)


def test_after_a_kill_of_trimtab_the_next_run_finds_the_command_that_was_waited_for(cli: Cli) -> None:
    model = cli.script({"tool_calls": [{"name": "bash", "arguments": {"command": "echo $$ > pid; exec sleep 75"}}]})
    process = cli.start("-p", "go", "--mode", "json", "--permission", "full", "--model", model)
    try:
        for _ in range(600):  # another process tells nobody
            if recorded := list((cli.home / "jobs").rglob("*.json")):
                break
            time.sleep(0.05)
        assert recorded
        process.kill()
        finish(process)
        pid = pid_in(cli.project / "pid")
        again = cli.inside("-p", "hi", "--model", cli.script({"text": "hello"}))
        (said,) = notes(again.err)
        assert f"goes on although its session was cut off (pid {pid}); /jobs kill j1 ends it" in said
        assert alive(pid)
    finally:
        os.killpg(pid_in(cli.project / "pid"), signal.SIGKILL)


def test_sigterm_ends_the_jobs_of_a_run(cli: Cli) -> None:
    model = cli.script(bash("echo $$ > pid; exec sleep 74"), {"text": "late", "delay_ms": 60_000})
    process = cli.start("-p", "go", "--mode", "json", "--permission", "full", "--model", model)
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["type"] == "tool_ended":
            break
    process.terminate()
    assert finish(process).code == 143
    assert not alive(pid_in(cli.project / "pid"))


def test_a_run_that_keeps_no_session_writes_nothing_about_its_jobs(cli: Cli) -> None:
    model = cli.script(
        bash("find ../home -path '*jobs*' > seen; sleep 75"), use(action="wait", id="j1", timeout=1), {"text": "x"}
    )
    assert cli.inside("-p", "go", "--no-session", "--permission", "full", "--model", model).code == 0
    assert (cli.project / "seen").read_text() == ""


def test_a_background_command_is_judged_like_any_other(cli: Cli) -> None:
    ended, looked = cli.calls(
        ("bash", {"command": "make server", "background": True}), ("jobs", {"action": "list"}), permission="plan"
    )
    assert ended["details"]["permission"] == "denied"
    assert text_of(looked) == "no jobs"


def test_a_background_command_is_held_by_the_sandbox(cli: Cli) -> None:
    project = open_project(cli.project, env=cli.environment())
    if confiner_of(project).examine()[1].sandbox is None:
        pytest.skip("there is no sandbox here")
    elsewhere = cli.home / "config.toml"
    cli.config("")
    cli.calls(("bash", {"command": f"echo x > {elsewhere}; echo $? > code", "background": True}))
    assert (cli.project / "code").read_text() != "0\n"
    assert elsewhere.read_text() == ""


def test_without_the_tool_bash_has_no_background(cli: Cli) -> None:
    model = cli.script(bash("true"), {"text": "x"})
    outcome = cli.inside("-p", "go", "--mode", "json", "--tools", "bash", "--permission", "full", "--model", model)
    (ended,) = outcome.of("tool_ended")
    assert not [event for event in outcome.of("notice") if "job" in event["message"]]
    assert ended["details"] is None or "job" not in ended["details"]


async def test_a_cancelled_turn_leaves_its_jobs_alone_and_the_next_request_tells_of_an_end_once(cli: Cli) -> None:
    os.mkfifo(cli.project / "go")
    project = project_of(cli, bash("read x < go"), {"text": "one"}, {"text": "two"})
    async with open_session(project, New()) as session:
        turns: list[Turn] = []

        async def talk() -> None:
            turns.append(await session.prompt("go"))

        async with anyio.create_task_group() as group:
            watcher = session.feed.subscribe()
            group.start_soon(talk)
            async for event in watcher:
                if event.__class__.__name__ == "ToolEnded":
                    session.cancel()
                    break
        assert turns[0].reason == "cancelled"
        job = session.jobs.get("j1")
        assert job.running
        await anyio.to_thread.run_sync((cli.project / "go").write_text, "x\n")
        with anyio.fail_after(10):
            await job.ended.wait()
        await session.prompt("and?")
        await session.prompt("more?")
        told = [m for m in session.log.view() if isinstance(m, User) and m.origin == "note"]
        assert len(told) == 1
        (part,) = told[0].parts
        assert isinstance(part, Text)
        assert part.text.startswith("[notice: job j1 (read x < go) is over: exit 0, after ")


async def test_the_end_of_a_job_begins_no_turn(cli: Cli) -> None:
    project = project_of(cli, bash("true"), use(action="wait", id="j1"), {"text": "done"})
    async with open_session(project, New()) as session:
        turn = await session.prompt("go")
        assert (turn.reason, turn.steps, turn.text) == ("stop", 3, "done")


async def test_who_opens_the_session_again_reads_that_its_jobs_ended(cli: Cli) -> None:
    project = project_of(cli, bash("sleep 76"), {"text": "done"})
    async with open_session(project, New()) as session:
        await session.prompt("go")
    async with open_session(project, Resume(session.log.header.id)) as again:
        last = again.log.view()[-1]
        assert isinstance(last, User)
        assert isinstance(last.parts[0], Text)
        assert "(sleep 76) is over: ended with the session" in last.parts[0].text
        assert again.jobs.all == {}


async def test_the_command_lists_shows_waits_for_ends_and_keeps(cli: Cli) -> None:
    os.mkfifo(cli.project / "go")
    project = project_of(
        cli, bash("echo hello; sleep 77"), bash("sleep 77"), bash("read x < go; echo bye"), {"text": "done"}
    )
    async with open_session(project, New()) as session:
        desk = Desk(session)
        assert await desk.run("jobs") == "no command runs in the background"
        await session.prompt("go")
        listed = (await desk.run("jobs")).splitlines()
        assert [(line[:10], line.rpartition("  ")[2]) for line in listed[:-1]] == [
            ("j1  runs, ", "echo hello; sleep 77"),
            ("j2  runs, ", "sleep 77"),
            ("j3  runs, ", "read x < go; echo bye"),
        ]
        assert (await desk.run("jobs tail j1 5")).splitlines()[1:] == [
            f"all of it: {session.jobs.get('j1').file}",
            "  hello",
        ]
        await desk.run("jobs kill j1")
        assert "j1  ended by the person, after" in await desk.run("jobs")
        await desk.run("jobs keep j2")
        assert " s, kept " in await desk.run("jobs")
        await anyio.to_thread.run_sync((cli.project / "go").write_text, "x\n")
        assert (await desk.run("jobs wait j3")).splitlines()[2:] == ["  bye"]
        await desk.run("jobs kill all")
        assert session.jobs.running == ()
        for line, words in (("jobs kill j9", "there is no job 'j9'"), ("jobs fly", "/jobs doesn't know 'fly'")):
            with pytest.raises(UsageError, match=words):
                await desk.run(line)


async def test_undo_says_what_still_runs(cli: Cli) -> None:
    project = project_of(cli, bash("sleep 78"), {"text": "done"})
    async with open_session(project, New()) as session:
        await session.prompt("go")
        told = await Desk(session).run("undo")
        assert "still running, and what they change isn't taken back: j1 (sleep 78)" in told.splitlines()


async def test_at_most_as_many_run_as_the_settings_say(cli: Cli) -> None:
    project = project_of(cli, bash("sleep 79"), bash("sleep 79"), {"text": "done"}, jobs={"most": 1})
    async with open_session(project, New()) as session:
        await session.prompt("go")
        assert [job.id for job in session.jobs.running] == ["j1"]


def test_the_end_of_a_job_is_told_with_how_it_ended_and_its_last_lines(cli: Cli) -> None:
    command = "for n in $(seq 30); do echo line $n; done; exit 3"
    model = cli.script(bash(command), use(action="wait", id="j1"), {"text": "done"})
    outcome = cli.inside("-p", "go", "--mode", "json", "--permission", "full", "--model", model)
    (ended,) = outcome.of("job_ended")
    assert (ended["ending"], ended["failed"]) == ("exit 3", True)
    assert [one for one in ended["text"].splitlines() if one.startswith("line")] == [f"line {n}" for n in range(11, 31)]
    assert Path(ended["output_file"]).name.startswith("output-")
