"""Commands end when they end, take what they started with them, and never wait for a person."""

import errno
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from blockbuster import blockbuster_ctx

from trimtab.agent.ports import Access, ToolOutput, ToolRun
from trimtab.coding.tools import process_tree
from trimtab.coding.tools.bash import BashTool
from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.capture import Capture, PrivateFolder
from trimtab.coding.tools.environment import command_environment
from trimtab.coding.tools.process import Pump
from trimtab.coding.tools.process_tree import Proc
from trimtab.types.messages import Text

pytestmark = pytest.mark.anyio


async def _ignore(_text: str) -> None: ...


def tool(tmp_path: Path, environment: Mapping[str, str] | None = None) -> BashTool:
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    given = environment if environment is not None else os.environ
    return BashTool(work, command_environment(given), PrivateFolder(tmp_path / "outputs"))


async def bash(
    tmp_path: Path, command: str, timeout: float | None = None, environment: Mapping[str, str] | None = None
) -> ToolOutput:
    arguments = {"command": command} | ({} if timeout is None else {"timeout": timeout})
    return await tool(tmp_path, environment).run(arguments, ToolRun("call", _ignore))


def text(output: ToolOutput) -> str:
    (part,) = output.parts
    assert isinstance(part, Text)
    return part.text


def alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def content(path: Path) -> str:
    return path.read_text()


def staged_repository(repo: Path) -> None:
    repo.mkdir()
    (repo / "f").write_text("x")
    for arguments in (["init", "-q"], ["add", "f"]):
        subprocess.run(["git", "-C", str(repo), *arguments], check=True, stdin=subprocess.DEVNULL)


def pids(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().split()]


async def test_a_command_returns_when_it_exits_not_when_its_background_child_closes_the_pipe(tmp_path: Path) -> None:
    began = time.monotonic()
    output = await bash(tmp_path, "sleep 41 & echo started")
    assert time.monotonic() - began < 20
    (child,) = output.details["left_running"]
    os.kill(child, 9)
    assert (text(output).splitlines()[0], output.is_error) == ("started", False)
    assert f"still running in the background: {child} (sleep 41)" in text(output)


async def test_a_child_that_left_the_session_neither_holds_the_command_nor_goes_unlisted(tmp_path: Path) -> None:
    began = time.monotonic()
    output = await bash(tmp_path, "setsid sleep 41 >/dev/null 2>&1 & echo started")
    assert time.monotonic() - began < 20
    (child,) = output.details["left_running"]
    os.kill(child, 9)
    assert text(output).startswith("started\n[still running in the background: ")


async def test_a_server_left_behind_goes_on_printing_into_the_file_that_was_named(tmp_path: Path) -> None:
    output = await bash(tmp_path, "(sleep 0.4; echo late; echo later) & echo now")
    file = Path(output.details["output_file"])
    for _ in range(40):
        if content(file).endswith("later\n"):
            break
        await anyio.sleep(0.05)
    assert content(file) == "now\nlate\nlater\n"


@pytest.mark.parametrize(
    "command",
    [
        "sleep 77 & echo $! >>pids; sleep 77 & echo $! >>pids; wait",
        "setsid sh -c 'echo $$ >>pids; exec sleep 77' & sleep 77",
        "setsid sh -c 'trap \"\" TERM; echo $$ >>pids; while :; do sleep 1; done' & sleep 77",
    ],
    ids=["group", "setsid", "setsid that ignores SIGTERM"],
)
async def test_a_timeout_leaves_no_survivor_however_it_tried_to_leave(tmp_path: Path, command: str) -> None:
    output = await bash(tmp_path, command, timeout=1)
    assert text(output) == "(no output), timed out after 1 s; all its processes were stopped"
    assert (output.is_error, output.details["timed_out"], output.details["exit_code"]) == (True, True, None)
    started = pids(tmp_path / "work/pids")
    assert started
    assert not [pid for pid in started if alive(pid)]


async def test_a_timeout_ends_a_tree_of_many_that_hide_and_ignore_signals(tmp_path: Path) -> None:
    # Thirty children that only sleep: a third of them in sessions of their own, a third deaf to SIGTERM.
    command = """
        for i in $(seq 10); do
            sleep 77 & echo $! >>pids
            setsid sh -c 'echo $$ >>pids; exec sleep 77' &
            setsid sh -c 'trap "" TERM; echo $$ >>pids; sleep 77; sleep 77' &
        done
        wait
    """
    output = await bash(tmp_path, command, timeout=1.5)
    assert text(output) == "(no output), timed out after 1.5 s; all its processes were stopped"
    started = pids(tmp_path / "work/pids")
    assert len(started) > 5, "a busy machine starts fewer than thirty in that time"
    assert not any(map(alive, started))


