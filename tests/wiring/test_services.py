"""What runs beside a session: started, ended with it, and never longer."""

from pathlib import Path

import anyio
import pytest

from trimtab.coding import services as module
from trimtab.coding.choose import Ephemeral
from trimtab.coding.opening import open_session
from trimtab.coding.project import open_project
from trimtab.coding.services import bare_group, services

pytestmark = pytest.mark.anyio


async def test_work_that_heeds_the_closing_tidies_up_before_the_session_is_gone() -> None:
    said: list[str] = []
    async with services() as beside:

        async def work() -> None:
            await beside.closing.wait()
            said.append("tidied up")

        beside.run(work)
    assert said == ["tidied up"]


async def test_work_that_heeds_nothing_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 0.0)
    ended = anyio.Event()

    async def work() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    async with anyio.create_task_group() as group:
        async with services(group.start_soon) as beside:
            beside.run(work)
            await anyio.lowlevel.checkpoint()
        assert ended.is_set()


async def test_one_work_ends_by_its_scope_and_the_others_go_on() -> None:
    first, second = anyio.Event(), anyio.Event()

    async def until_closed(ended: anyio.Event) -> None:
        try:
            await beside.closing.wait()
        finally:
            ended.set()

    async with services() as beside:
        scope = beside.run(lambda: until_closed(first))
        beside.run(lambda: until_closed(second))
        scope.cancel()
        with anyio.fail_after(5):
            await first.wait()
        assert not second.is_set()
    assert second.is_set()


async def test_nothing_starts_once_the_session_closes() -> None:
    ran: list[str] = []

    async def work() -> None:
        ran.append("ran")

    async with services() as beside:
        await beside.aclose()
        beside.run(work)
    assert ran == []


async def test_what_the_body_raises_comes_out_as_it_is() -> None:
    with pytest.raises(KeyError, match="mine"):
        async with services():
            raise KeyError("mine")
    with pytest.raises(KeyError, match="mine"):
        async with bare_group():
            raise KeyError("mine")


async def test_a_session_can_be_opened_before_another_one_is_let_go(tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text('{"text": "hello"}\n')
    env = {"TRIMTAB_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "TRIMTAB_MODEL": f"scripted/{script}"}
    project = open_project(tmp_path, env=env)
    async with bare_group() as start:
        first = open_session(project, Ephemeral(), start=start)
        second = open_session(project, Ephemeral(), start=start)
        one = await first.__aenter__()
        two = await second.__aenter__()
        await first.__aexit__(None, None, None)
        assert (await two.prompt("hi")).text == "hello"
        await second.__aexit__(None, None, None)
        assert (one.services.closing.is_set(), two.services.closing.is_set()) == (True, True)
