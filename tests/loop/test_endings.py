"""Every way in which an answer can end, and what the turn makes of it."""

import anyio
import pytest
from msgspec.structs import replace

from support.agent_fakes import MODEL, DiskTranscript, RecordingFeed, Script, agent_of, calls, ends, says, tool
from trimtab.agent.events import Error, MessageEnded, MessageStarted, Retry, StepEnded, StepStarted
from trimtab.agent.ports import Prompt
from trimtab.agent.verdict import EMPTY_PROMPT
from trimtab.types import Assistant, ErrorInfo, Text, Thinking, ToolCall, Usage, user
from trimtab.types.errors import BudgetExceeded, ConfigError, ContextFloor, ProviderError
from trimtab.types.stream import Ended, PartDelta, PartEnded, PartStarted, Retrying

pytestmark = pytest.mark.anyio


async def test_a_stream_that_just_stops_is_an_error_and_its_partial_text_is_kept():
    agent, feed = agent_of(Script([*says("half an ans")]))
    turn = await agent.prompt("go")
    assert (turn.reason, turn.text, turn.message.stop_reason) == ("error", "half an ans", "error")
    assert turn.error.kind == "network"
    assert feed.types()[-3:] == ["step_ended", "error", "turn_ended"]


async def test_a_provider_that_raises_is_an_error_and_its_partial_text_is_kept():
    agent, _ = agent_of(Script([*says("half"), OSError("reset")]))
    turn = await agent.prompt("go")
    assert (turn.reason, turn.text) == ("error", "half")
    assert turn.error.message == "The model's client failed: OSError: reset"


async def test_a_provider_that_raises_our_own_error_keeps_its_class():
    info = ErrorInfo(kind="auth", message="no key", hint="log in")
    agent, _ = agent_of(Script([ProviderError(info)]))
    turn = await agent.prompt("go")
    assert (turn.error.kind, turn.error.message, turn.error.hint) == ("auth", "no key", "log in")


async def test_a_provider_that_raises_a_setting_error_keeps_its_hint():
    agent, _ = agent_of(Script([ConfigError("no url", hint="set base_url")]))
    turn = await agent.prompt("go")
    assert (turn.reason, turn.error.message, turn.error.hint) == ("error", "no url", "set base_url")


async def test_a_provider_that_cannot_even_be_asked_is_an_error():
    class Broken:
        def stream(self, request):
            raise RuntimeError("no model")

    agent, _ = agent_of(Broken())
    assert (await agent.prompt("go")).reason == "error"


async def test_a_plain_iterator_without_close_is_a_good_stream():
    class Plain:
        def __init__(self):
            self.events = [PartDelta(0, "text", "hi"), Ended("stop")]

        def stream(self, request):
            return self

        def __aiter__(self):
            return self

        async def __anext__(self):
            return self.events.pop(0)

    agent, _ = agent_of(Plain())
    turn = await agent.prompt("go")
    assert (turn.reason, turn.text, turn.usage) == ("stop", "hi", Usage())


async def test_a_fault_while_closing_a_complete_stream_takes_nothing_back():
    class Clumsy:
        async def stream(self, request):
            try:
                yield PartDelta(0, "text", "hi")
                yield Ended("stop")
            finally:
                raise OSError("close failed")

    agent, _ = agent_of(Clumsy())
    turn = await agent.prompt("go")
    assert (turn.reason, turn.text, turn.error) == ("stop", "hi", None)


async def test_an_error_at_the_end_of_the_stream_is_told_with_class_message_and_hint():
    info = ErrorInfo(kind="quota", message="no credit", hint="pay")
    agent, feed = agent_of(Script([*says("par"), *ends("error", error=info)]))
    turn = await agent.prompt("go")
    assert turn.reason == "error"
    assert turn.message == Assistant(
        (Text("par"),), "error", usage=Usage(input=10, output=2), model="model", provider="fake", error=info
    )
    assert [(e.kind, e.message, e.hint) for e in feed.of(Error)] == [("quota", "no credit", "pay")]


async def test_calls_of_an_answer_that_broke_off_are_answered_and_never_run():
    ran = []

    async def record(arguments, run):
        ran.append(arguments)

    script = Script([*calls("look", call_id="a"), *calls("look", call_id="b", part=1)])
    agent, feed = agent_of(script, tool("look", record))
    turn = await agent.prompt("go")
    assert turn.reason == "error"
    assert ran == []
    told = "Not run: the answer broke off (The stream ended without saying that the answer is complete.)."
    assert [m.text for m in agent.messages[2:]] == [told, told]
    assert "tool_started" not in feed.types()


async def test_a_refusal_ends_the_turn_as_refused_and_says_so():
    agent, _feed = agent_of(Script([*says("no"), *ends("refused")]))
    turn = await agent.prompt("go")
    assert (turn.reason, turn.error.kind, turn.error.message) == (
        "refused",
        "refused",
        "The model refused to answer.",
    )