async def test_a_stop_gives_up_on_what_cannot_be_ended_and_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Proc(2**22 + 1, 1, 2**22 + 1, 2**22 + 1, "held by the kernel")
    monkeypatch.setattr(process_tree, "members", lambda leader, marker, **_: (held,))
    monkeypatch.setattr(process_tree, "_KILL_S", 0.05)
    assert await process_tree.stop(2**22 + 2, "marker", grace_s=0.01) == (held,)


async def test_a_look_at_the_processes_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = threading.Event()
    monkeypatch.setattr(process_tree, "members", lambda leader, marker, **_: blocked.wait(5) and ())
    monkeypatch.setattr(process_tree, "_LOOK_S", 0.05)
    began = time.monotonic()
    assert await process_tree.look(2**22 + 2, "marker") is None, "nobody knows, which isn't nothing"
    blocked.set()
    assert time.monotonic() - began < 4


async def test_what_was_printed_before_a_timeout_is_kept(tmp_path: Path) -> None:
    output = await bash(tmp_path, "echo half; sleep 30", timeout=0.3)
    assert text(output) == "half\n[timed out after 0.3 s; all its processes were stopped]"


async def test_cancelling_leaves_no_process_behind(tmp_path: Path) -> None:
    ready = anyio.Event()

    async def update(_text: str) -> None:
        ready.set()

    command = "echo $$ >>pids; setsid sh -c 'echo $$ >>pids; echo ready; exec sleep 77' & sleep 77"
    async with anyio.create_task_group() as group:
        group.start_soon(tool(tmp_path).run, {"command": command}, ToolRun("call", update))
        await ready.wait()
        group.cancel_scope.cancel()
    started = pids(tmp_path / "work/pids")
    assert len(started) == 2
    assert not [pid for pid in started if alive(pid)]


async def test_the_output_of_a_cancelled_command_leaves_no_file(tmp_path: Path) -> None:
    outputs = PrivateFolder(tmp_path / "outputs")
    shell = replace(tool(tmp_path), folder=outputs, caps=Caps(bash_head_bytes=10, bash_tail_bytes=10))
    ready = anyio.Event()

    async def update(_text: str) -> None:
        if list((tmp_path / "outputs").glob("*")):
            ready.set()

    async with anyio.create_task_group() as group:
        group.start_soon(shell.run, {"command": "while echo more than fits; do sleep 0.01; done"}, ToolRun("c", update))
        await ready.wait()
        group.cancel_scope.cancel()
    outputs.close()
    assert not (tmp_path / "outputs").exists()


async def test_an_output_that_was_named_outlives_the_session(tmp_path: Path) -> None:
    outputs = PrivateFolder(tmp_path / "outputs")
    shell = replace(tool(tmp_path), folder=outputs, caps=Caps(bash_head_bytes=10, bash_tail_bytes=10))
    output = await shell.run({"command": "seq 100"}, ToolRun("c", _ignore))
    outputs.close()
    assert output.cut is not None
    assert content(Path(output.cut.where or "")).split() == [str(n) for n in range(1, 101)]


