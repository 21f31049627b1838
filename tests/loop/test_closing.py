"""Who is asked before a turn ends well."""

import pytest

from support.agent_fakes import Script, agent_of, calls, ends, says, tool
from trimtab.agent.events import Error, Notice
from trimtab.agent.ports import Closing
from trimtab.types.messages import User, user

pytestmark = pytest.mark.anyio


class Says:
    """Says this, answer by answer."""

    def __init__(self, *closings):
        self.closings = list(closings)
        self.asked = []
        self.begun = self.resumed = 0

    async def begin(self):
        self.begun += 1

    async def resume(self):
        self.resumed += 1

    async def close(self, answer, emit):
        self.asked.append(answer.text)
        await emit(Notice(message="looked"))
        return self.closings.pop(0)


async def test_a_model_that_is_sent_back_goes_on_in_the_same_turn():
    closer = Says(Closing((user("mend it", origin="verify"),)), Closing())
    script = Script([*says("done"), *ends()], [*says("mended"), *ends()])
    agent, feed = agent_of(script, closer=closer)
    turn = await agent.prompt("go")
    assert (turn.reason, turn.text, turn.steps) == ("stop", "mended", 2)
    assert closer.asked == ["done", "mended"]
    assert [m.origin for m in agent.messages if isinstance(m, User)] == ["prompt", "verify"]
    assert feed.types().count("turn_ended") == 1


async def test_a_turn_that_is_not_let_end_well_says_why():
    closer = Says(Closing(reason="verify_failed", error=Error(kind="verify", message="red")))
    agent, feed = agent_of(Script([*says("done"), *ends()]), closer=closer)
    turn = await agent.prompt("go")
    assert (turn.reason, turn.error.message) == ("verify_failed", "red")
    assert feed.types()[-2:] == ["error", "turn_ended"]


async def test_only_an_answer_that_ends_the_turn_well_is_asked_about():
    closer = Says(Closing())
    script = Script(
        [*says("look"), *calls("look", call_id="c", part=1), *ends("tool_use")], [*says("cut"), *ends("length")]
    )
    agent, _ = agent_of(script, tool("look"), closer=closer)
    assert (await agent.prompt("go")).reason == "length"
    assert closer.asked == []


async def test_being_sent_back_takes_steps_like_anything_else():
    closer = Says(*(Closing((user("again", origin="verify"),)) for _ in range(9)))
    agent, _ = agent_of(Script(*([*says("done"), *ends()] for _ in range(9))), closer=closer, max_steps=3)
    assert (await agent.prompt("go")).reason == "max_steps"


async def test_a_turn_that_goes_on_after_a_parked_call_is_the_same_turn():
    async def wait(arguments, run):
        from trimtab.agent.ports import Deferred

        raise Deferred("which?")

    closer = Says(Closing())
    script = Script([*calls("wait", call_id="c"), *ends("tool_use")], [*says("done"), *ends()])
    agent, _ = agent_of(script, tool("wait", wait), closer=closer)
    assert (await agent.prompt("go")).reason == "parked"
    assert (await agent.answer("c", "that")).reason == "stop"
    assert (closer.begun, closer.resumed) == (1, 1)


async def test_a_prompt_in_place_of_the_answer_begins_a_turn():
    async def wait(arguments, run):
        from trimtab.agent.ports import Deferred

        raise Deferred("which?")

    closer = Says(Closing())
    script = Script([*calls("wait", call_id="c"), *ends("tool_use")], [*says("done"), *ends()])
    agent, _ = agent_of(script, tool("wait", wait), closer=closer)
    await agent.prompt("go")
    assert (await agent.prompt("never mind")).reason == "stop"
    assert (closer.begun, closer.resumed) == (2, 0)
