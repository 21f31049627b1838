"""Who answers when the session's model can't be had."""

import random
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from support.cast import FAILS, Cast, Ears, fails, says
from trimtab.agent.events import MessageDelta
from trimtab.coding.choose import Resume
from trimtab.types.errors import ErrorInfo, UnknownModel
from trimtab.types.messages import Assistant
from trimtab.types.models import ModelRequest
from trimtab.types.stream import Ended, PartDelta, PartStarted, Retrying, StreamEvent

pytestmark = pytest.mark.anyio


async def test_the_next_model_of_the_role_answers_when_the_first_cannot_be_had(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[FAILS], b=[says("here")])
    async with cast.open(roles={"main": cast.refs("a", "b")}) as session:
        ears = Ears(session)
        assert session.model.ref == cast.ref("a")
        turn = await session.prompt("hi")
        assert (turn.reason, turn.text) == ("stop", "here")
        assert turn.message is not None
        assert (turn.message.provider, turn.message.model) == ("b", str(cast.scripts["b"]))
        assert session.model.ref == session.context.engine.model.ref == cast.ref("b")
    (told,) = [text for text in ears.notices if "in its place" in text]
    assert told == f"{cast.ref('a')} can't be had (server: Overloaded); {cast.ref('b')} answers in its place"
    (change,) = cast.entries("model_change")
    assert (change["provider"], change["instead_of"]) == ("b", cast.ref("a"))
    assert "Overloaded" in change["reason"]


async def test_an_answer_costs_what_the_model_takes_that_gave_it(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[FAILS], b=[says("here", tokens=1_000, output=0)])
    cast.rows["b"] = {"price_input": 5.0}
    async with cast.open(roles={"main": cast.refs("a", "b")}) as session:
        turn = await session.prompt("hi")
        assert turn.cost_usd == pytest.approx(0.005)
        assert [key for key in session.spent_by()] == [("main", cast.ref("b"))]


@pytest.mark.parametrize(
    ("status", "message", "goes_on"),
    [
        (500, "boom", True),
        (503, "unavailable", True),
        (529, "Overloaded", True),
        (429, "rate limit reached", True),
        (0, "connection reset", True),
        (401, "invalid api key", False),
        (403, "permission denied, invalid api key", False),
        (402, "insufficient balance", False),
        (400, "prompt is too long: 300000 tokens > 200000 maximum", False),
        (400, "bad request", False),
    ],
)
async def test_only_what_another_provider_does_not_share_is_taken_over(
    tmp_path: Path, status: int, message: str, goes_on: bool
) -> None:
    cast = Cast.at(tmp_path, a=[fails(status, message)] * 3, b=[says("here")])
    async with cast.open(roles={"main": cast.refs("a", "b")}) as session:
        turn = await session.prompt("hi")
    assert (turn.reason == "stop") is goes_on
    assert bool(cast.entries("model_change")) is goes_on


async def test_a_stream_that_has_given_text_is_never_taken_over(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[fails(529, "Overloaded", text="half an ans")], b=[says("here")])
    async with cast.open(roles={"main": cast.refs("a", "b")}) as session:
        turn = await session.prompt("hi")
    assert (turn.reason, turn.text) == ("error", "half an ans")
    assert cast.entries("model_change") == []


async def test_what_a_retry_made_void_does_not_keep_another_from_answering(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[], b=[says("whole")])

    class Breaking:
        async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
            yield PartStarted(0, "text")
            yield PartDelta(0, "text", "half")
            yield Retrying(1, 0.0, "server")
            yield Ended("error", error=ErrorInfo("server", "gone"))

    async with cast.open(roles={"main": cast.refs("a", "b")}) as session:
        session.agent.provider = Breaking()
        turn = await session.prompt("hi")
        shown = [m.text for m in session.log.view() if isinstance(m, Assistant)]
    assert (turn.text, shown) == ("whole", ["whole"])


async def test_one_whose_stream_ends_without_an_end_before_a_word_is_stood_in_for(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[], b=[says("whole")])

    class Mute:
        async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
            for event in ():
                yield event

    async with cast.open(roles={"main": cast.refs("a", "b")}) as session:
        session.agent.provider = Mute()
        assert (await session.prompt("hi")).text == "whole"


