"""The order of things: events, and what is durable when."""

import anyio
import pytest

from support.agent_fakes import DiskTranscript, RecordingFeed, Script, agent_of, calls, ends, says, tool
from trimtab.agent import ToolOutput
from trimtab.agent.events import Event, MessageEnded, ToolEnded, ToolStarted
from trimtab.types import Assistant, Text, ToolCall, ToolResult, Usage, user

pytestmark = pytest.mark.anyio

GOLDEN = """
turn_started
message_ended user 'look'
step_started 1
message_started
message_delta text 'I l'
message_delta text 'ook'
message_delta tool_arguments '{"n": 1}'
message_delta tool_arguments '{}'
message_ended assistant 'I look'
tool_started a count {'n': 1}
tool_started b slow {}
tool_update b 'half'
tool_ended a 'count done'
tool_ended b 'slow done'
step_ended 1 tool_use
step_started 2
message_started
message_delta text 'Do'
message_delta text 'ne'
message_ended assistant 'Done'
step_ended 2 stop
turn_ended stop
"""


def line(event: Event) -> str:
    kind = str(event.__struct_config__.tag)
    match kind:
        case "message_ended":
            return f"{kind} {event.message.__struct_config__.tag} {''.join(p.text for p in event.message.parts if isinstance(p, Text))!r}"
        case "message_delta":
            return f"{kind} {event.kind} {event.text!r}"
        case "tool_started":
            return f"{kind} {event.call_id} {event.name} {event.arguments}"
        case "tool_update":
            return f"{kind} {event.call_id} {event.text!r}"
        case "tool_ended":
            return f"{kind} {event.call_id} {event.parts[0].text!r}"
        case "step_started":
            return f"{kind} {event.step}"
        case "step_ended":
            return f"{kind} {event.step} {event.stop_reason}"
        case "turn_ended":
            return f"{kind} {event.reason}"
        case _:
            return kind


async def test_the_events_of_a_run_with_two_tools_come_in_this_order():
    async def slow(arguments, run):
        await run.update("half")
        await anyio.sleep(0.01)
        return ToolOutput.text("slow done")

    script = Script(
        [
            *says("I look"),
            *calls("count", '{"n": 1}', call_id="a", part=1),
            *calls("slow", call_id="b", part=2),
            *ends("tool_use"),
        ],
        [*says("Done"), *ends()],
    )
    b_reported = anyio.Event()

    async def count(arguments, run):
        await b_reported.wait()
        return ToolOutput.text("count done")

    def check(event):
        if line(event) == "tool_update b 'half'":
            b_reported.set()

    agent, feed = agent_of(script, tool("count", count), tool("slow", slow), feed=RecordingFeed(check))
    turn = await agent.prompt("look")
    assert "\n".join(map(line, feed.events)) == GOLDEN.strip()
    assert (turn.reason, turn.text, turn.steps, turn.usage) == ("stop", "Done", 2, Usage(input=20, output=4))
    assert agent.messages == (
        user("look"),
        Assistant(
            (Text("I look"), ToolCall("a", "count", {"n": 1}, '{"n": 1}'), ToolCall("b", "slow", {}, "{}")),
            "tool_use",
            usage=Usage(input=10, output=2),
            model="model",
            provider="fake",
        ),
        ToolResult("a", "count", (Text("count done"),), is_error=False),
        ToolResult("b", "slow", (Text("slow done"),), is_error=False),
        Assistant((Text("Done"),), "stop", usage=Usage(input=10, output=2), model="model", provider="fake"),
    )


async def test_an_answer_is_durable_before_its_tools_run_and_every_ended_event_names_a_durable_entry():
    transcript = DiskTranscript()
    seen_by_tool = []

    async def look(arguments, run):
        seen_by_tool.append([type(m) for m in transcript.messages])
        return ToolOutput.text("ok")

    def check(event):
        if isinstance(event, MessageEnded | ToolEnded):
            assert event.entry_id in transcript.durable

    script = Script([*calls("look", call_id="a"), *ends("tool_use")], [*says("Done"), *ends()])
    agent, feed = agent_of(script, tool("look", look), transcript=transcript, feed=RecordingFeed(check))
    assert (await agent.prompt("go")).reason == "stop"
    assert [len(seen) for seen in seen_by_tool] == [2]
    assert seen_by_tool[0][1] is Assistant
    assert len(feed.of(ToolStarted)) == 1


async def test_a_failing_disk_ends_the_turn_and_nothing_claims_to_be_durable():
    for appends, ended in ((0, 0), (1, 1), (2, 2)):
        transcript = DiskTranscript(fails_at=appends)
        script = Script([*calls("look", call_id="a"), *ends("tool_use")])
        agent, feed = agent_of(script, tool("look"), transcript=transcript)
        turn = await agent.prompt("go")
        assert (turn.reason, turn.error.kind, turn.error.message, turn.error.hint) == (
            "error",
            "store",
            "disk full",
            "make room",
        )
        assert len(feed.of(MessageEnded)) == ended
        assert feed.of(ToolEnded) == []
        assert feed.types()[-2:] == ["error", "turn_ended"]
        assert feed.types().count("step_started") == feed.types().count("step_ended")


async def test_a_failing_disk_stops_the_tools_that_still_run_and_awaits_their_cleanup():
    cleaned = []

    async def endless(arguments, run):
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
                cleaned.append("endless")

    script = Script([*calls("look", call_id="a"), *calls("endless", call_id="b", part=1), *ends("tool_use")])
    agent, _feed = agent_of(script, tool("look"), tool("endless", endless), transcript=DiskTranscript(fails_at=2))
    assert (await agent.prompt("go")).reason == "error"
    assert cleaned == ["endless"]


async def test_steering_that_cannot_be_recorded_goes_back_to_the_queue():
    script = Script([*calls("look", call_id="a"), *ends("tool_use")])
    agent, _ = agent_of(script, tool("look"), transcript=DiskTranscript(fails_at=1))
    agent.steer("left")
    turn = await agent.prompt("go")
    assert turn.reason == "error"
    assert agent.inbox.steering == (user("left", origin="steering"),)
