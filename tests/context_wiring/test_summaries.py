"""Who writes a session's summaries, and what stands behind them from state."""

from pathlib import Path

import pytest

from support.small_window import Heard, Json, SmallRoom, calls, reads, says
from trimtab.agent.ports import Provider
from trimtab.coding.context.state import reattached, state_of
from trimtab.coding.context.summariser import Summarisers
from trimtab.context.asks import Failed, Summarize, Summary
from trimtab.context.summary.reattach import ReadFile
from trimtab.types.errors import ConfigError, UnknownModel
from trimtab.types.messages import user
from trimtab.types.models import ModelInfo

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
    state = state_of(view)
    assert state.todo == "[x] look\n[>] repair"
    assert state.files == (ReadFile("a.txt", changed=True), ReadFile("b.txt"))
    text = reattached(view, room=1_000, count=len)
    assert "a.txt (changed since: read it again)" in text
    assert "repair" not in text, "what a message shows is not said twice"
    assert reattached(view, room=5, count=len) == ""
