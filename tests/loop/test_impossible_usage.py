"""A server may report any usage. One that can't be true is told to the person, and counts, costs and teaches nothing."""

import pytest
from msgspec import structs

from support.agent_fakes import Script, agent_of, ends, says
from trimtab.agent.events import Notice
from trimtab.types.stream import Ended
from trimtab.types.usage import Usage, why_impossible

pytestmark = pytest.mark.anyio
FITS = {"window": 100_000, "most_output": 1_000, "heard": 50}


@pytest.mark.parametrize(
    ("usage", "why"),
    [
        (Usage(input=10**18), "tokens of input"),
        (Usage(cache_read=4_000_001), "tokens of input"),
        (Usage(output=10**18), "tokens of output"),
        (Usage(output=200_001), "tokens of output"),
        (Usage(output=10, reasoning=9_999_999), "tokens of output"),
        (Usage(input=-1), "no whole numbers"),
        (Usage(input=float("nan")), "no whole numbers"),  # type: ignore[arg-type]
        (Usage(output="12"), "no whole numbers"),  # type: ignore[arg-type]
        (Usage(cache_write=1, cache_write_1h=10**18), "written for an hour"),
    ],
)
def test_what_can_not_be_true_is_known_by_its_reason(usage, why):
    assert why in why_impossible(usage, **FITS)


@pytest.mark.parametrize(
    "usage",
    [
        Usage(),
        Usage(90_000, 1_000, 9_000, 500, 500, 800),
        Usage(input=400_000),
        Usage(output=150_000),
    ],
    ids=["nothing", "full", "a larger window than was configured", "thoughts that nobody heard"],
)
def test_what_can_be_true_is_taken(usage):
    assert why_impossible(usage, **FITS) == ""


def test_an_answer_that_was_heard_may_be_longer_than_was_asked_for():
    assert why_impossible(Usage(output=390_000), window=100_000, most_output=10, heard=100_000) == ""


@pytest.mark.parametrize("output", [10**18, -5, 10**40])
async def test_the_turn_goes_on_and_books_nothing(output):
    script = Script([*says("ok"), Ended("stop", usage=Usage(input=10, output=output))])
    agent, feed = agent_of(script)
    agent.model = structs.replace(agent.model, api="openai-chat")
    turn = await agent.prompt("go")
    assert (turn.reason, turn.text, turn.usage) == ("stop", "ok", Usage())
    assert agent.messages[-1].usage is None
    (notice,) = feed.of(Notice)
    assert "reported a usage that can't be" in notice.message


async def test_a_script_may_say_what_it_likes():
    script = Script([*says("ok"), Ended("stop", usage=Usage(output=10**9))])
    agent, feed = agent_of(script)
    assert ((await agent.prompt("go")).usage, feed.of(Notice)) == (Usage(output=10**9), [])


async def test_a_usage_that_can_be_true_is_booked_as_ever():
    agent, feed = agent_of(Script([*says("ok"), *ends()]))
    usual = structs.replace(ends()[-1], usage=Usage(100, 7))
    agent.provider = Script([*says("ok"), usual])
    assert (await agent.prompt("go")).usage == Usage(100, 7)
    assert feed.of(Notice) == []
