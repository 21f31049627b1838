"""What stands at the head of a session's requests and what is said at their tail: another day, tools that are off, memories, memos of a fork."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec import structs

from support.small_window import Heard, SmallRoom, calls, says
from trimtab.coding.choose import Fork, New, Resume
from trimtab.coding.instructions import standing
from trimtab.coding.session import Session
from trimtab.context.actions import Action
from trimtab.context.cycle.notice import HEAD
from trimtab.context.stores.memory_log import Memorize
from trimtab.context.tools.indexes import MEMORIES_HEAD, MEMOS_HEAD
from trimtab.types.messages import Text, ToolResult, User
from trimtab.types.models import CacheRules, ModelRequest

pytestmark = pytest.mark.anyio
BASH = ("bash", {"command": "true"})
MEMO = ("memo", {"action": "write", "key": "ledger", "summary": "who owns balances", "content": "the ledger. " * 40})


def notes(request: ModelRequest) -> list[str]:
    """What the request says at its tail."""
    users = (m for m in request.messages if isinstance(m, User) and m.origin == "note")
    return [part.text for m in users for part in m.parts if isinstance(part, Text)]


def cached(session: Session) -> None:
    """Let the session's model be one whose provider has a cache."""
    info = structs.replace(session.model, cache=CacheRules("prefix", 256, 64, ttl_s=300))
    session.agent.model = info
    session.context.engine.use_model(info)


def on(monkeypatch: pytest.MonkeyPatch, day: int) -> None:
    monkeypatch.setattr(standing, "now", lambda: datetime(2026, 3, day, tzinfo=UTC))


async def test_at_midnight_the_head_stays_and_the_new_date_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = Heard([says("one"), says("two"), says("three")])
    on(monkeypatch, 2)
    async with SmallRoom.at(tmp_path, 32_000).open(provider=provider) as session:
        cached(session)
        await session.prompt("look " * 2_000)
        on(monkeypatch, 3)
        await session.prompt("go on")
        await session.prompt("and on")
    first, second, third = provider.requests
    assert "Date: 2026-03-02" in first.system
    assert (second.system, third.system) == (first.system, first.system)
    assert (len(notes(second)), notes(third)) == (1, notes(second))
    assert notes(second)[0].startswith(HEAD)
    assert "Date: 2026-03-03" in notes(second)[0]


async def test_a_session_that_goes_on_another_day_has_the_new_date_at_its_head(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = SmallRoom.at(tmp_path, 32_000)
    on(monkeypatch, 2)
    async with room.open(says("one"), says("two")) as session:
        cached(session)
        await session.prompt("look " * 2_000)
        on(monkeypatch, 3)
        await session.prompt("go on")
    assert len(room.edits()) == 1
    again = Heard([says("three")])
    async with room.open(provider=again, choice=Resume(str(room.file))) as session:
        await session.prompt("and on")
    (request,) = again.requests
    assert "Date: 2026-03-03" in request.system
    assert notes(request) == []


async def test_a_tool_that_is_turned_off_stays_listed_and_is_refused_when_it_is_called(tmp_path: Path) -> None:
    provider = Heard([calls(BASH), says("one"), calls(BASH), says("two")])
    async with SmallRoom.at(tmp_path, 32_000).open(provider=provider) as session:
        cached(session)
        await session.prompt("look " * 2_000)
        session.agent.tools = tuple(t for t in session.agent.tools if t.spec.name != "bash")
        await session.prompt("go on")
        view = session.log.view()
    assert [t.name for t in provider.requests[-1].tools] == [t.name for t in provider.requests[0].tools]
    assert "a call of one is refused: bash." in notes(provider.requests[-1])[0]
    done, refused = [m for m in view if isinstance(m, ToolResult)]
    assert (done.is_error, refused.is_error) == (False, True)
    assert refused.text.startswith(
        "Not run: the tool 'bash' is turned off now, though it is still listed. Tools that are on: read, "
    )


async def test_what_earlier_sessions_kept_is_told_at_the_start_to_a_model_that_can_load_it(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, 32_000, tools="pilot")
    async with room.open(says("one")) as session:
        session.context.host.memories.keep(Memorize(key="build", summary="make check"))
    provider = Heard([says("one"), says("two")])
    room.file.unlink(missing_ok=True)  # nothing was said in it
    async with room.open(provider=provider) as session:
        await session.prompt("hi")
        await session.prompt("ho")
    assert [notes(request) for request in provider.requests] == [[f"{MEMORIES_HEAD}\nbuild: make check"]] * 2
    (entry,) = room.edits()
    assert (entry["author"], entry["edit"]["label"]) == ("policy:memory", "memories")
    again = Heard([says("three")])
    async with room.open(provider=again, choice=Resume(str(room.file))) as session:
        await session.prompt("hu")
    assert len(notes(again.requests[0])) == 1


async def test_a_model_that_can_load_no_memory_is_told_of_none(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, 32_000)
    provider = Heard([says("one")])
    async with room.open(provider=provider) as session:
        session.context.host.memories.keep(Memorize(key="build", summary="make check"))
        await session.prompt("hi")
    assert notes(provider.requests[0]) == []


async def test_a_memory_file_that_can_not_be_read_stops_no_session(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, 32_000, tools="pilot")
    provider = Heard([says("one")])
    async with room.open(provider=provider) as session:
        file = session.context.host.memories.path
        assert file is not None
        file.parent.mkdir(parents=True, exist_ok=True)
        file.mkdir()
        turn = await session.prompt("hi")
    assert turn.reason == "stop"


async def test_a_fork_still_reads_its_parents_memos_and_learns_of_them_after_a_compaction(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, 32_000)
    lines = [calls(MEMO), *(calls(("read", {"path": f"{letter}.txt"})) for letter in "abc"), says("done")]
    async with room.open(*lines, choice=New()) as session:
        await session.prompt("work")
        parent = session.log.header.id
    provider = Heard([calls(("memo", {"action": "read", "key": "ledger"})), says("done")])
    async with room.open(provider=provider, choice=Fork(parent)) as session:
        context = session.context
        wish = Action("compact", params={"mode": "digest", "keep_tokens": 500})
        await context.transcript.run(
            context.engine.act(session.log.snapshot(), context.request(), [wish], author="user")
        )
        await session.prompt("what do we know?")
        answered = [m for m in session.log.view() if isinstance(m, ToolResult)][-1]
    assert notes(provider.requests[0]) == [f"{MEMOS_HEAD}\nledger (480 bytes): who owns balances"]
    assert answered.text.startswith("[memo 'ledger'")
