"""A summary that is written beside the conversation is there when the compaction comes; nobody waits, and nothing is paid twice."""

from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import TaskGroup

from support.small_window import Heard, Json, SmallRoom, calls, page, reads, says, watch
from trimtab.agent.events import Notice
from trimtab.coding.context.ahead import Background
from trimtab.coding.context.around import NobodyAround
from trimtab.coding.session import Session
from trimtab.context.asks import Answer, Consent, Consented
from trimtab.providers.scripted import ScriptedProvider
from trimtab.types.messages import Text
from trimtab.types.models import ModelRequest

pytestmark = pytest.mark.anyio
FILES = [f"f{n}.txt" for n in range(8)]
READS = [reads(name) for name in FILES]
SOON, FULL = READS[:5], READS[:7]
"""Behind the first, a compaction is near; behind the second, one has happened."""
RECORD = "The files are being read one by one. " + " ".join(f"item_{n} is noted." for n in range(120))


class Writing(Heard):
    """A model whose summaries come from a script of their own, and only once they may: `gate`."""

    def __init__(self, lines: Iterable[Json], *summaries: Json, held: bool = False) -> None:
        super().__init__(lines)
        self.asked: list[ModelRequest] = []
        self.finished = 0
        self.gate, self.written = anyio.Event(), anyio.Event()
        self.beside: list[Background] = []
        self._summaries = ScriptedProvider(summaries)
        if not held:
            self.gate.set()

    async def stream(self, request: ModelRequest) -> AsyncIterator[Any]:
        """Answer from one script or the other."""
        if not asks_for_summary(request):
            await self._thinking()
            async for event in super().stream(request):
                yield event
            return
        self.asked.append(request)
        await self.gate.wait()
        async for event in self._summaries.stream(request):
            yield event
        self.finished += 1
        self.written.set()

    async def _thinking(self) -> None:
        """Take as long as what was begun beside needs until it is over, or waits for its summary; a real model takes longer."""
        for background in self.beside:
            while background._running and len(self.asked) == self.finished:
                await anyio.lowlevel.checkpoint()


def asks_for_summary(request: ModelRequest) -> bool:
    last = "".join(part.text for part in request.messages[-1].parts if isinstance(part, Text))
    return "`<analysis>`" in last or "<analysis>" in last


def room_at(root: Path, **context: object) -> SmallRoom:
    room = SmallRoom.at(root, window=32_000, policy="summary", **context)
    for name in FILES:
        (room.root / "work" / name).write_text(page(name, 130))
    return room


async def talked(session: Session, prompt: str, *, between_turns: bool = False) -> Any:
    """A turn in a task group that is lent for what is done beside it."""
    async with anyio.create_task_group() as group:
        lend(session, group, between_turns=between_turns)
        turn = await session.prompt(prompt)
        group.cancel_scope.cancel()
    return turn


def lend(session: Session, group: TaskGroup, *, between_turns: bool = False) -> None:
    session.work_beside(group.start_soon, between_turns=between_turns)
    provider = session.agent.provider
    assert isinstance(provider, Writing)
    provider.beside.append(session.context.transcript.background)


def compactions(room: SmallRoom) -> list[Json]:
    return [entry for entry in room.edits() if entry["edit"]["kind"] == "compact"]


async def test_a_summary_prepared_during_a_turn_is_what_the_compaction_shows_and_no_second_one_is_asked_for(
    tmp_path: Path,
) -> None:
    written = {**says(RECORD), "usage": {"input": 900, "output": 100}}
    room, provider = room_at(tmp_path), Writing([*FULL, says("done")], written)
    async with room.open(provider=provider) as session:
        turn = await talked(session, "read them")
    assert turn.reason == "stop", turn.error
    (entry,) = compactions(room)
    assert RECORD in entry["edit"]["summary"]
    assert entry["edit"]["meta"]["ahead"] is True
    assert (entry["edit"]["mode"] in ("in_place", "serialised"), len(provider.asked)) == (True, 1)
    assert entry["cost"]["model_tokens"] == 1_000


