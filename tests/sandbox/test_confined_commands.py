"""`bash` in the sandbox: as ever for the project, one more line where it stops something, and everything it started still ends."""

import os
import signal
import sys
import time
from pathlib import Path

import anyio
import pytest

from sandbox.conftest import BACKENDS, World, backend
from trimtab.agent.ports import ToolOutput, ToolRun
from trimtab.coding.sandbox.choose import Machine
from trimtab.coding.sandbox.confiner import Confiner
from trimtab.coding.sandbox.landlock import Facts
from trimtab.coding.sandbox.places import Grounds
from trimtab.coding.sandbox.plan import Confinement
from trimtab.coding.tools.bash import BashTool
from trimtab.coding.tools.capture import PrivateFolder
from trimtab.coding.tools.environment import command_environment
from trimtab.config.settings import SandboxMode, SandboxSettings
from trimtab.types.messages import Text

pytestmark = pytest.mark.anyio

NOTHING = Machine("linux", Facts, lambda _: None)
LATER = "sleep 0.1; echo late >> late; sleep 77"


def confiner(world: World, name: str) -> Confiner:
    """One that has only the backend of that name."""
    backend(name, Confinement())  # skips
    settings = SandboxSettings(backend="bubblewrap" if name == "bubblewrap" else "landlock")
    grounds = Grounds(str(world.project), str(world.root / "home"), environment=dict(os.environ))
    if name == "landlock":
        return Confiner(settings, grounds, Machine(ask_linux=lambda: Facts(7, "left out", "left out")))
    return Confiner(settings, grounds)


def free(world: World, mode: SandboxMode) -> Confiner:
    """One that finds nothing on its machine."""
    return Confiner(SandboxSettings(mode=mode), Grounds(str(world.project), str(world.root / "home")), NOTHING)


async def bash(world: World, confined: Confiner, command: str, timeout: float = 30) -> ToolOutput:
    async def ignore(_: str) -> None: ...

    tool = BashTool(
        world.project, command_environment(os.environ), PrivateFolder(world.root / "outputs"), confiner=confined
    )
    return await tool.run({"command": command, "timeout": timeout}, ToolRun("call", ignore))


def text(output: ToolOutput) -> str:
    (part,) = output.parts
    assert isinstance(part, Text)
    return part.text


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


linux = pytest.mark.skipif(sys.platform != "linux", reason="NOT TESTED: Linux's backends")


@linux
@pytest.mark.parametrize("name", BACKENDS)
async def test_a_command_that_is_stopped_says_that_the_sandbox_may_be_why(world: World, name: str) -> None:
    output = await bash(world, confiner(world, name), "echo fine > file && echo bad > /etc/trimtab-test")
    lines = text(output).splitlines()
    assert output.is_error
    assert (world.project / "file").read_text() == "fine\n"
    assert [line.startswith("[the sandbox may be why: ") for line in lines][-1]
    assert 'sandbox.write = ["PATH"]' in lines[-1]


@linux
@pytest.mark.parametrize("name", BACKENDS)
async def test_a_command_that_succeeds_says_nothing_of_it(world: World, name: str) -> None:
    output = await bash(world, confiner(world, name), "echo Permission denied")
    assert (text(output), output.is_error) == ("Permission denied", False)


@linux
@pytest.mark.parametrize("name", BACKENDS)
async def test_a_server_that_is_left_running_lives_on_confined_and_a_later_command_can_stop_it(
    world: World, name: str
) -> None:
    confined = confiner(world, name)
    command = f"setsid sh -c 'echo bad > /etc/trimtab-test; {LATER}' > log 2>&1 & sleep 0.5"
    output = await bash(world, confined, command)
    left = output.details["left_running"] if output.details else []
    try:
        assert left
        assert "still running in the background" in text(output)
        await anyio.sleep(0.3)
        assert all(alive(pid) for pid in left)
        assert (world.project / "late").read_text() == "late\n"
        assert not await anyio.Path("/etc/trimtab-test").exists()
        stopped = await bash(world, confined, f"kill {' '.join(map(str, left))}")
        assert not stopped.is_error, text(stopped)
        await anyio.sleep(0.3)
        assert not any(alive(pid) for pid in left)
    finally:
        for pid in filter(alive, left):
            os.kill(pid, signal.SIGKILL)


@linux
@pytest.mark.parametrize("name", BACKENDS)
async def test_a_command_out_of_time_takes_all_it_started_along(world: World, name: str) -> None:
    command = "(setsid sh -c 'echo $$ > pid; sleep 77' &); sleep 77"
    began = time.monotonic()
    output = await bash(world, confiner(world, name), command, timeout=2)
    assert "timed out" in text(output)
    assert time.monotonic() - began < 20
    if name != "bubblewrap" or (world.project / "pid").exists():
        assert not alive(int((world.project / "pid").read_text()))


async def test_required_runs_nothing_without_a_sandbox_and_says_why(world: World) -> None:
    output = await bash(world, free(world, "required"), "echo ran > ran")
    assert output.is_error
    assert text(output) == (
        "commands don't run without a sandbox (sandbox.mode is required), and there is none: "
        "this kernel has no Landlock, and bubblewrap (bwrap) isn't installed"
    )
    assert not (world.project / "ran").exists()


async def test_auto_runs_without_one_and_tells_it_once(world: World) -> None:
    confined = free(world, "auto")
    assert confined.take_notice() == ""
    assert text(await bash(world, confined, "echo ran")) == "ran"
    assert confined.take_notice().startswith("commands run without a sandbox: this kernel has no Landlock")
    await bash(world, confined, "echo ran")
    assert confined.take_notice() == ""


async def test_off_looks_for_none_and_tells_nothing(world: World) -> None:
    def never() -> Facts:
        raise AssertionError

    settings = SandboxSettings(mode="off")
    confined = Confiner(settings, Grounds(str(world.project), str(world.root / "home")), Machine("linux", never))
    assert text(await bash(world, confined, "echo ran")) == "ran"
    assert confined.take_notice() == ""
    assert list((world.root / "home").iterdir()) == []


async def test_settings_that_appear_and_act_in_the_next_session_are_told(world: World) -> None:
    for path in (world.project / ".trimtab").iterdir():
        path.unlink()
    (world.project / ".trimtab").rmdir()
    confined = free(world, "auto")
    await bash(world, confined, "true")
    confined.take_notice()
    await bash(world, confined, "mkdir .trimtab; echo 'sandbox.mode = \"off\"' > .trimtab/config.toml")
    assert confined.take_notice() == (
        f"{world.project}/.trimtab is new and can decide what runs later; look at it, unless you made it"
    )
    assert confined.take_notice() == ""
