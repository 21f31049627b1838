"""Files that a command writes by redirection are among the changed ones, when it really wrote them."""

import os
from pathlib import Path

import anyio
import pytest

from trimtab.agent.ports import Answer, Hooks, NoHooks, Proceed, ToolOutput, ToolRun
from trimtab.coding.changes import ChangeRecorder
from trimtab.coding.permissions import redirect_targets
from trimtab.coding.tools.bash import BashTool
from trimtab.coding.tools.capture import PrivateFolder
from trimtab.coding.tools.environment import command_environment
from trimtab.coding.tools.paths import Workspace
from trimtab.types.messages import ToolCall


async def run(recorder: ChangeRecorder, command: str, cwd: Path, call_id: str = "c") -> ToolOutput:
    call = ToolCall(call_id, "bash", {"command": command}, "")
    if isinstance(told := await recorder.before_tool(call), Answer):
        return told.output

    async def update(text: str) -> None:
        pass

    tool = BashTool(cwd, command_environment(os.environ), PrivateFolder(cwd / "outputs"))
    return await recorder.after_tool(call, await tool.run({"command": command}, ToolRun(call_id, update)))


def recorder(cwd: Path, inner: Hooks | None = None) -> ChangeRecorder:
    return ChangeRecorder(inner or NoHooks(), Workspace(cwd, cwd))


@pytest.mark.anyio
async def test_what_a_redirection_wrote_is_told_by_its_real_path(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("before")
    (tmp_path / "link").symlink_to("old")
    recorded = recorder(tmp_path)
    output = await run(recorded, "echo 1 > new; echo 2 >> link 2>/dev/null; sh -c 'echo 3 > inner'", tmp_path)
    expected = [str(tmp_path / name) for name in ("new", "old", "inner")]
    assert output.details is not None
    assert (output.details["changed"], output.details["exit_code"]) == (expected, 0)
    assert recorded.files == tuple(expected)


@pytest.mark.anyio
async def test_what_was_not_written_is_not_told(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("x")
    recorded = recorder(tmp_path)
    output = await run(recorded, "false && echo 1 > kept; false && echo 1 > absent; echo 2 > /dev/null", tmp_path)
    assert "changed" not in (output.details or {})
    assert recorded.files == ()


@pytest.mark.anyio
async def test_a_command_that_failed_or_was_refused_tells_the_truth(tmp_path: Path) -> None:
    class Refusing(NoHooks):
        async def before_tool(self, call: ToolCall) -> Proceed | Answer:
            return Answer(ToolOutput.text("no", is_error=True))

    refused, failed = recorder(tmp_path, Refusing()), recorder(tmp_path)
    await run(refused, "echo 1 > a", tmp_path)
    await run(failed, "echo 1 > b; exit 3", tmp_path)
    assert (refused.files, failed.files) == ((), (str(tmp_path / "b"),))


@pytest.mark.anyio
async def test_a_command_that_was_cut_off_tells_too(tmp_path: Path) -> None:
    recorded = recorder(tmp_path)
    await recorded.before_tool(ToolCall("c", "bash", {"command": "yes > a"}, ""))
    assert recorded.files == ()
    await anyio.Path(tmp_path / "a").write_text("y\n")
    assert recorded.files == (str(tmp_path / "a"),)


@pytest.mark.anyio
async def test_commands_side_by_side_each_tell_their_own(tmp_path: Path) -> None:
    recorded = recorder(tmp_path)
    async with anyio.create_task_group() as group:
        for name in "abc":
            group.start_soon(run, recorded, f"echo {name} > {name}", tmp_path, name)
    assert sorted(recorded.files) == [str(tmp_path / name) for name in "abc"]


@pytest.mark.parametrize(
    ("script", "targets"),
    [
        ("ls > a 2> b; cat < c >> a", ("a", "b")),
        ("cd x && ls > a > /p/b", ("/p/b",)),
        ("for f in x; do echo > y; done", ("y",)),
        ("ls > $X", ()),
        ("ls '", ()),
        ("ls 2>&1", ()),
    ],
)
def test_targets_are_those_that_can_be_read(script: str, targets: tuple[str, ...]) -> None:
    assert redirect_targets(script) == targets
