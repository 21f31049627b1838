"""Work on a large context is left where nobody wants it any more, and what is worked out afterwards is the same."""

from collections.abc import Generator
from contextvars import copy_context
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import pytest

from support.small_window import SmallRoom, reads, says
from trimtab.context.pause import breathe, lend

pytestmark = pytest.mark.anyio


class Unwanted(BaseException):
    """Nobody waits any more."""


def stopped_at(breath: int, work: Any) -> bool:
    """Do `work` and stop it at that breath; False when it ended before."""
    left = breath

    def check() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise Unwanted

    def run() -> None:
        lend(check)
        work()

    try:
        copy_context().run(run)
    except Unwanted:
        return True
    return False


async def test_work_that_was_left_anywhere_is_done_rightly_the_next_time(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=32_000)
    async with room.open(reads("a.txt", "b.txt"), reads("c.txt"), says("done")) as session:
        await session.prompt("read")
        view, request = session.log.snapshot(), session.context.request()
    async with room.open() as session:
        wanted = session.context.engine.look(view, request).estimate
    for breath in range(1, 100):
        async with room.open() as session:
            engine = session.context.engine
            stopped = stopped_at(breath, lambda engine=engine: engine.look(view, request))
            assert engine.look(view, request).estimate == wanted
        if not stopped:
            break
    assert 3 < breath < 99


async def test_a_turn_that_is_stopped_leaves_the_work_at_its_next_breath(tmp_path: Path) -> None:
    room, breaths = SmallRoom.at(tmp_path), 0

    def endless(scope: anyio.CancelScope) -> Generator[Any, Any, None]:
        nonlocal breaths
        while breaths < 100_000:
            breaths += 1
            breathe()
            if breaths == 5:
                anyio.from_thread.run_sync(scope.cancel)
        yield

    async with room.open() as session:
        with anyio.CancelScope() as scope:
            await session.context.transcript.run(endless(scope))
        assert scope.cancelled_caught
    assert breaths == 6
    breathe()  # here nobody lends anything
