"""What users of other agents reported about triggers and loops (A), and about the compaction step (B): none of it happens here.

Proven elsewhere: a floor that is too high (`engine/test_ladder`: what cannot go is asked first), a policy that is
switched off, usage from before an edit (all there); summaries that are cut, empty, larger, refused, tool calls, error pages, in the wrong language, and
a store or remote policy that fails (`engine/test_what_fails`); a repeated refusal (`engine/test_refusals`).
"""

from typing import Any

import pytest

from support.conversations import picture
from support.engine_session import Outside, Session, lines, model, shown_texts
from support.pictures import png
from trimtab.context.actions import Action
from trimtab.context.asks import Answer, Failed, Summarize
from trimtab.context.budget import Thresholds
from trimtab.context.editing.compacting import Compactor
from trimtab.context.engine import Engine
from trimtab.context.settings import EngineSettings
from trimtab.context.summary.job import Summariser
from trimtab.types.edits import Compact, edit_kind
from trimtab.types.messages import Image, Text, ToolResult, User
from trimtab.types.models import CacheRules, ModelInfo, Price
from trimtab.types.tools import Cut

TASK = "Fix the failing test in src/calc.py"


def session_of(info: ModelInfo, **more: object) -> Session:
    session = Session(Engine(info, session_id="s", **more))  # type: ignore[arg-type]
    session.say(TASK)
    return session


def test_the_size_is_looked_at_before_every_request_of_a_tool_loop() -> None:
    session = session_of(model(100_000))
    for number in range(30):
        prepared = session.prepare()
        assert prepared.tokens <= session.engine.budget.hard
        session.work(lines(8_000, seed=number))


def test_a_compaction_by_hand_leaves_nothing_for_the_automatic_one() -> None:
    session = session_of(model(20_000))
    for number in range(7):
        session.work(lines(1_500, seed=number))
    assert session.act(Action("compact")).done
    edits = len(session.edits)
    session.prepare()
    assert len(session.edits) == edits


def test_what_the_user_pasted_is_no_reason_to_stay_full() -> None:
    session = session_of(model(25_000))
    for number in range(5):
        session.say(f"Here is file {number}:\n" + lines(4_000, seed=number))
        session.answer(Text("I have read it."))
    session.say("Now go on")
    assert session.prepare().tokens <= session.engine.budget.target


def test_pictures_go_with_a_compaction() -> None:
    session = session_of(model(60_000, input=("text", "image")))
    for number in range(20):
        shot = picture(png(1_000, 800), width=1_000, height=800)
        session.work(ToolResult(f"c{number + 1}", "shot", (Text("a screen"), shot), is_error=False))
    session.say("go on")
    session.act(Action("compact", (), {"keep_tokens": 0}))
    messages = session.prepare().request.messages
    assert sum(isinstance(part, Image) for m in messages for part in m.parts) <= 1


def test_switching_to_a_smaller_model_compacts_once_and_goes_on() -> None:
    session = session_of(model(100_000))
    for number in range(20):
        session.prepare()
        session.work(lines(3_000, seed=number))
    session.engine.use_model(model(16_000))
    session.prepare()
    edits = len(session.edits)
    session.answer(Text("ok"))
    session.prepare()
    assert len(session.edits) == edits


def test_two_hundred_small_compactions_leave_no_pile_of_summaries() -> None:
    session = session_of(model(40_000))
    for number in range(60):
        (call,) = session.work(lines(700, seed=number))
        session.act(Action("compact", (call,), {"summary": f"step {number}: " + lines(120, seed=number)}))
        prepared = session.prepare()
        assert prepared.tokens <= session.engine.budget.soft


@pytest.mark.parametrize(
    "prices", [{}, {"prices": (Price(3, 15, 0.3, 3.75),), "cache": CacheRules("explicit", 1_024, 1, 20, 4, 300)}]
)
def test_a_cap_that_somebody_set_holds_in_a_window_of_a_million(prices: dict[str, Any]) -> None:
    settings = EngineSettings(Thresholds(soft_tokens=200_000))
    session = session_of(model(1_000_000, max_output=32_000, **prices), settings=settings)
    largest = 0
    for number in range(14):
        largest = max(largest, session.prepare().tokens)
        session.work(lines(30_000, seed=number))
    assert 100_000 < largest < 200_000
    assert len({entry.batch for entry in session.edits}) < 8