async def test_text_cut_by_the_output_limit_ends_the_turn_as_length():
    agent, feed = agent_of(Script([*says("and then"), *ends("length")]))
    turn = await agent.prompt("go")
    assert (turn.reason, turn.text, feed.of(Error)) == ("length", "and then", [])


async def test_a_call_cut_by_the_output_limit_is_answered_while_the_whole_ones_run():
    script = Script(
        [
            *calls("look", '{"n": 1}', call_id="a"),
            *calls("look", '{"n": ', call_id="b", part=1),
            *ends("length"),
        ],
        [*says("ok"), *ends()],
    )
    agent, _feed = agent_of(script, tool("look"))
    turn = await agent.prompt("go")
    assert turn.reason == "stop"
    whole, cut = agent.messages[2:4]
    assert (whole.call_id, whole.text, whole.is_error) == ("a", "look done", False)
    assert cut.is_error
    assert cut.text.startswith("Not run: your answer reached the output limit inside the arguments of look (6 char")


async def test_a_cut_call_of_which_nothing_arrived_is_not_run_with_empty_arguments():
    script = Script([*calls("look", "", call_id="a"), *ends("length")], [*says("ok"), *ends()])
    agent, feed = agent_of(script, tool("look"))
    await agent.prompt("go")
    assert "tool_started" not in feed.types()


async def test_whole_calls_before_the_output_limit_run():
    script = Script(
        [*calls("look", call_id="a"), *ends("length")],
        [*calls("look", call_id="b"), *says("tex", part=1), *ends("length")],
        [*says("ok"), *ends()],
    )
    agent, feed = agent_of(script, tool("look"))
    assert (await agent.prompt("go")).reason == "stop"
    assert feed.types().count("tool_started") == 2


async def test_answers_that_are_always_cut_inside_a_call_end_the_turn():
    script = Script(*[[*calls("look", '{"n', call_id=f"c{i}"), *ends("length")] for i in range(9)])
    agent, _ = agent_of(script, tool("look"))
    turn = await agent.prompt("go")
    assert (turn.reason, turn.steps) == ("length", 3)


async def test_an_answer_with_only_thinking_is_asked_once_more_and_then_the_turn_is_empty():
    thought = [PartStarted(0, "thinking"), PartDelta(0, "thinking", "hm"), *ends()]
    script = Script(list(thought), [*says(" \n"), *ends()])
    agent, _feed = agent_of(script)
    turn = await agent.prompt("go")
    assert (turn.reason, turn.steps) == ("empty", 2)
    assert script.requests[1].messages[1:] == (
        Assistant((Thinking("hm"),), "stop", usage=Usage(input=10, output=2), model="model", provider="fake"),
        user(EMPTY_PROMPT, origin="command"),
    )


async def test_an_empty_answer_that_recovers_is_a_normal_turn():
    agent, feed = agent_of(Script([*ends()], [*says("here"), *ends()]))
    assert (await agent.prompt("go")).reason == "stop"
    assert len(feed.of(MessageStarted)) == 2


async def test_a_voided_attempt_is_kept_as_superseded_and_the_next_one_is_another_message():
    retrying = Retrying(1, 0.5, "server", "overloaded", "wait")
    script = Script([*says("half"), retrying, retrying, *says("whole"), *ends()])
    agent, feed = agent_of(script)
    turn = await agent.prompt("go")
    assert turn.text == "whole"
    voided, final = feed.of(MessageEnded)[1:]
    assert voided.message.superseded
    assert voided.message.text == "half"
    assert voided.message.error == ErrorInfo(kind="server", message="overloaded", hint="wait", retryable=True)
    assert voided.message_id != final.message_id
    assert [e.message_id for e in feed.of(MessageStarted)] == [voided.message_id, final.message_id]
    assert [(e.attempt, e.wait_s, e.kind, e.message) for e in feed.of(Retry)] == [(1, 0.5, "server", "overloaded")] * 2
    assert agent.messages == (user("go"), turn.message)


async def test_a_disk_that_fails_while_a_voided_attempt_is_recorded_is_a_store_error():
    script = Script([*says("half"), Retrying(1, 0.5, "server")])
    agent, _ = agent_of(script, transcript=DiskTranscript(fails_at=1))
    assert (await agent.prompt("go")).error.kind == "store"


async def test_max_steps_ends_the_turn_after_the_tools_of_the_last_step():
    script = Script(*[[*calls("look", call_id=f"c{i}"), *ends("tool_use")] for i in range(5)])
    agent, feed = agent_of(script, tool("look"), max_steps=2)
    turn = await agent.prompt("go")
    assert (turn.reason, turn.steps) == ("max_steps", 2)
    assert feed.types().count("tool_ended") == 2


