"""What a run may take: money, tokens, time."""

import anyio
import pytest
from msgspec.structs import replace

from support.agent_fakes import MODEL, Script, agent_of, calls, ends, says, tool
from trimtab.agent import MemoryTranscript
from trimtab.agent.limits import Allowance, Limits
from trimtab.agent.ports import Spent
from trimtab.types import Assistant, ToolResult, Usage, User
from trimtab.types.errors import BudgetExceeded
from trimtab.types.models import Price

pytestmark = pytest.mark.anyio
CALL = [*calls("look", call_id="c"), *ends("tool_use")]
PRICED = replace(MODEL, prices=(Price(input=1_000_000.0, output=0.0),))
"""A dollar a token of input."""


async def test_a_turn_ends_before_the_request_that_would_pass_the_limit_of_tokens_and_keeps_what_was_done():
    script = Script(CALL, CALL, CALL)
    agent, feed = agent_of(script, tool("look"), limits=Limits(tokens=24))
    turn = await agent.prompt("go")
    assert (turn.reason, turn.steps, len(script.requests)) == ("budget", 2, 2)
    assert turn.error.message == "the run's limit is reached: 24 of 24 tokens"
    assert [type(m) for m in agent.messages] == [User, Assistant, ToolResult, Assistant, ToolResult]
    assert feed.types()[-2:] == ["error", "turn_ended"]


async def test_cached_tokens_count_as_well():
    usage = Usage(cache_read=90, cache_write=5, input=3, output=2)
    script = Script([*calls("look", call_id="c"), *ends("tool_use", usage=usage)])
    agent, _ = agent_of(script, tool("look"), limits=Limits(tokens=100))
    assert (await agent.prompt("go")).reason == "budget"


async def test_a_limit_of_cost_holds_for_all_turns_of_a_run_together():
    script = Script([*says("one"), *ends()], [*says("two"), *ends()])
    agent, _ = agent_of(script, limits=Limits(cost_usd=15.0))
    agent.model = PRICED
    assert [(await agent.prompt(text)).reason for text in "abc"] == ["stop", "stop", "budget"]
    assert len(script.requests) == 2


async def test_where_a_price_is_not_known_a_limit_of_cost_is_not_kept_in_silence():
    agent, _ = agent_of(Script(CALL), tool("look"), limits=Limits(cost_usd=1.0))
    turn = await agent.prompt("go")
    assert (turn.reason, turn.steps) == ("error", 1)
    assert "the price of a model isn't known" in turn.error.message


async def test_a_server_that_reports_nothing_is_counted_by_what_was_sent_and_heard():
    class Counted(MemoryTranscript):
        async def prompt(self, request):
            return replace_tokens(await super().prompt(request), 50)

    def replace_tokens(prompt, tokens):
        return type(prompt)(prompt.request, tokens, prompt.news)

    script = Script([*calls("look", call_id="c"), *ends("tool_use", usage=None)])
    agent, _ = agent_of(script, tool("look"), transcript=Counted(), limits=Limits(tokens=50))
    assert (await agent.prompt("go")).reason == "budget"


async def test_what_summaries_take_counts_in_the_middle_of_a_turn_too():
    class Summing(MemoryTranscript):
        def unsettled(self):
            return Spent(Usage(input=1_000), None)

    script = Script(CALL)
    agent, _ = agent_of(script, tool("look"), transcript=Summing(), limits=Limits(tokens=1_000))
    assert (await agent.prompt("go")).reason == "budget"
    assert script.requests == []


async def test_when_the_time_is_up_what_runs_is_stopped_and_answered():
    async def for_ever(arguments, run):
        await anyio.sleep_forever()

    agent, _ = agent_of(Script(CALL), tool("look", for_ever), limits=Limits(time_s=0.05))
    with anyio.fail_after(5):
        turn = await agent.prompt("go")
    assert (turn.reason, turn.error.message) == ("budget", "the run's limit is reached: the limit of 0.05 s")
    assert agent.messages[-1].is_error
    assert not agent.busy


async def test_a_cancel_before_the_time_is_up_is_a_cancel():
    async def cancel():
        agent.cancel()
        await anyio.sleep_forever()

    agent, _ = agent_of(Script([cancel]), limits=Limits(time_s=60.0))
    assert (await agent.prompt("go")).reason == "cancelled"


async def test_without_limits_nothing_ends():
    agent, _ = agent_of(Script(CALL, [*says("done"), *ends()]), tool("look"))
    assert (await agent.prompt("go")).reason == "stop"
    assert agent.allowance.spent.usage == Usage(input=20, output=4)


async def test_who_works_for_another_takes_from_its_limits_and_is_stopped_by_them():
    class Whole:
        def __init__(self):
            self.taken = Usage()
            self.beside = []

        def spend(self, usage, usd):
            self.taken += usage

        def check(self, beside):
            self.beside.append(beside)
            if self.taken.total >= 24:
                raise BudgetExceeded("the whole has no more")

    whole = Whole()
    script = Script(CALL, CALL, CALL)
    agent, _ = agent_of(script, tool("look"))
    agent.allowance = Allowance(above=whole)
    turn = await agent.prompt("go")
    assert (turn.reason, turn.steps, turn.error.message) == ("budget", 2, "the whole has no more")
    assert whole.taken == agent.allowance.spent.usage == Usage(input=20, output=4)
    assert whole.beside == [Spent()] * 3
