"""Hooks around a compaction: one may keep a summary from being written, and one hears what became of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.small_window import Heard, SmallRoom, reads, says
from trimtab.agent.events import Notice
from trimtab.coding.commands.compact import compact
from trimtab.context.actions import Action
from trimtab.types.errors import TrimtabError

pytestmark = pytest.mark.anyio
SUMMARY = "<summary>## Goal\nread\n## Done\nread all of it\n## Critical facts\nnone\n</summary>"


class Desk:
    """A desk that remembers."""

    def __init__(self, session: Any) -> None:
        self.session, self.told = session, []

    def tell(self, text: str) -> None:
        self.told.append(text)


@pytest.mark.parametrize("refuses", [True, False])
async def test_a_summary_may_be_refused_and_what_follows_is_told(tmp_path: Path, refuses: bool) -> None:
    room = SmallRoom.at(tmp_path, window=64_000)
    answer = "Deny('not now')" if refuses else "None"
    extensions = tmp_path / "home" / "extensions"
    extensions.mkdir(parents=True)
    (extensions / "watch.py").write_text(
        "from trimtab.extend import Deny\nAPI = 1\n"
        f"def before(told, here): return {answer}\n"
        "async def after(told, here): await here.tell(f'{told.author} {told.before_tokens > told.after_tokens}')\n"
        "def extend(api):\n    api.before_compaction(before)\n    api.after_compaction(after)\n"
    )
    provider = Heard([reads("a.txt"), reads("b.txt"), says("read"), says(SUMMARY), says(SUMMARY)])
    async with room.open(provider=provider) as session:
        watcher = session.feed.subscribe()
        await session.prompt("read them")
        asked = len(provider.requests)
        desk = Desk(session)
        await compact(desk, "")  # type: ignore[arg-type]
        assert (len(provider.requests) > asked) is not refuses
        notices = [event.message for event in watcher.pending() if isinstance(event, Notice)]
        assert "watch: user True" in notices
        assert ("watch: not now" in desk.told[0]) is refuses


def watching(tmp_path: Path, body: str, **context: object) -> SmallRoom:
    """A room whose extension answers before each compaction as `body` says, and keeps what it was told."""
    extensions = tmp_path / "home" / "extensions"
    extensions.mkdir(parents=True)
    (extensions / "watch.py").write_text(
        "import json\nfrom trimtab.extend import Cancel, Deny, Summary, Wishes\nAPI = 1\n"
        "def before(told, here):\n"
        f"    with open({str(tmp_path / 'told')!r}, 'a') as out:\n"
        "        out.write(json.dumps([told.trigger, told.by_model, told.ahead, told.tokens_before, told.room, "
        "told.replaces_tokens, len(told.text), told.instructions]) + '\\n')\n"
        f"    return {body}\n"
        "def extend(api):\n    api.before_compaction(before)\n"
    )
    return SmallRoom.at(tmp_path, **{"window": 64_000, **context})  # type: ignore[arg-type]


def told(tmp_path: Path) -> list[list[Any]]:
    """What the hook was told, call by call."""
    file = tmp_path / "told"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def compacted(room: SmallRoom) -> list[dict[str, Any]]:
    return [entry["edit"] for entry in room.edits() if entry["edit"]["kind"] == "compact"]


READS = (reads("a.txt"), reads("b.txt"), says("read"))


@pytest.mark.parametrize("wishes", ["", "keep the names"])
async def test_a_hook_is_told_who_asked_for_it_how_large_all_is_and_what_gives_way(tmp_path: Path, wishes: str) -> None:
    room = watching(tmp_path, "None")
    async with room.open(*READS, says(SUMMARY), says(SUMMARY)) as session:
        await session.prompt("read them")
        await compact(Desk(session), wishes)  # type: ignore[arg-type]
    ((trigger, by_model, ahead, before, most, replaces, text, said),) = told(tmp_path)
    assert (trigger, by_model, ahead, said) == ("manual", True, False, wishes)
    assert 0 < replaces < before < most < 64_000
    assert 0 < text <= 20_000


async def test_a_hook_cancels_what_a_person_asked_for_and_the_conversation_is_as_it_was(tmp_path: Path) -> None:
    room = watching(tmp_path, "Cancel('not \u202enow')")
    provider = Heard(READS)
    async with room.open(provider=provider) as session:
        await session.prompt("read them")
        with pytest.raises(TrimtabError, match="watch: not now"):
            await compact(Desk(session), "")  # type: ignore[arg-type]
    assert compacted(room) == []
    assert len(provider.requests) == 3


async def test_a_hook_gives_the_text_itself_and_no_model_is_asked(tmp_path: Path) -> None:
    room = watching(tmp_path, "Summary('All of it was \u202eread. password=hunter2secret')")
    provider = Heard(READS)
    async with room.open(provider=provider) as session:
        await session.prompt("read them")
        desk = Desk(session)
        await compact(desk, "")  # type: ignore[arg-type]
    (edit,) = compacted(room)
    assert "All of it was read." in edit["summary"]
    assert (edit["mode"], edit["meta"]["by"], len(provider.requests)) == ("given", "watch", 3)


async def test_a_text_that_is_no_smaller_is_told_and_the_model_is_asked(tmp_path: Path) -> None:
    room = watching(tmp_path, "Summary('word ' * 8_000)")
    async with room.open(*READS, says(SUMMARY), says(SUMMARY)) as session:
        await session.prompt("read them")
        await compact(Desk(session), "")  # type: ignore[arg-type]
    (edit,) = compacted(room)
    assert edit["mode"] != "given"
    assert any("the text of watch is not smaller" in why for why in edit["meta"]["rejected"])


async def test_wishes_of_a_hook_reach_whoever_writes_behind_those_of_the_person(tmp_path: Path) -> None:
    room = watching(tmp_path, "Wishes('name the ports')")
    provider = Heard([*READS, says(SUMMARY), says(SUMMARY)])
    async with room.open(provider=provider) as session:
        await session.prompt("read them")
        await compact(Desk(session), "keep the names")  # type: ignore[arg-type]
    asked = str(provider.requests[3].messages)
    assert asked.index("keep the names") < asked.index("name the ports")


@pytest.mark.parametrize("answer", ["Cancel('never')", "Deny('never')", "Summary('x' * 60_000)", "1/0"])
async def test_no_answer_of_a_hook_ends_a_turn_that_has_to_get_smaller(tmp_path: Path, answer: str) -> None:
    room = watching(tmp_path, answer, window=9_000)
    lines = [reads(f"{letter}.txt") for letter in "abcdef"]
    async with room.open(*lines, says("done")) as session:
        turn = await session.prompt("read them")
    assert turn.reason == "stop"


async def test_a_digest_without_a_model_is_asked_about_too(tmp_path: Path) -> None:
    room = watching(tmp_path, "None", policy="summary", prepare_summaries=False)
    async with room.open(*READS) as session:
        await session.prompt("read them")
        context = session.context
        view = context.transcript.log.snapshot()
        wish = Action("compact", params={"mode": "digest", "keep_tokens": 500})
        await context.transcript.run(context.engine.act(view, context.request(), [wish], author="policy:x"))
    assert [row[:3] for row in told(tmp_path)] == [["auto", False, False]]
    assert compacted(room)[0]["mode"] == "digest"
