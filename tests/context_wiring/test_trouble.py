"""Trouble while the context is edited: a cancel, a disk that is full, an archive that can't be written. The turn ends well or by name; nothing is lost."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from support.small_window import Heard, SmallRoom, calls, reads, results, says, watch
from trimtab.agent.events import Notice
from trimtab.context.actions import Action
from trimtab.context.asks import Answer, Failed, Recorded
from trimtab.types.entries import EditEntry
from trimtab.types.errors import StoreError
from trimtab.types.messages import Text, User
from trimtab.types.models import ModelRequest

pytestmark = pytest.mark.anyio


class Slow:
    """Answers from a script, but never a request for a summary: those have no tools."""

    def __init__(self, *lines: Any) -> None:
        self.asked = anyio.Event()
        self._inner = Heard(lines)

    async def stream(self, request: ModelRequest) -> AsyncIterator[Any]:
        if not request.tools:
            self.asked.set()
            await anyio.sleep_forever()
        async for event in self._inner.stream(request):
            yield event


async def test_a_cancel_while_a_summary_is_written_changes_nothing_and_the_session_goes_on(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=32_000)
    provider = Slow(reads("a.txt"), reads("b.txt"), says("done"), says("back"))
    async with room.open(provider=provider) as session:
        await session.prompt("read")
        context, before = session.context, session.log.snapshot()
        wish = Action("compact", params={"keep_tokens": 10})
        async with anyio.create_task_group() as group:
            group.start_soon(
                context.transcript.run, context.engine.act(before, context.request(), [wish], author="user")
            )
            with anyio.fail_after(20):
                await provider.asked.wait()
            group.cancel_scope.cancel()
        assert session.log.snapshot() is before
        assert (await session.prompt("again")).text == "back"
    assert room.edits() == []


async def test_an_edit_that_the_disk_refuses_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = SmallRoom.at(tmp_path, window=32_000)
    archive = calls(("archive", {"action": "archive", "ids": ["r1"]}))
    provider = Heard([reads("a.txt"), archive, says("done")])
    async with room.open(provider=provider) as session:
        write = session.log.append

        def full(values: Any) -> tuple[str, ...]:
            if any(isinstance(value, EditEntry) for value in values):
                raise StoreError("the disk is full")
            return write(values)

        monkeypatch.setattr(session.log, "append", full)
        turn = await session.prompt("read")
        assert turn.reason == "stop"
        shown = results(provider.requests[-1].messages)
    assert "a line 119" in text(shown[0])
    assert "the disk is full" in text(shown[1])


def text(result: Any) -> str:
    return "".join(part.text for part in result.parts)


async def test_a_body_whose_file_cant_be_written_stays_in_the_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = SmallRoom.at(tmp_path, tools="off", window=16_000)
    kept: list[Answer] = []

    def refuse(self: object, texts: dict[str, str]) -> Answer:
        kept.append(Failed("read-only file system"))
        return kept[-1]

    monkeypatch.setattr("trimtab.coding.context.files.ArchiveFiles.keep", refuse)
    async with room.open(*(reads(f"{letter}.txt") for letter in "abcdef"), says("done")) as session:
        turn = await session.prompt("read all")
        assert turn.reason in ("stop", "floor")
    assert kept
    assert room.edits() == []
    assert any("read-only file system" in str(e.get("data")) for e in room.entries())
    assert not isinstance(kept[0], Recorded)


class Mute:
    """Answers from a script, but has nothing to say when it is asked for a summary, in place or as a transcript."""

    def __init__(self, prompt: str, *lines: Any) -> None:
        self.prompt = prompt
        self.hung = 0
        self._inner = Heard(lines)

    async def stream(self, request: ModelRequest) -> AsyncIterator[Any]:
        last = request.messages[-1]
        if isinstance(last, User) and self.prompt not in "".join(p.text for p in last.parts if isinstance(p, Text)):
            self.hung += 1
            await anyio.sleep_forever()
        async for event in self._inner.stream(request):
            yield event


async def test_a_summary_that_never_comes_gives_way_to_a_digest_and_the_turn_goes_on(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, policy="summary")
    provider = Mute("read them all", *(reads(f"{letter}.txt") for letter in "abcdef"), says("done"))
    async with room.open(provider=provider) as session:
        session.context.transcript._summarisers.quiet_s = 0.05
        with anyio.fail_after(30):
            turn = await session.prompt("read them all")
    assert (turn.reason, turn.text) == ("stop", "done")
    assert provider.hung
    compactions = [entry["edit"] for entry in room.edits() if entry["edit"]["kind"] == "compact"]
    assert {edit["mode"] for edit in compactions} == {"digest"}
    assert "said nothing for 0.05 s" in str([edit["meta"].get("rejected") for edit in compactions])


async def test_of_very_many_notes_about_one_request_the_first_are_told_and_how_many_more(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path)
    async with room.open(says("done")) as session:
        writers = session.context.transcript._summarisers
        assert writers is not None
        writers.notes += [f"note {number}" for number in range(120)]
        events = watch(session)
        await session.prompt("go")
        told = [event.message for event in events.pending() if isinstance(event, Notice)]
    assert told == [*(f"note {number}" for number in range(20)), "and 100 more notes about this request"]
