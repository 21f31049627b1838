"""The meter: our own bill of what goes through a provider."""

import anyio
import msgspec
import pytest

from support.talk import answer, call, result
from trimtab.context.counting.counter import Counter
from trimtab.lab.arms.playing import Conditions
from trimtab.lab.live.meter import Meter, Metered
from trimtab.lab.rewards.prices import REGIMES, Regime
from trimtab.providers.scripted import ScriptedProvider
from trimtab.types.messages import Message, user
from trimtab.types.models import ModelRequest
from trimtab.types.stream import Ended, StreamEvent
from trimtab.types.tools import ToolSpec
from trimtab.types.usage import Usage

UNCACHED, _, TENTH, WRITTEN = REGIMES
LONG = " ".join(f"word{n}" for n in range(2_000))
TOOL = ToolSpec("read", "Shows a file.", {"type": "object", "properties": {}})


def meter(regime: Regime = TENTH) -> Meter:
    """A new one."""
    model = Conditions(50_000, regime).played_as
    return Meter(model, Counter(model))


def request(
    one: Meter, *messages: Message, tools: tuple[ToolSpec, ...] = (TOOL,), marks: tuple[int, ...] = ()
) -> ModelRequest:
    """What is sent."""
    return ModelRequest(one.model, messages, system="You work.", tools=tools, cache_marks=marks)


def heard(provider: Metered, asked: ModelRequest) -> list[StreamEvent]:
    """All that comes of a request."""

    async def listen() -> list[StreamEvent]:
        return [event async for event in provider.stream(asked)]

    return anyio.run(listen)


def test_the_prompt_is_what_the_counter_says_and_without_a_cache_all_of_it_is_fresh():
    one = meter(UNCACHED)
    asked = request(one, user(LONG), answer("", call("c1", "read")), result("c1", LONG))
    usage = one.take(asked, answer("done"))
    assert usage.prompt == usage.input == pytest.approx(one.counter.request(asked), abs=4)
    assert usage.output == one.counter.message(answer("done"))


def test_what_was_sent_before_is_read_from_the_cache_and_what_changed_is_not():
    one = meter()
    first = one.take(request(one, user(LONG)), answer("a"))
    more = one.take(request(one, user(LONG), answer("a"), user("go on")), answer("b"))
    changed = one.take(request(one, user(LONG.replace("word0", "gone")), answer("a"), user("go on")), answer("b"))
    assert (first.cache_read, changed.cache_read) == (0, 0)
    assert first.prompt - TENTH.cache.granularity < more.cache_read <= first.prompt


def test_breakpoints_are_where_the_request_has_them():
    one = meter(WRITTEN)
    first = one.take(request(one, user(LONG), marks=(0,)), answer("a"))
    assert first.cache_write == first.prompt
    assert (
        one.take(request(one, user(LONG), answer("a"), user("go on"), marks=(2,)), answer("b")).cache_read
        == first.prompt
    )


def test_a_summary_behind_the_conversation_reads_its_cache_and_one_of_a_transcript_reads_none():
    one = meter()
    first = one.take(request(one, user(LONG)), answer("a"))
    asks = user("Write `<summary>`.", origin="command")
    beside = one.take(request(one, user(LONG), answer("a"), asks), answer("<summary>s</summary>"))
    transcript = user(f"<conversation>{LONG}</conversation> Write `<summary>`.", origin="command")
    apart = one.take(request(one, transcript, tools=()), answer("<summary>s</summary>"))
    again = one.take(request(one, user(LONG), answer("a"), user("go on")), answer("b"))
    assert beside.cache_read > 0.9 * first.prompt
    assert (apart.cache_read, apart.input) == (0, apart.prompt)
    assert again.cache_read > 0.9 * first.prompt, "the transcript didn't take its place"
    assert [paid.summary for paid in one.paid] == [False, True, True, False]


def test_a_provider_that_reports_nothing_reports_what_was_counted():
    one = meter()
    provider = Metered(ScriptedProvider([{"text": "fine"}]), one, reports=True)
    *_, ended = heard(provider, request(one, user("go")))
    assert isinstance(ended, Ended)
    assert ended.usage == one.paid[0].usage
    assert one.paid[0].reported is None


def test_what_a_provider_reports_is_kept_beside_our_count():
    one = meter()
    script = [{"text": "fine", "usage": {"input": 9, "output": 2}}]
    *_, ended = heard(Metered(ScriptedProvider(script), one), request(one, user("go")))
    assert isinstance(ended, Ended)
    assert ended.usage == one.paid[0].reported == Usage(9, 2)
    assert one.spent(TENTH.of(one.model).prices) == pytest.approx((9 * 3 + 2 * 15) / 1e6)
    assert one.paid[0].usage != Usage(9, 2)


def test_what_failed_before_a_word_came_is_not_paid():
    one = meter()
    events = heard(Metered(ScriptedProvider([{"error": {"status": 400, "body": "no"}}]), one), request(one, user("go")))
    assert isinstance(events[-1], Ended)
    assert one.paid == []


def test_once_all_is_spent_nothing_is_asked():
    one = meter()
    script = ScriptedProvider([{"text": "fine", "usage": {"input": 1_000_000}}, {"text": "more"}])
    provider = Metered(script, one, most_usd=2.5, prices=one.model.prices)
    heard(provider, request(one, user("go")))
    (ended,) = heard(provider, request(one, user("go")))
    assert isinstance(ended, Ended)
    assert ended.error is not None
    assert (ended.error.kind, ended.error.message) == ("quota", "$2.5 are spent")
    assert script.remaining == 1


def test_one_that_is_given_up_is_paid_as_far_as_it_came():
    one = meter()

    async def leave() -> None:
        stream = Metered(ScriptedProvider([{"text": "fine"}]), one).stream(request(one, user("go")))
        await anext(stream)
        await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]

    anyio.run(leave)
    assert len(one.paid) == 1
    assert msgspec.structs.asdict(one.paid[0].usage)["output"] > 0