async def test_calls_with_the_stop_reason_stop_are_run():
    script = Script([*calls("look", call_id="a"), *ends("stop")], [*says("ok"), *ends()])
    agent, _feed = agent_of(script, tool("look"))
    assert (await agent.prompt("go")).steps == 2


async def test_a_provider_that_reports_a_cancel_ends_the_turn_as_cancelled():
    agent, _feed = agent_of(Script([*calls("look", call_id="a"), *ends("cancelled")]), tool("look"))
    assert (await agent.prompt("go")).reason == "cancelled"
    assert agent.messages[-1].text == "cancelled"


@pytest.mark.parametrize(
    ("failure", "reason"), [(ContextFloor("too much"), "floor"), (BudgetExceeded("spent"), "budget")]
)
async def test_a_request_that_cannot_be_made_ends_the_turn_by_name(failure, reason):
    class Full(DiskTranscript):
        async def prompt(self, request):
            raise failure

    agent, feed = agent_of(Script(), transcript=Full())
    turn = await agent.prompt("go")
    assert (turn.reason, turn.error.kind, turn.message, turn.text) == (reason, reason, None, "")
    assert (turn.steps, feed.types()) == (0, ["turn_started", "message_ended", "error", "turn_ended"])


async def test_what_the_transcript_makes_of_a_request_is_what_is_sent_and_counted():
    class Fitting(DiskTranscript):
        async def prompt(self, request):
            await anyio.lowlevel.checkpoint()
            return Prompt(replace(request, messages=self.view()[-1:], max_output=7), tokens=42)

    script = Script([*says("ok"), *ends()])
    agent, feed = agent_of(script, transcript=Fitting([user("long ago")]), max_output=100)
    await agent.prompt("go")
    assert (script.requests[0].messages, script.requests[0].max_output) == ((user("go"),), 7)
    assert [event.prompt_tokens for event in feed.of(StepStarted)] == [42]


async def test_a_cancel_while_the_request_is_made_ends_the_turn_without_a_step():
    class Slow(DiskTranscript):
        async def prompt(self, request):
            agent.cancel()
            await anyio.sleep_forever()

    agent, feed = agent_of(Script(), transcript=Slow())
    assert (await agent.prompt("go")).reason == "cancelled"
    assert feed.of(StepStarted) == []


async def test_an_error_without_words_still_says_something():
    agent, _ = agent_of(Script([*ends("error")]))
    turn = await agent.prompt("go")
    assert turn.error.message == "The answer failed without saying why."


async def test_two_calls_with_one_id_are_two_calls():
    script = Script(
        [*calls("look", call_id="call_0"), *calls("look", call_id="call_0", part=1), *ends("tool_use")],
        [*calls("look", call_id="call_0"), *ends("tool_use")],
        [*says("ok"), *ends()],
    )
    agent, _ = agent_of(script, tool("look"))
    await agent.prompt("go")
    ids = [call.id for m in agent.messages if isinstance(m, Assistant) for call in m.tool_calls]
    assert ids == ["call_0", "call_0_2", "call_0_3"]
    assert [m.call_id for m in agent.messages if hasattr(m, "call_id")] == ids


async def test_a_call_id_of_an_earlier_session_is_not_used_again():
    old = Assistant((ToolCall("a", "look", {}, "{}"),), "tool_use")
    script = Script([*calls("look", call_id="a"), *ends("tool_use")], [*says("ok"), *ends()])
    agent, _ = agent_of(script, tool("look"), messages=[user("before"), old])
    await agent.prompt("go")
    assert [m.call_id for m in agent.messages if hasattr(m, "call_id")] == ["a", "a_2"]
    assert agent.messages[2].text == "interrupted"


async def test_a_request_carries_what_the_agent_was_given():
    script = Script([PartEnded(0, Text("hi")), *ends()])
    agent, feed = agent_of(script, tool("look"), system="Be brief.", thinking="high", max_output=77, session_id="s1")
    await agent.prompt("go")
    (request,) = script.requests
    assert (request.model, request.system, request.thinking) == (MODEL, "Be brief.", "high")
    assert (request.max_output, request.session_id, [t.name for t in request.tools]) == (77, "s1", ["look"])
    assert [(e.stop_reason, e.usage) for e in feed.of(StepEnded)] == [("stop", Usage(input=10, output=2))]
    assert script.closed == 1


async def test_a_bug_in_a_watcher_is_not_hidden_and_the_turn_still_ends_for_the_others():
    def check(event):
        if event.__struct_config__.tag == "step_started":
            raise ZeroDivisionError

    agent, feed = agent_of(Script(), feed=RecordingFeed(check))
    with pytest.raises(ZeroDivisionError):
        await agent.prompt("go")
    assert feed.types()[-1] == "turn_ended"
    assert not agent.busy