async def test_a_cancel_while_a_stand_in_answers_keeps_what_it_said(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[FAILS], b=[{**says("slow and slower"), "chunk": 4, "chunk_delay_ms": 200}])
    async with cast.open(roles={"main": cast.refs("a", "b")}) as session, anyio.create_task_group() as group:
        events = session.feed.subscribe()

        async def stop() -> None:
            async for event in events:
                if isinstance(event, MessageDelta):
                    session.cancel()
                    return

        group.start_soon(stop)
        turn = await session.prompt("hi")
        assert turn.reason == "cancelled"
        assert session.model.ref == cast.ref("b")
    (answer,) = [m["message"] for m in cast.entries("message") if m["message"]["role"] == "assistant"]
    assert (answer["provider"], answer["stop_reason"]) == ("b", "cancelled")


async def test_all_down_ends_the_turn_and_says_who_was_asked(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[FAILS], b=[FAILS], c=[FAILS])
    async with cast.open(roles={"main": cast.refs("a", "b", "c")}) as session:
        ears = Ears(session)
        turn = await session.prompt("hi")
    assert turn.reason == "error"
    assert [line for line in ears.notices if "can't be had" in line][-1].endswith("no other model of roles.main either")
    assert [m["message"]["role"] for m in cast.entries("message")] == ["user", "assistant"]


async def test_a_list_that_names_one_model_twice_asks_it_once(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[FAILS, says("too late")])
    async with cast.open(roles={"main": cast.refs("a", "a")}) as session:
        turn = await session.prompt("hi")
    assert turn.reason == "error"


async def test_the_own_model_is_asked_again_once_its_provider_has_rested(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[FAILS, says("back")], b=[says("one"), says("two")])
    async with cast.open(roles={"main": cast.refs("a", "b")}) as session:
        now = 0.0
        session.roles.circuits.now = lambda: now
        ears = Ears(session)
        assert (await session.prompt("1")).text == "one"
        now = 59.0
        assert (await session.prompt("2")).text == "two", "it rests: nobody waits for it"
        now = 61.0
        assert (await session.prompt("3")).text == "back"
        assert session.model.ref == session.context.engine.model.ref == cast.ref("a")
    assert f"{cast.ref('a')} is asked again" in ears.notices
    assert [(c["provider"], c.get("instead_of")) for c in cast.entries("model_change")] == [
        ("b", cast.ref("a")),
        ("a", None),
    ]


async def test_a_provider_rests_as_long_as_it_asks(tmp_path: Path) -> None:
    busy = fails(429, "rate limit")
    busy["error"]["retry_after_s"] = 300
    cast = Cast.at(tmp_path, a=[busy, says("back")], b=[says("one"), says("two")])
    async with cast.open(roles={"main": cast.refs("a", "b")}) as session:
        now = 0.0
        session.roles.circuits.now = lambda: now
        assert (await session.prompt("1")).text == "one"
        now = 299.0
        assert (await session.prompt("2")).text == "two"
        now = 301.0
        assert (await session.prompt("3")).text == "back"


async def test_it_is_taken_over_in_the_middle_of_a_turn_with_the_results_so_far(tmp_path: Path) -> None:
    calls = {"tool_calls": [{"name": "ls", "arguments": {}}], "usage": {"input": 10, "output": 1}}
    cast = Cast.at(tmp_path, a=[calls, FAILS], b=[{**says("done"), "expect": {"contains": ["a-file.txt"]}}])
    (tmp_path / "work" / "a-file.txt").write_text("x")
    async with cast.open(roles={"main": cast.refs("a", "b")}) as session:
        turn = await session.prompt("look")
        assert (turn.reason, turn.text, turn.steps) == ("stop", "done", 2)
        assert turn.usage.total == 11 + 110
        assert {key: one.usage.total for key, one in session.spent_by().items()} == {
            ("main", cast.ref("a")): 11,
            ("main", cast.ref("b")): 110,
        }


async def test_a_session_that_is_resumed_goes_on_with_its_own_model_not_with_the_stand_in(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[FAILS], b=[says("here")])
    roles = {"main": cast.refs("a", "b")}
    async with cast.open(roles=roles) as session:
        await session.prompt("hi")
    async with cast.open(Resume(str(tmp_path / "session.jsonl")), roles=roles) as session:
        assert session.model.ref == cast.ref("a")


async def test_a_window_that_cannot_hold_what_has_to_stay_is_passed_over(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[FAILS], b=[says("never")], c=[says("here")])
    cast.rows["b"] = {"context_window": 3_000, "max_output": 500}
    async with cast.open(roles={"main": cast.refs("a", "b", "c")}) as session:
        ears = Ears(session)
        turn = await session.prompt("word " * 4_000)
    assert turn.text == "here"
    assert any(text.startswith(f"{cast.ref('b')} can't stand in") and "3,000" in text for text in ears.notices)