def test_talk_alone_keeps_to_such_a_cap_too() -> None:
    settings = EngineSettings(Thresholds(soft_tokens=20_000))
    session = session_of(model(1_000_000, max_output=32_000), settings=settings)
    sizes: list[int] = []
    for number in range(14):
        session.say(f"{number}: {lines(3_000, seed=number)}")
        sizes.append(session.prepare().tokens)
        session.answer(Text("noted"))
    assert 10_000 < max(sizes) < 20_000


@pytest.mark.parametrize("times", [1, 2, 40])
def test_one_result_larger_than_the_window_is_recorded_whole_and_shown_folded(times: int) -> None:
    session = session_of(model(8_000))
    text = lines(8_000 * times)
    session.work(text)
    prepared = session.prepare()
    assert prepared.tokens <= session.engine.budget.hard
    result = session.view.slots[2].base
    assert isinstance(result, ToolResult)
    assert (result.text, result.cut) == (text, None)
    assert [edit_kind(entry.edit) for entry in session.edits] == ["fold"]


def test_what_its_tool_kept_whole_is_cut_when_it_comes() -> None:
    session = session_of(model(8_000))
    cut = Cut("lines", ((1, 300),), 5_000, "/kept/output.txt")
    session.work(ToolResult("c1", "bash", (Text(lines(8_000)),), False, cut=cut))
    result = session.view.slots[2].base
    assert isinstance(result, ToolResult)
    assert session.engine.tally.message(result) <= session.engine.budget.room // 2
    assert result.cut is not None
    assert result.cut.where == "/kept/output.txt"
    session.prepare()
    assert session.edits == []


def test_a_single_line_of_ten_megabytes_needs_no_model_and_no_timeout() -> None:
    session = session_of(model(32_000))
    session.work("0123456789" * 1_000_000)
    assert session.prepare().tokens <= session.engine.budget.hard


def test_a_summary_never_asks_for_more_output_than_its_writer_has() -> None:
    asked: list[int] = []

    def summarize(ask: Summarize) -> Answer:
        asked.append(ask.max_output)
        return Failed("busy")

    compactor = Compactor(summariser=Summariser("p/small", window=32_000, max_output=1_000), wanted_tokens=250_000)
    session = session_of(model(100_000), compactor=lambda: compactor)
    session.outside = Outside(summarize=summarize)
    for number in range(10):
        session.work(lines(3_000, seed=number))
    session.act(Action("compact", (), {"keep_tokens": 0}))
    assert asked
    assert max(asked) <= 1_000


def test_what_is_attached_again_never_makes_a_compaction_larger_than_what_it_replaces() -> None:
    compactor = Compactor(reattached=lambda _view, _gone: "RULES OF THE PROJECT\n" + lines(20_000))
    session = session_of(model(100_000), compactor=lambda: compactor)
    for number in range(3):
        session.work(lines(1_000, seed=number))
    outcome = session.act(Action("compact", (), {"keep_tokens": 0}))
    assert not outcome.done
    assert "would not be much smaller" in outcome.refused[0]


@pytest.mark.parametrize("tokens", [0, 1_000])
def test_rules_are_attached_once_however_often_it_is_compacted(tokens: int) -> None:
    rules: list[str] = []

    def state(_view: object, _gone: object) -> str:
        rules.append(f"RULES OF THE PROJECT, as of compaction {len(rules)}: never push")
        return rules[-1]

    session = session_of(model(30_000), compactor=lambda: Compactor(reattached=state))
    for number in range(25):
        if number % 5 == 4:
            session.act(Action("compact", (), {"keep_tokens": tokens, "mode": "digest"}))
            text = shown_texts(session.prepare().request.messages)
            assert text.count("RULES OF THE PROJECT") == 1
            assert rules[-1] in text, "those of now, not those of then"
        session.work(lines(900, seed=number))
    assert len([entry for entry in session.edits if isinstance(entry.edit, Compact)]) == 5


def test_a_document_in_the_history_is_no_obstacle() -> None:
    session = session_of(model(20_000))
    session.log.append([User((Text("see the paper"), Image("application/pdf", "JVBERi0xLjQ=")))])
    for number in range(12):
        session.prepare()
        session.work(lines(1_500, seed=number))
    assert session.act(Action("compact", (), {"keep_tokens": 0})).failed == ""
    session.prepare()