async def test_what_was_read_is_kept_when_the_command_ends_at_that_instant(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.write(writing, b"x" * 100)
    capture = Capture(PrivateFolder(tmp_path / "outputs"), 10, 10)
    with anyio.CancelScope() as scope:
        await Pump(reading, capture, lambda _data: scope.cancel()).run()
    os.close(reading)
    os.close(writing)
    assert scope.cancel_called
    assert capture.finish().bytes == 100


async def test_commands_run_side_by_side(tmp_path: Path) -> None:
    began = time.monotonic()
    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(bash, tmp_path, "sleep 1.5")
    assert time.monotonic() - began < 4
    assert tool(tmp_path).access({"command": "ls"}) == Access(reads="*")


@pytest.mark.parametrize(
    ("command", "said", "code", "signal"),
    [
        ("kill -9 $$", "killed by SIGKILL", None, "SIGKILL"),
        ("kill -TERM $$", "killed by SIGTERM", None, "SIGTERM"),
        ("exit 143", "exit 143", 143, None),
        ("exit 1", "exit 1", 1, None),
    ],
)
async def test_exit_codes_signals_and_timeouts_are_three_things(
    tmp_path: Path, command: str, said: str, code: int | None, signal: str | None
) -> None:
    output = await bash(tmp_path, command)
    assert text(output) == f"(no output), {said}"
    assert output.is_error
    ended = {key: output.details[key] for key in ("exit_code", "signal", "timed_out")}
    assert ended == {"exit_code": code, "signal": signal, "timed_out": False}


async def test_success_without_output_says_so(tmp_path: Path) -> None:
    output = await bash(tmp_path, "true")
    assert (text(output), output.is_error) == ("(no output), exit 0", False)


@pytest.mark.parametrize("command", ["read answer", "cat", "sudo -v", "python3 -c 'input()'", "cat </dev/tty"])
async def test_whatever_reads_a_person_meets_an_end_instead(tmp_path: Path, command: str) -> None:
    began = time.monotonic()
    await bash(tmp_path, command)
    assert time.monotonic() - began < 20


async def test_an_editor_ends_at_once_and_says_what_to_do(tmp_path: Path) -> None:
    staged_repository(tmp_path / "work")
    began = time.monotonic()
    given = {**os.environ, "EDITOR": "sleep 60", "GIT_EDITOR": "sleep 60", "VISUAL": "sleep 60"}
    output = await bash(tmp_path, "git -c user.name=a -c user.email=a@b commit", environment=given)
    assert time.monotonic() - began < 20
    assert output.is_error
    assert "git commit -m TEXT" in text(output)


async def test_git_asks_nobody_for_a_password(tmp_path: Path) -> None:
    output = await bash(tmp_path, "printf 'protocol=https\\nhost=localhost\\n\\n' | git credential fill")
    assert "terminal prompts disabled" in text(output)


async def test_the_script_arrives_unaltered_and_leaves_nothing_in_the_folder(tmp_path: Path) -> None:
    script = "printf '%s\\n' 'select(.x != 1)' \"it's\" '!!' '$HOME' '\\t' \"a  b\""
    output = await bash(tmp_path, script)
    assert text(output) == "select(.x != 1)\nit's\n!!\n$HOME\n\\t\na  b"
    assert (list((tmp_path / "work").iterdir()), (tmp_path / "outputs").exists()) == ([], False)


async def test_bash_syntax_works_where_sh_is_something_smaller(tmp_path: Path) -> None:
    assert text(await bash(tmp_path, '[[ abc =~ ^a(.)c$ ]] && echo "${BASH_REMATCH[1]}"')) == "b"


async def test_sh_steps_in_with_a_notice_where_there_is_no_bash(tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    shell = shutil.which("sh")
    assert shell
    (folder / "sh").symlink_to(shell)
    output = await bash(tmp_path, "echo x", environment={"PATH": str(folder)})
    assert text(output) == "bash was not found; this ran in sh\nx"


@pytest.mark.parametrize(
    ("command", "timeout", "said"),
    [
        ("echo a\0b", None, "the command holds a NUL character, which no program can be given"),
        (
            "true " + "x" * 200_000,
            None,
            "the command is too long (200,005 characters): write it to a file and run that",
        ),
        ("true", 3601, "timeout must be above 0 and at most 3600 seconds"),
        ("true", -1, "timeout must be above 0 and at most 3600 seconds"),
    ],
    ids=["NUL", "too long", "timeout too long", "negative timeout"],
)
async def test_what_cannot_start_is_explained(tmp_path: Path, command: str, timeout: float | None, said: str) -> None:
    output = await bash(tmp_path, command, timeout=timeout)
    assert (text(output), output.is_error) == (said, True)


@pytest.mark.parametrize("code", [errno.EAGAIN, errno.ENOMEM, errno.EMFILE])
async def test_a_machine_that_can_start_no_process_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(anyio, "open_process", fail)
    output = await bash(tmp_path, "true")
    said = f"the machine has no room for another process now ({os.strerror(code)}); stop some, then try again"
    assert (text(output), output.is_error) == (said, True)


async def test_a_working_folder_that_is_gone_is_explained(tmp_path: Path) -> None:
    bash_tool = BashTool(tmp_path / "gone", command_environment(os.environ))
    output = await bash_tool.run({"command": "true"}, ToolRun("call", _ignore))
    assert (text(output), output.is_error) == (f"the working folder {str(tmp_path / 'gone')!r} is gone", True)


async def test_a_lone_surrogate_in_a_command_is_replaced_not_fatal(tmp_path: Path) -> None:
    assert text(await bash(tmp_path, "echo a\udc83b")) == "a\ufffdb"


async def test_nothing_blocks_the_event_loop(tmp_path: Path) -> None:
    with blockbuster_ctx("trimtab"):
        output = await bash(tmp_path, "seq 300000; sleep 41 & exit 3")
        await bash(tmp_path, "sleep 9", timeout=0.1)
    (child,) = output.details["left_running"]
    os.kill(child, 9)
    assert output.details["exit_code"] == 3
