"""Words for after the running turn."""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from commands.conftest import PlainDesk
from trimtab.coding import ScriptedProvider, Session
from trimtab.coding.commands.completing import completions
from trimtab.types.messages import User
from trimtab.types.models import ModelRequest
from trimtab.types.stream import StreamEvent

pytestmark = pytest.mark.anyio


class Gated(ScriptedProvider):
    """Answers once somebody opens the gate."""

    gate: anyio.Event

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        await self.gate.wait()
        async for event in super().stream(request):
            yield event


@pytest.mark.parametrize("cleared", [False, True])
async def test_what_is_queued_is_said_once_the_turn_is_done_or_taken_back(
    folder: Path, tmp_path: Path, cleared: bool
) -> None:
    (folder / "a.txt").write_text("the file")
    home = {"TRIMTAB_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    script = Gated([{"text": "one"}, {"text": "two"}, {"text": "three"}])
    script.gate = anyio.Event()
    async with Session.open(folder, model="scripted/none", provider=script, env=home) as session:
        desk = PlainDesk(session)
        assert "nothing waits; /queue TEXT" in await desk.run("queue")
        assert await desk.run("queue", "clear") == "nothing waits"
        assert completions(session, "/queue ") == []
        async with anyio.create_task_group() as group:
            group.start_soon(session.prompt, "first")
            while not session.busy:
                await anyio.lowlevel.checkpoint()
            assert "will be said once the turn is done" in await desk.run("queue", "look at @a.txt")
            session.steer("be \x1b[31mquick")
            told = ["  before the next step: be quick", "  after the turn: look at @a.txt"]
            assert (await desk.run("queue")).splitlines() == told
            assert [one.value for one in completions(session, "/queue c")] == ["/queue clear"]
            if cleared:
                assert (await desk.run("queue", "clear")).splitlines() == ["taken back:", *told]
            script.gate.set()
        said = [m.text.split("\n")[0] for m in session.agent.messages if isinstance(m, User)]
        assert said == (["first"] if cleared else ["first", "be \x1b[31mquick", "look at @a.txt"])
        assert ("the file" in session.agent.messages[-2].text) is not cleared


async def test_without_a_running_turn_it_is_said_at_once(folder: Path, tmp_path: Path) -> None:
    home = {"TRIMTAB_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    script = ScriptedProvider([{"text": "one"}])
    async with Session.open(folder, model="scripted/none", provider=script, env=home) as session:
        await PlainDesk(session).run("queue", "first")
        assert [m.text for m in session.agent.messages] == ["first", "one"]