async def test_no_turn_waits_for_a_summary_that_is_being_prepared(tmp_path: Path) -> None:
    """It never comes, and as long as nothing has to be compacted every step goes on."""
    room, provider = room_at(tmp_path), Writing([*SOON, says("done")], says(RECORD), held=True)
    async with room.open(provider=provider) as session:
        turn = await talked(session, "read them")
    assert turn.reason == "stop", turn.error
    assert (len(provider.asked), provider.finished, compactions(room)) == (1, 0, [])


async def test_a_compaction_that_comes_meanwhile_waits_for_the_one_answer(tmp_path: Path) -> None:
    room, provider = room_at(tmp_path), Writing([*FULL, says("done")], says(RECORD), held=True)
    async with room.open(provider=provider) as session, anyio.create_task_group() as group:
        lend(session, group)
        transcript = session.context.transcript
        share, waited = transcript.background.share, []

        async def sharing(ask: Any) -> Any:
            waited.append(len(provider.requests))
            provider.gate.set()
            return await share(ask)

        transcript.background.share = sharing  # type: ignore[method-assign]
        turn = await session.prompt("read them")
        group.cancel_scope.cancel()
    assert turn.reason == "stop", turn.error
    assert len(provider.asked) == len(waited) == len(compactions(room)) == 1


async def test_what_changed_meanwhile_is_not_shown_by_its_old_summary(tmp_path: Path) -> None:
    """The model archives one of the results that the summary was made of."""
    archive = calls(("archive", {"action": "archive", "ids": ["r2"]}))
    new = [says(f"NEW. {RECORD}")] * 2
    room, provider = room_at(tmp_path), Writing([*SOON, archive, *READS[5:], says("done")], says("OLD."), *new)
    async with room.open(provider=provider) as session:
        await talked(session, "read them")
    (entry,) = compactions(room)
    assert "NEW." in entry["edit"]["summary"]


async def test_when_the_session_closes_nothing_is_left_running(tmp_path: Path) -> None:
    room, provider = room_at(tmp_path), Writing([*SOON, says("done")], says(RECORD), held=True)
    async with room.open(provider=provider) as session:
        await talked(session, "read them")
        assert session.context.transcript.background.begins_after(()) is False
        assert session.context.engine.manager.compactor.ahead is None
    assert provider.finished == 0


async def test_a_preparation_that_fails_is_a_note_once_and_never_an_error(tmp_path: Path) -> None:
    room, provider = room_at(tmp_path), Writing([*FULL, says("done")], {"error": {"status": 400, "body": {}}})
    async with room.open(provider=provider) as session:
        events = watch(session)
        turn = await talked(session, "read them")
        notes = [e.message for e in events.pending() if isinstance(e, Notice)]
    assert turn.reason == "stop", turn.error
    assert len([note for note in notes if "could be prepared in the background" in note]) == 1
    assert len([note for note in notes if "a digest without a model stands in" in note]) == 1
    assert {entry["edit"]["mode"] for entry in compactions(room)} == {"digest"}


async def test_after_the_last_answer_of_a_single_run_nothing_is_prepared_and_in_a_talk_it_is(tmp_path: Path) -> None:
    for between_turns, asked in ((False, 0), (True, 1)):
        root = tmp_path / str(between_turns)
        root.mkdir()
        room, provider = room_at(root), Writing([*READS[:4], says("word " * 1_500)], says(RECORD))
        async with room.open(provider=provider) as session, anyio.create_task_group() as group:
            lend(session, group, between_turns=between_turns)
            await session.prompt("read them")
            if asked:
                await provider.written.wait()
            group.cancel_scope.cancel()
        assert len(provider.asked) == asked


@pytest.mark.parametrize("policy", ["rules", "truncate", "none"])
async def test_where_no_model_would_write_it_nothing_is_prepared(tmp_path: Path, policy: str) -> None:
    room = room_at(tmp_path)
    room.context["policy"] = policy
    provider = Writing([*SOON, says("done")])
    async with room.open(provider=provider) as session:
        await talked(session, "read them")
    assert provider.asked == []


