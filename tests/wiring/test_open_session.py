"""What a session holds open is let go of, whatever happens, and not before."""

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.pictures import png
from trimtab.agent.ports import ToolOutput, ToolRun
from trimtab.coding.choose import AtFile, Ephemeral
from trimtab.coding.opening import open_session
from trimtab.coding.project import Project, open_project
from trimtab.coding.session import Session
from trimtab.types.errors import SessionLocked, StoreError, UnknownModel
from trimtab.types.models import ModelRequest
from trimtab.types.stream import Ended, StreamEvent

pytestmark = pytest.mark.anyio


class Closable:
    """A provider that says nothing and counts how often it was closed."""

    def __init__(self) -> None:
        self.closed = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        yield Ended("stop")

    async def aclose(self) -> None:
        self.closed += 1


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project whose two models differ in what they see."""
    (tmp_path / "work").mkdir()
    rows = [{"id": "blind"}, {"id": "seeing", "input": ["text", "image"]}]
    overrides = {"model": "local/blind", "providers": {"local": {"base_url": "http://127.0.0.1:9/v1", "models": rows}}}
    return open_project(tmp_path / "work", overrides=overrides, env={"TRIMTAB_HOME": str(tmp_path / "home")})


async def read(session: Session, name: str) -> ToolOutput:
    tool = next(t for t in session.agent.tools if t.spec.name == "read")

    async def update(_: str) -> None: ...

    return await tool.run({"path": name}, ToolRun("c", update))


async def test_a_provider_is_closed_with_its_session(project: Project) -> None:
    provider = Closable()
    async with open_session(project, Ephemeral(), provider=provider):
        assert provider.closed == 0
    assert provider.closed == 1


async def test_a_provider_is_closed_when_the_log_cannot_be_opened(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    provider = Closable()
    async with open_session(project, AtFile(file), provider=Closable()):
        with pytest.raises(SessionLocked):
            async with open_session(project, AtFile(file), provider=provider):
                pass
    assert provider.closed == 0, "an existing log is opened first, and nothing was opened behind it"
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError):
        async with open_session(project, AtFile(tmp_path / "file" / "new.jsonl"), provider=provider):
            pass
    assert provider.closed == 1


async def test_a_log_is_closed_when_the_model_cannot_be_opened(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    async with open_session(project, AtFile(file), provider=Closable()):
        pass
    moved = open_project(project.cwd, overrides={"model": "nobody/nothing"}, env=project.env)
    with pytest.raises(UnknownModel):
        async with open_session(moved, AtFile(file)):
            pass
    async with open_session(project, AtFile(file), provider=Closable()) as session:
        assert session.log.path == file


async def test_another_model_brings_tools_that_fit_it_and_leaves_the_running_turn_its_own(project: Project) -> None:
    (project.cwd / "dot.png").write_bytes(png())
    provider = Closable()
    async with open_session(project, Ephemeral(), provider=provider) as session:
        assert (await read(session, "dot.png")).is_error
        await session.set_model("local/seeing")
        assert not (await read(session, "dot.png")).is_error
        assert (session.model.ref, provider.closed) == ("local/seeing", 0)
    assert provider.closed == 1


@pytest.mark.parametrize("kept", [True, False])
async def test_long_outputs_outlive_the_run_beside_the_session_or_in_a_temp_folder(
    project: Project, tmp_path: Path, kept: bool
) -> None:
    choice = AtFile(tmp_path / "s.jsonl") if kept else Ephemeral()
    async with open_session(project, choice, provider=Closable()) as session:
        bash = next(t for t in session.agent.tools if t.spec.name == "bash")

        async def update(_: str) -> None: ...

        output = await bash.run({"command": "seq 20000"}, ToolRun("c", update))
        assert output.cut is not None
        file = Path(output.cut.where or "")
        assert content(file).split() == [str(n) for n in range(1, 20_001)]
    assert exist(file, file.parent) == [True, True]
    assert (file.parent == tmp_path / "s.jsonl.outputs") == kept
    if not kept:
        shutil.rmtree(file.parent)


async def test_a_session_without_long_outputs_leaves_no_folder_for_them(project: Project, tmp_path: Path) -> None:
    async with open_session(project, AtFile(tmp_path / "s.jsonl"), provider=Closable()) as session:
        await session.prompt("hi")
    assert sorted(os.listdir(tmp_path)) == ["s.jsonl", "work"]


async def test_a_disk_that_refuses_the_change_of_model_ends_the_turn_with_an_error(project: Project) -> None:
    async with open_session(project, Ephemeral(), provider=Closable()) as session:
        await session.prompt("hi")
        await session.set_model("local/seeing")
        session.agent.provider = Closable()
        session.log.append = _refuse  # type: ignore[method-assign]
        turn = await session.prompt("again")
    assert (turn.reason, turn.error and turn.error.kind) == ("error", "store")


def exist(*paths: Path) -> list[bool]:
    return [path.exists() for path in paths]


def content(path: Path) -> str:
    return path.read_text()


def _refuse(*_: object) -> tuple[str, ...]:
    raise StoreError("can't write", hint="make room")