@pytest.mark.parametrize("window", range(2_000, 7_000, 500))
async def test_whatever_its_window_one_that_takes_over_can_hold_the_request(tmp_path: Path, window: int) -> None:
    cast = Cast.at(tmp_path, a=[FAILS], b=[says("here")], c=[says("at last")])
    cast.rows["b"] = {"context_window": window, "max_output": 500}
    async with cast.open(roles={"main": cast.refs("a", "b", "c")}) as session:
        turn = await session.prompt("hi")
    assert turn.reason == "stop", turn.error
    assert turn.text in ("here", "at last")


async def test_a_smaller_window_makes_the_engine_manage_for_it(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[FAILS], b=[says("here")])
    cast.rows["b"] = {"context_window": 30_000, "max_output": 2_000}
    async with cast.open(roles={"main": cast.refs("a", "b")}) as session:
        await session.prompt("hi")
        assert session.context.engine.budget.window == 30_000


async def test_one_without_a_price_does_not_stand_in_where_money_is_limited(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[FAILS], b=[says("never")], c=[says("here")])
    cast.rows["b"] = {"priced": False}
    async with cast.open(roles={"main": cast.refs("a", "b", "c")}, max_cost_usd=1.0) as session:
        assert (await session.prompt("hi")).text == "here"


async def test_weights_draw_among_those_that_can_be_had_by_the_seed(tmp_path: Path) -> None:
    async def drawn(seed: int) -> str:
        root = tmp_path / str(seed)
        root.mkdir()
        cast = Cast.at(root, a=[FAILS], b=[says("b")], c=[says("c")])
        main = [cast.ref("a"), {"model": cast.ref("b"), "weight": 1}, {"model": cast.ref("c"), "weight": 3}]
        async with cast.open(roles={"main": main}) as session:
            session.roles.random = random.Random(seed).random
            return (await session.prompt("hi")).text

    first = [await drawn(seed) for seed in range(8)]
    assert set(first) == {"b", "c"}
    wanted = ["b" if random.Random(seed).random() * 4 < 1 else "c" for seed in range(8)]
    assert first == wanted


async def test_a_model_that_the_person_chose_has_no_stand_in_unless_it_is_one_of_them(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[says("never")], b=[says("never")], c=[FAILS])
    async with cast.open(roles={"main": cast.refs("a", "b")}) as session:
        await session.set_model(cast.ref("c"))
        assert (await session.prompt("hi")).reason == "error"


async def test_what_the_person_chose_meanwhile_takes_the_request_that_failed(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[FAILS], b=[says("never")], c=[says("chosen")])
    async with cast.open(roles={"main": cast.refs("a", "b")}) as session:
        provider = session.agent.provider

        class Meanwhile:
            async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
                await session.set_model(cast.ref("c"))
                async for event in provider.stream(request):
                    yield event

        session.agent.provider = Meanwhile()
        assert (await session.prompt("hi")).text == "chosen"
        assert session.context.engine.model.ref == cast.ref("c")
        assert session.choices.standby.home is None


async def test_an_unknown_model_in_a_role_is_said_before_anything_runs(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[says("hi")])
    with pytest.raises(UnknownModel, match=r"roles\.main: no provider is called 'nobody'"):
        async with cast.open(roles={"main": [cast.ref("a"), "nobody/nothing"]}):
            pass


async def test_who_has_no_key_is_said_at_the_start_and_passed_over(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[FAILS], b=[says("here")])
    main = [cast.ref("a"), "anthropic/claude-sonnet-4-5", cast.ref("b")]
    async with cast.open(roles={"main": main}) as session:
        ears = Ears(session)
        await session.announce()
        assert (await session.prompt("hi")).text == "here"
    assert any("can't be asked, there is no key for anthropic" in text for text in ears.notices)
    assert any(text.startswith("anthropic/claude-sonnet-4-5 can't stand in") for text in ears.notices)


async def test_the_setting_model_says_which_and_a_role_without_it_is_told(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[], b=[], c=[])
    async with cast.open(model=cast.ref("c"), roles={"main": cast.refs("a", "b")}) as session:
        ears = Ears(session)
        await session.announce()
        assert session.model.ref == cast.ref("c")
    assert any("isn't one of roles.main" in text for text in ears.notices)


async def test_what_a_failed_request_took_is_counted_with_its_own_model(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[fails(529, "Overloaded", usage={"input": 5, "output": 0})], b=[says("here")])
    async with cast.open(roles={"main": cast.refs("a", "b")}) as session:
        turn = await session.prompt("hi")
        assert session.spent.usage.total == turn.usage.total == 115
        assert session.spent_by()[("main", cast.ref("a"))].usage.total == 5