async def test_who_turns_it_off_has_nothing_prepared(tmp_path: Path) -> None:
    room = room_at(tmp_path, prepare_summaries=False)
    provider = Writing([*SOON, says("done")])
    async with room.open(provider=provider) as session:
        await talked(session, "read them")
    assert provider.asked == []


async def test_without_a_task_group_nothing_is_prepared_and_the_compaction_asks_itself(tmp_path: Path) -> None:
    room, provider = room_at(tmp_path), Writing([*FULL, says("done")], says(RECORD))
    async with room.open(provider=provider) as session:
        turn = await session.prompt("read them")
    assert turn.reason == "stop", turn.error
    (entry,) = compactions(room)
    assert "ahead" not in entry["edit"]["meta"]
    assert len(provider.asked) == 1


async def test_what_summaries_took_is_in_the_usage_of_the_turn(tmp_path: Path) -> None:
    room = room_at(tmp_path)
    spent = {"input": 1_111, "output": 222}
    provider = Writing([*FULL, says("done")], {**says(RECORD), "usage": spent})
    async with room.open(provider=provider) as session:
        turn = await session.prompt("read them")
        answers = [m.usage for m in session.log.view() if getattr(m, "usage", None)]
    said = sum(usage.input for usage in answers if usage is not None)
    assert turn.usage.input >= 1_111
    assert turn.usage.input - 1_111 >= said


class Guard(NobodyAround):
    """Hooks that answer so, and keep what they were asked; with a `gate` they take until it opens."""

    def __init__(self, answer: Consented, gate: anyio.Event | None = None) -> None:
        self.answer, self.gate, self.asked = answer, gate, list[Consent]()

    @property
    def hears_compactions(self) -> bool:
        return True

    async def before_compaction(self, model: str, ask: Consent) -> Consented:
        self.asked.append(ask)
        if self.gate is not None and ask.ahead:
            await self.gate.wait()
        return self.answer


@pytest.mark.parametrize(
    ("answer", "mode", "models"),
    [
        (Consented(), "", 1),
        (Consented(wishes="name the lighthouses"), "", 1),
        (Consented(no_model="it is secret"), "digest", 0),
        (Consented(text="All that was read is noted.", by="hook"), "given", 0),
    ],
)
async def test_hooks_are_asked_once_before_a_summary_is_prepared_and_what_they_say_holds_for_the_compaction(
    tmp_path: Path, answer: Consented, mode: str, models: int
) -> None:
    room, provider = room_at(tmp_path), Writing([*FULL, says("done")], says(RECORD))
    guard = Guard(answer)
    async with room.open(provider=provider) as session:
        session.context.transcript.around = guard
        await talked(session, "read them")
    (entry,) = compactions(room)
    assert [ask.ahead for ask in guard.asked] == [True]
    assert len(provider.asked) == models
    assert ("lighthouses" in str(provider.asked)) is bool(answer.wishes)
    assert entry["edit"]["mode"] in ([mode] if mode else ["in_place", "serialised"])
    if answer.no_model:
        assert entry["edit"]["meta"]["rejected"] == ["it is secret"]


async def test_a_compaction_that_comes_while_hooks_are_asked_about_preparing_it_waits_for_the_same_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = anyio.Event()
    guard = Guard(Consented(no_model="it is secret"), gate)
    room, provider = room_at(tmp_path), Writing([*FULL, says("done")], says(RECORD))
    shares = Background.share_consent

    async def share(self: Background) -> Answer | None:
        gate.set()
        return await shares(self)

    monkeypatch.setattr(Background, "share_consent", share)
    async with room.open(provider=provider) as session, anyio.create_task_group() as group:
        session.work_beside(group.start_soon)  # and nobody waits for what is done beside
        session.context.transcript.around = guard
        await session.prompt("read them")
        group.cancel_scope.cancel()
    (entry,) = compactions(room)
    assert (entry["edit"]["mode"], provider.asked) == ("digest", [])
    assert [ask.ahead for ask in guard.asked] == [True]
