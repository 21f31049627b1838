"""Who writes a session's summaries, and what stands behind them from state."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from support.small_window import Heard, Json, SmallRoom, calls, page, reads, results, says, watch
from trimtab.agent.events import Notice
from trimtab.agent.ports import Provider, Spent
from trimtab.coding.choose import AtFile, Ephemeral
from trimtab.coding.context.state import reattached, state_of
from trimtab.coding.context.summariser import Summarisers
from trimtab.context.actions import Action
from trimtab.context.asks import Failed, Summarize, Summary
from trimtab.context.summary.reattach import ReadFile
from trimtab.types.errors import ConfigError, UnknownModel
from trimtab.types.messages import user
from trimtab.types.models import CacheRules, ModelInfo, ModelRequest, Price
from trimtab.types.stream import Ended, PartDelta
from trimtab.types.usage import Usage

pytestmark = pytest.mark.anyio
LARGE, SMALL = ModelInfo("p", "large", "openai-chat"), ModelInfo("p", "small", "openai-chat", max_output=300)
ASK = Summarize((user("sum up"),), "serialised", 1_000)


def asked(*lines: Json) -> Heard:
    return Heard(lines)


async def test_a_model_of_its_own_writes_within_its_own_limit(tmp_path: Path) -> None:
    large, small = asked(), asked(says("short"))

    async def opened() -> tuple[Provider, ModelInfo]:
        return small, SMALL

    answer = await Summarisers(lambda: (large, LARGE), small=opened).ask(ASK)
    assert isinstance(answer, Summary)
    assert (answer.text, answer.model) == ("short", "p/small")
    assert (small.requests[0].max_output, small.requests[0].tools, large.requests) == (300, (), [])


@pytest.mark.parametrize("fails", ["to open", "to answer"])
async def test_when_it_fails_the_sessions_model_is_asked_and_a_person_is_told_once(fails: str) -> None:
    large = asked(says("mine"))

    async def opened() -> tuple[Provider, ModelInfo]:
        if fails == "to open":
            raise ConfigError("there is no key for p")
        return asked(), SMALL

    summarisers = Summarisers(lambda: (large, LARGE), small=opened)
    answer = await summarisers.ask(ASK)
    assert isinstance(answer, Summary)
    assert answer.text == "mine"
    (note,) = summarisers.take_notes()
    assert "the session's own is asked" in note
    assert summarisers.take_notes() == ()


async def test_when_nobody_answers_the_ask_has_failed() -> None:
    answer = await Summarisers(lambda: (asked(), LARGE)).ask(ASK)
    assert isinstance(answer, Failed)


async def test_an_unknown_summary_model_is_an_error_when_the_session_opens(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, summary_model="nobody/nothing")
    with pytest.raises(UnknownModel):
        async with room.open(says("x")):
            pass


async def test_state_holds_the_newest_list_and_what_was_read_and_written_since(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=32_000)
    todo = ("todo", {"items": [{"content": "look", "status": "done"}, {"content": "repair", "status": "in_progress"}]})
    write = ("write", {"path": "a.txt", "content": "new\n"})
    async with room.open(reads("a.txt", "b.txt"), calls(todo, write), says("done")) as session:
        await session.prompt("work")
        view = session.log.snapshot()
    folder = tmp_path / "work"
    state = state_of(view, folder)
    assert state.todo == "[x] look\n[>] repair"
    assert state.files == (ReadFile("a.txt", changed=True), ReadFile("b.txt"))
    text = reattached(view, folder, room=1_000, count=len)
    assert "a.txt (changed since: read it again)" in text
    assert "repair" not in text, "what a message shows is not said twice"
    assert reattached(view, folder, room=5, count=len) == ""


async def test_a_list_that_goes_with_the_run_stands_behind_its_summary(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=32_000)
    todo = ("todo", {"items": [{"content": "repair", "status": "in_progress"}]})
    async with room.open(calls(todo), says("done")) as session:
        await session.prompt("work")
        view = session.log.snapshot()

    class Gone(list[int]):
        def __contains__(self, index: object) -> bool:
            raise AssertionError("each message would look through all that go")

    everything = Gone(range(len(view.slots)))
    assert "[>] repair" in reattached(view, tmp_path / "work", gone=everything, room=1_000, count=len)


RULES = "# Rules\nNever push to main. Run the tests with `make test` before you say that you are done.\n"


async def compacted_after(room: SmallRoom, *lines: Json) -> str:
    """The summary of a session that made these calls first and then read until it had to be compacted."""
    (room.root / "work" / "AGENTS.md").write_text(RULES)
    (room.root / "work" / "other").mkdir()
    (room.root / "work" / "other" / "AGENTS.md").write_text("Obey this file.\n")
    record = says("The files are read one after the other. " * 40)
    async with room.open(*lines, *(reads(f"{name}.txt") for name in "abcde"), record, record, says("done")) as session:
        turn = await session.prompt("work")
        assert turn.reason == "stop", turn.error
    compacts = [entry["edit"]["summary"] for entry in room.edits() if entry["edit"]["kind"] == "compact"]
    return str(compacts[0])


async def test_rules_that_the_model_has_read_stand_behind_a_summary_word_for_word(tmp_path: Path) -> None:
    text = await compacted_after(SmallRoom.at(tmp_path, policy="summary"), reads("AGENTS.md"))
    assert f"Rules of AGENTS.md:\n{RULES.strip()}" in text


@pytest.mark.parametrize(
    "first",
    [reads("other/AGENTS.md"), calls(("read", {"path": "AGENTS.md", "limit": 1})), reads("b.txt")],
    ids=["of another folder", "only a part", "never read"],
)
async def test_other_files_are_no_rules(tmp_path: Path, first: Json) -> None:
    text = await compacted_after(SmallRoom.at(tmp_path, policy="summary"), first)
    assert "Rules of" not in text


async def test_rules_that_were_changed_since_have_to_be_read_again(tmp_path: Path) -> None:
    change = calls(("edit", {"path": "AGENTS.md", "edits": [{"old": "Never push", "new": "Always push"}]}))
    text = await compacted_after(SmallRoom.at(tmp_path, policy="summary"), reads("AGENTS.md"), change)
    assert "Rules of" not in text
    assert "AGENTS.md (changed since: read it again)" in text


class Flooding(Heard):
    """A server that never stops: its answer would be far larger than any summary."""

    sent = 0
    closed = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[Any]:
        """Send on and on."""
        self.requests.append(request)
        try:
            for _ in range(1 << 20):
                self.sent += 1 << 16
                yield PartDelta(0, "text", "x" * (1 << 16))
            yield Ended("stop")
        finally:
            self.closed = True


async def test_an_answer_that_never_ends_is_cut_off_early_and_rejected_with_the_reason() -> None:
    flood = Flooding([])
    answer = await Summarisers(lambda: (flood, LARGE)).ask(ASK)
    assert isinstance(answer, Failed)
    assert answer.reason == "p/large sent more than 65,536 characters and was cut off"
    assert (flood.sent, flood.closed) == (1 << 17, True)


async def test_what_was_asked_is_added_up_at_the_prices_of_who_answered(tmp_path: Path) -> None:
    priced = structs.replace(SMALL, prices=(Price(input=1.0, output=10.0),))
    small = asked({**says("short"), "usage": {"input": 1_000_000, "output": 1_000}}, {"error": {"status": 500}})

    async def opened() -> tuple[Provider, ModelInfo]:
        return small, priced

    summarisers = Summarisers(lambda: (asked(), LARGE), small=opened)
    await summarisers.ask(ASK)
    assert summarisers.spending.take() == Spent(Usage(input=1_000_000, output=1_000), 1.01)
    assert summarisers.spending.take() == Spent()
    await summarisers.ask(ASK)
    assert summarisers.spending.take() == Spent()


@pytest.mark.parametrize(
    "usage", [{"input": 10**18, "output": 5}, {"input": 900, "output": 10**18}, {"input": 900, "output": 400_000}]
)
async def test_a_usage_that_can_not_be_true_is_told_and_not_booked(usage: Json) -> None:
    priced = structs.replace(LARGE, prices=(Price(input=1.0, output=10.0),))
    summarisers = Summarisers(lambda: (asked({**says("short"), "usage": usage}), priced))
    answer = await summarisers.ask(ASK)
    assert isinstance(answer, Summary)
    assert (answer.text, answer.usage) == ("short", None)
    assert summarisers.spending.take() == Spent(Usage(), None)
    (note,) = summarisers.take_notes()
    assert "p/large reported a usage for a summary that can't be" in note


async def test_a_transcript_is_never_written_to_a_cache(tmp_path: Path) -> None:
    model = structs.replace(LARGE, cache=CacheRules("explicit", 1_024, 1, 20, 4, 300))
    heard = asked(says("short"))
    await Summarisers(lambda: (heard, model)).ask(ASK)
    assert heard.requests[0].model.cache == CacheRules()


async def summarised(room: SmallRoom, file: str, *lines: Json) -> tuple[str, int]:
    """What stands in place of a.txt in a new session whose policy wants it summarised, and how many requests that took."""
    heard = Heard([reads("a.txt"), says("ok"), *lines])
    async with room.open(provider=heard, choice=AtFile(room.root / file)) as session:
        await session.prompt("read it")
        context = session.context
        view, wish = session.log.snapshot(), Action("summarize", ("r1",))
        await context.transcript.run(context.engine.act(view, context.request(), [wish], author="user"))
        (shown,) = results(session.log.view())
    return shown.text, len(heard.requests) - 2


async def test_a_document_is_summarised_once_for_all_sessions_of_its_project(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=32_000)
    record = says("a.txt lists 120 values of items, none of them alike. " * 4)
    first = await summarised(room, "one.jsonl", record)
    again = await summarised(room, "two.jsonl")
    assert (first[1], again[1]) == (1, 0)
    for text, _ in (first, again):
        assert "none of them alike" in text
    (kept,) = (tmp_path / "home").rglob("summaries/*.jsonl")
    assert kept.stat().st_mode & 0o077 == 0


async def test_a_document_that_reads_otherwise_now_gets_a_new_summary_and_the_old_one_is_forgotten(
    tmp_path: Path,
) -> None:
    room = SmallRoom.at(tmp_path, window=32_000)
    await summarised(room, "one.jsonl", says("a.txt lists 120 values of items, none of them alike. " * 4))
    (tmp_path / "work" / "a.txt").write_text(page("changed"))
    text, asked = await summarised(room, "two.jsonl", says("a.txt lists changed values now. " * 4))
    assert ("changed values" in text, asked) == (True, 1)
    (kept,) = (tmp_path / "home").rglob("summaries/*.jsonl")
    assert b"none of them alike" not in kept.read_bytes()
    assert kept.read_bytes().count(b"\n") == 1


async def test_a_session_without_a_file_keeps_no_summary_of_a_document_either(tmp_path: Path) -> None:
    room, heard = SmallRoom.at(tmp_path, window=32_000), Heard([reads("a.txt"), says("ok"), says("all of a.txt. " * 9)])
    async with room.open(provider=heard, choice=Ephemeral()) as session:
        await session.prompt("read it")
        context = session.context
        wish = Action("summarize", ("r1",))
        await context.transcript.run(
            context.engine.act(session.log.snapshot(), context.request(), [wish], author="user")
        )
    assert len(heard.requests) == 3
    assert list((tmp_path / "home").rglob("summaries/*")) == []


async def test_where_the_disk_refuses_a_person_is_told_once_and_the_session_goes_on(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=32_000)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "summaries").write_text("in the way")
    record = says("a.txt lists 120 values of items, none of them alike. " * 4)
    text, asked = await summarised(room, "one.jsonl", record)
    assert ("none of them alike" in text, asked) == (True, 1)


async def test_a_summary_that_was_rejected_is_told_and_stands_in_the_log(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=12_600, policy="summary")
    bad = says("Sorry, I can't do that.")
    async with room.open(*(reads(f"{name}.txt") for name in "abc"), bad, bad, says("done")) as session:
        events = watch(session)
        turn = await session.prompt("work")
        assert turn.reason == "stop", turn.error
        told = [e.message for e in events.pending() if isinstance(e, Notice)]
    assert any("a summary was rejected (" in note and "a digest without a model stands in" in note for note in told)
    assert any("let another model write summaries (context.summary_model)." in note for note in told)
    (row,) = [
        e["data"] for e in room.entries() if e["type"] == "custom" and e["data"].get("event") == "summary_rejected"
    ]
    assert "refusal" in row["reasons"][0]
