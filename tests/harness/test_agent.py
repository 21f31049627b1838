"""The agent as one object: queues, cancelling, parked calls, and starting again."""

import asyncio

import anyio
import pytest
from msgspec.structs import replace

from support.agent_fakes import MODEL, DiskTranscript, RecordingFeed, Script, agent_of, calls, ends, says, tool
from trimtab.agent import Access, AgentBusy, Deferred, MemoryTranscript, NoHooks, ToolOutput
from trimtab.agent.events import MessageEnded, MessageStarted, StepEnded, ToolEnded, ToolParked, TurnEnded
from trimtab.agent.run import PENDING
from trimtab.types import Assistant, Price, Text, ToolCall, ToolResult, Usage, user
from trimtab.types.errors import StoreError, UsageError
from trimtab.types.stream import PartDelta

pytestmark = pytest.mark.anyio


def told(agent):
    """What people said, as the model sees it."""
    return [(m.origin, m.parts[0].text) for m in agent.messages if hasattr(m, "origin")]


def asks(*ids):
    """An answer that calls `ask` once per id."""
    return [*[c for i, name in enumerate(ids) for c in calls("ask", call_id=name, part=i)], *ends("tool_use")]


async def ask(arguments, run):
    raise Deferred(f"{run.call_id}?")


async def test_a_prompt_gives_the_answer_and_the_conversation_grows():
    agent, _ = agent_of(Script([*says("one"), *ends()], [*says("two"), *ends()]))
    assert (await agent.prompt("a")).text == "one"
    assert (await agent.prompt(user("b"))).text == "two"
    assert [type(m).__name__ for m in agent.messages] == ["User", "Assistant", "User", "Assistant"]


async def test_text_that_cannot_be_encoded_is_cleaned_at_the_door():
    agent, _ = agent_of(Script([*says("ok"), *ends()]))
    await agent.prompt("a\ud800")
    assert told(agent) == [("prompt", "a\ufffd")]


async def test_a_prompt_while_busy_is_an_error_that_says_what_to_do():
    agent, _ = agent_of(Script([anyio.sleep_forever]))
    async with anyio.create_task_group() as group:
        group.start_soon(agent.prompt, "a")
        await anyio.wait_all_tasks_blocked()
        assert agent.busy
        with pytest.raises(AgentBusy) as caught:
            await agent.prompt("b")
        with pytest.raises(AgentBusy):
            await agent.continue_()
        agent.cancel()
    assert caught.value.hint
    assert not agent.busy


async def test_steering_is_delivered_before_the_next_request_all_at_once():
    async def look(arguments, run):
        agent.steer("left")
        agent.steer(user("right", origin="steering"))
        return ToolOutput.text("ok")

    script = Script([*calls("look", call_id="a"), *ends("tool_use")], [*says("ok"), *ends()])
    agent, feed = agent_of(script, tool("look", look))
    await agent.prompt("go")
    assert [m.parts[0].text for m in script.requests[1].messages if hasattr(m, "origin")] == ["go", "left", "right"]
    assert agent.inbox.steering == ()
    assert feed.types().count("turn_started") == 1


async def test_steering_typed_while_the_last_answer_streams_gets_a_step_of_its_own():
    async def type_now():
        agent.steer("wait")

    script = Script([*says("done"), type_now, *ends()], [*says("changed"), *ends()])
    agent, feed = agent_of(script)
    turn = await agent.prompt("go")
    assert (turn.text, turn.steps, feed.types().count("turn_started")) == ("changed", 2, 1)


async def test_steering_typed_when_the_turn_has_just_ended_begins_the_next_one():
    def check(event):
        if isinstance(event, TurnEnded) and len(feed.of(TurnEnded)) == 0:
            agent.steer("late")

    script = Script([*says("one"), *ends()], [*says("two"), *ends()])
    agent, feed = agent_of(script, feed=RecordingFeed(check))
    turn = await agent.prompt("go")
    assert (turn.text, turn.steps, turn.usage) == ("two", 2, Usage(input=20, output=4))
    assert told(agent) == [("prompt", "go"), ("steering", "late")]


async def test_a_note_goes_with_the_next_request_and_neither_begins_nor_prolongs_a_turn():
    async def note_now():
        agent.inbox.note(user("over", origin="note"))

    script = Script([*says("done"), note_now, *ends()], [*says("again"), *ends()])
    agent, feed = agent_of(script)
    turn = await agent.prompt("go")
    assert (turn.text, turn.steps, feed.types().count("turn_started")) == ("done", 1, 1)
    await agent.prompt("and?")
    assert told(agent) == [("prompt", "go"), ("prompt", "and?"), ("note", "over")]
    assert agent.inbox.take_notes() == ()


async def test_a_note_stands_before_the_steering_that_is_delivered_with_it():
    async def look(arguments, run):
        agent.steer("left")
        agent.inbox.note(user("over", origin="note"))
        return ToolOutput.text("ok")

    agent, _ = agent_of(
        Script([*calls("look", call_id="a"), *ends("tool_use")], [*says("ok"), *ends()]), tool("look", look)
    )
    await agent.prompt("go")
    assert told(agent) == [("prompt", "go"), ("note", "over"), ("steering", "left")]


async def test_follow_ups_begin_turns_of_their_own_one_at_a_time():
    script = Script(*[[*says(f"answer {n}"), *ends()] for n in range(3)])
    agent, feed = agent_of(script)
    agent.follow_up("b")
    agent.follow_up("c")
    turn = await agent.prompt("a")
    assert (turn.text, turn.steps) == ("answer 2", 3)
    assert told(agent) == [("prompt", "a"), ("follow_up", "b"), ("follow_up", "c")]
    assert feed.types().count("turn_ended") == 3


async def test_queues_survive_a_cancel_and_can_be_recalled():
    agent, _ = agent_of(Script([anyio.sleep_forever]))
    async with anyio.create_task_group() as group:
        group.start_soon(agent.prompt, "a")
        await anyio.wait_all_tasks_blocked()
        agent.steer("s")
        agent.follow_up("f")
        agent.cancel()
    assert (len(agent.inbox.steering), len(agent.inbox.follow_ups)) == (1, 1)
    assert [m.parts[0].text for m in agent.inbox.recall()] == ["s", "f"]
    assert agent.inbox.recall() == ()


async def test_a_turn_that_failed_starts_no_follow_up():
    agent, _ = agent_of(Script([OSError("x")]))
    agent.follow_up("f")
    assert (await agent.prompt("a")).reason == "error"
    assert len(agent.inbox.follow_ups) == 1


async def test_a_cancel_as_the_turn_ends_starts_no_follow_up():
    def check(event):
        if isinstance(event, TurnEnded):
            agent.cancel()

    agent, _ = agent_of(Script([*says("one"), *ends()]), feed=RecordingFeed(check))
    agent.follow_up("f")
    assert (await agent.prompt("go")).reason == "stop"
    assert len(agent.inbox.follow_ups) == 1


async def run_and_cancel(agent, wait=anyio.wait_all_tasks_blocked):
    """Prompt, wait until everything is blocked, cancel; the turn."""
    turns = []

    async def prompt():
        turns.append(await agent.prompt("go"))

    async with anyio.create_task_group() as group:
        group.start_soon(prompt)
        await wait()
        agent.cancel()
    return turns[0]


async def test_a_cancel_before_the_first_byte_ends_the_turn_and_records_no_answer():
    agent, feed = agent_of(Script([anyio.sleep_forever]))
    turn = await run_and_cancel(agent)
    assert (turn.reason, turn.message) == ("cancelled", None)
    assert agent.messages == (user("go"),)
    assert feed.of(MessageStarted) == []
    assert feed.types()[-2:] == ["step_ended", "turn_ended"]


async def test_a_model_that_never_stops_to_wait_can_still_be_cancelled():
    class Flood:
        async def stream(self, request):
            while True:
                yield PartDelta(0, "text", "word")

    async def begun():
        while not agent.busy:
            await anyio.lowlevel.checkpoint()

    agent, _ = agent_of(Flood())
    turn = await run_and_cancel(agent, wait=begun)
    assert turn.reason == "cancelled"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # which alone can cancel a task from outside its scopes
async def test_a_killed_task_leaves_a_whole_conversation(anyio_backend):
    async def endless(arguments, run):
        await anyio.sleep_forever()

    agent, feed = agent_of(
        Script([*calls("endless", call_id="a"), *ends("tool_use")]),
        tool("endless", endless),
        transcript=DiskTranscript(),
    )
    task = asyncio.create_task(agent.prompt("go"))
    await anyio.wait_all_tasks_blocked()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert agent.messages[-1].text == "cancelled"
    assert feed.of(TurnEnded)[0].reason == "cancelled"


async def test_a_cancel_right_behind_a_prompt_keeps_what_was_said_and_closes_what_was_opened():
    feed = RecordingFeed(patience_s=0.01)
    feed.subscribe(max_events=0)  # stalls: the first event holds the agent up, and the cancel comes meanwhile
    agent, _ = agent_of(Script([anyio.sleep_forever]), feed=feed)
    assert (await run_and_cancel(agent)).reason == "cancelled"
    assert agent.messages == (user("go"),)
    assert feed.types() == ["turn_started", "message_ended", "step_started", "step_ended", "turn_ended"]


async def test_a_cancel_while_idle_does_nothing():
    agent, _ = agent_of(Script([*says("ok"), *ends()]))
    agent.cancel()
    assert (await agent.prompt("go")).reason == "stop"


async def test_a_cancelled_answer_is_kept_and_marked_and_its_calls_are_answered():
    script = Script([*says("half"), *calls("look", call_id="a", part=1), anyio.sleep_forever])
    agent, feed = agent_of(script, tool("look"), transcript=DiskTranscript())
    turn = await run_and_cancel(agent)
    assert turn.reason == "cancelled"
    assert turn.message == Assistant(
        (Text("half"), ToolCall("a", "look", {}, "{}")), "cancelled", model="model", provider="fake"
    )
    assert agent.messages[1:] == (
        turn.message,
        ToolResult("a", "look", (Text("cancelled"),), is_error=True),
    )
    assert [e.stop_reason for e in feed.of(StepEnded)] == ["cancelled"]
    assert script.closed == 1


async def test_a_cancel_during_a_batch_leaves_a_result_for_every_call_and_awaits_cleanup():
    cleaned = []

    async def endless(arguments, run):
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.001)
                cleaned.append(run.call_id)

    names = ("endless", "look", "endless", "endless")
    parts = [c for i, name in enumerate(names) for c in calls(name, call_id=f"c{i}", part=i)]
    agent, feed = agent_of(
        Script([*parts, *ends("tool_use")]),
        tool("look"),
        tool("endless", endless, accesses=lambda _: Access(writes=frozenset({"/f"}))),
        transcript=DiskTranscript(),
    )
    turn = await run_and_cancel(agent)
    assert turn.reason == "cancelled"
    assert cleaned == ["c0"]
    assert [(e.call_id, e.parts[0].text) for e in feed.of(ToolEnded)] == [
        ("c0", "cancelled"),
        ("c1", "look done"),
        ("c2", "cancelled"),
        ("c3", "cancelled"),
    ]
    assert feed.types()[-2:] == ["step_ended", "turn_ended"]


async def test_a_cancel_while_a_hook_asks_a_person_answers_the_call():
    class Asking(NoHooks):
        async def before_tool(self, call):
            await anyio.sleep_forever()

    agent, _ = agent_of(Script([*calls("look", call_id="a"), *ends("tool_use")]), tool("look"), hooks=Asking())
    assert (await run_and_cancel(agent)).reason == "cancelled"
    assert agent.messages[-1].text == "cancelled"


async def test_a_cancel_from_outside_ends_the_turn_and_goes_on_upwards():
    agent, feed = agent_of(Script([*says("half"), anyio.sleep_forever]))
    with anyio.CancelScope() as outer:
        async with anyio.create_task_group() as group:
            group.start_soon(agent.prompt, "go")
            await anyio.wait_all_tasks_blocked()
            outer.cancel()
    assert outer.cancelled_caught
    assert [e.reason for e in feed.of(TurnEnded)] == ["cancelled"]
    assert agent.messages[-1].text == "half"
    assert not agent.busy


async def test_a_disk_that_fails_while_a_cancel_is_recorded_is_told():
    agent, _feed = agent_of(Script([*says("half"), anyio.sleep_forever]), transcript=DiskTranscript(fails_at=1))
    turn = await run_and_cancel(agent)
    assert (turn.reason, turn.error.kind) == ("error", "store")


async def test_after_a_cancel_the_agent_continues_without_a_new_prompt():
    script = Script([*says("half"), anyio.sleep_forever], [*says("whole"), *ends()])
    agent, _ = agent_of(script)
    await run_and_cancel(agent)
    assert (await agent.continue_()).text == "whole"
    assert [m.text for m in script.requests[1].messages if isinstance(m, Assistant)] == ["half"]


async def test_a_deferred_call_parks_the_turn_once_its_siblings_are_done_and_its_answer_resumes_it():
    first = [*asks("a"), *ends("tool_use")][:-2]
    script = Script([*first, *calls("look", call_id="b", part=1), *ends("tool_use")], [*says("ok"), *ends()])
    agent, feed = agent_of(script, tool("ask", ask), tool("look"), transcript=DiskTranscript())
    turn = await agent.prompt("go")
    assert (turn.reason, agent.parked) == ("parked", {"a": "a?"})
    assert [(e.call_id, e.name, e.question) for e in feed.of(ToolParked)] == [("a", "ask", "a?")]
    assert [m.text for m in agent.messages if isinstance(m, ToolResult)] == ["pending", "look done"]
    resumed = await agent.answer("a", "yes\ud800")
    assert (resumed.reason, resumed.text, agent.parked) == ("stop", "ok", {})
    assert [m.text for m in agent.messages if isinstance(m, ToolResult)] == ["yes\ufffd", "look done"]
    assert feed.of(ToolEnded)[-1].name == "ask"


async def test_a_turn_with_two_parked_calls_goes_on_when_both_are_answered():
    agent, _feed = agent_of(Script(asks("a", "b"), [*says("ok"), *ends()]), tool("ask", ask))
    await agent.prompt("go")
    with pytest.raises(UsageError, match="waits for an answer"):
        await agent.continue_()
    assert (await agent.answer("b", "no", is_error=True)).reason == "parked"
    assert (await agent.answer("a", "yes")).reason == "stop"
    assert [(m.text, m.is_error) for m in agent.messages if isinstance(m, ToolResult)] == [("yes", False), ("no", True)]


async def test_a_hook_may_park_a_call():
    class Ask(NoHooks):
        async def before_tool(self, call):
            raise Deferred("may I?")

    agent, _ = agent_of(Script([*calls("look", call_id="a"), *ends("tool_use")]), tool("look"), hooks=Ask())
    assert (await agent.prompt("go")).reason == "parked"
    assert agent.parked == {"a": "may I?"}


async def test_a_parked_call_is_answered_after_a_restart():
    transcript = MemoryTranscript()
    agent, _ = agent_of(Script(asks("a")), tool("ask", ask), transcript=transcript)
    await agent.prompt("go")
    later, _ = agent_of(
        Script([*says("ok"), *ends()]), tool("ask", ask), transcript=transcript, parked=transcript.parked
    )
    assert (await later.answer("a", "yes")).text == "ok"
    assert transcript.parked == {}


async def test_an_answer_to_a_call_that_does_not_wait_is_an_error():
    agent, _ = agent_of(Script(asks("a")), tool("ask", ask))
    with pytest.raises(UsageError) as caught:
        await agent.answer("x", "yes")
    assert caught.value.hint == "Waiting: none."
    await agent.prompt("go")
    with pytest.raises(UsageError) as caught:
        await agent.answer("x", "yes")
    assert caught.value.hint == "Waiting: a."


async def test_an_answer_given_while_the_turn_still_runs_is_taken_when_it_has_parked():
    may_end = anyio.Event()

    async def slow(arguments, run):
        await may_end.wait()
        return ToolOutput.text("slow done")

    script = Script(
        [*calls("ask", call_id="a"), *calls("slow", call_id="b", part=1), *ends("tool_use")], [*says("ok"), *ends()]
    )
    agent, _ = agent_of(script, tool("ask", ask), tool("slow", slow))
    reasons = []

    async def answer():
        reasons.append((await agent.answer("a", "yes")).reason)

    async with anyio.create_task_group() as group:
        group.start_soon(agent.prompt, "go")
        await anyio.wait_all_tasks_blocked()
        assert agent.parked == {"a": "a?"}
        group.start_soon(answer)
        await anyio.wait_all_tasks_blocked()
        assert reasons == []
        may_end.set()
    assert reasons == ["stop"]


async def test_a_new_prompt_closes_parked_calls_as_pending():
    agent, _feed = agent_of(Script(asks("a"), [*says("ok"), *ends()]), tool("ask", ask))
    await agent.prompt("go")
    assert (await agent.prompt("never mind")).reason == "stop"
    assert agent.parked == {}
    assert [m.text for m in agent.messages if isinstance(m, ToolResult)] == [PENDING]


async def test_a_parked_call_stays_parked_when_its_answer_cannot_be_recorded():
    transcript = DiskTranscript()
    agent, _ = agent_of(Script(asks("a")), tool("ask", ask), transcript=transcript)
    await agent.prompt("go")
    transcript.fails_at = 0
    assert (await agent.answer("a", "yes")).reason == "error"
    assert agent.parked == {"a": "a?"}


async def test_a_mark_that_cannot_be_recorded_parks_nothing():
    class NoMarks(MemoryTranscript):
        async def park(self, call_id, question):
            raise StoreError("disk full")

    agent, feed = agent_of(Script(asks("a")), tool("ask", ask), transcript=NoMarks())
    assert (await agent.prompt("go")).reason == "error"
    assert (agent.parked, feed.of(ToolParked)) == ({}, [])


async def test_the_answer_of_a_call_that_the_view_has_lost_is_still_taken():
    agent, feed = agent_of(Script([*says("ok"), *ends()]), parked={"old": "?"})
    assert (await agent.answer("old", "yes")).reason == "stop"
    assert feed.of(ToolEnded)[0].name == ""


async def test_delivered_user_messages_are_told_with_their_entry():
    agent, feed = agent_of(Script([*says("ok"), *ends()]))
    await agent.prompt("go")
    first = feed.of(MessageEnded)[0]
    assert (first.message, first.message_id) == (user("go"), "")
    assert first.entry_id


def priced(*prices):
    """A model of these prices, in USD per million tokens."""
    return replace(MODEL, prices=prices)


async def test_the_cost_of_a_turn_is_counted_request_by_request():
    tiers = (Price(1.0, 0.0), Price(100.0, 0.0, above=1_000))
    usage = Usage(input=900)
    script = Script(
        [*calls("look", call_id="a"), *ends("tool_use", usage=usage)],
        [*says("one"), *ends(usage=usage)],
        [*says("two"), *ends(usage=usage)],
    )
    agent, _ = agent_of(script, tool("look"))
    agent.model = priced(*tiers)
    agent.follow_up("more")
    turn = await agent.prompt("go")
    assert (turn.usage.input, turn.cost_usd) == (2_700, pytest.approx(0.0027))


async def test_the_cost_of_a_turn_is_unknown_without_a_price():
    agent, _ = agent_of(Script([*says("one"), *ends()]))
    assert (await agent.prompt("go")).cost_usd is None


async def test_call_ids_that_the_view_no_longer_shows_are_not_used_again():
    script = Script([*calls("look", call_id="call_0"), *ends("tool_use")], [*says("ok"), *ends()])
    agent, _ = agent_of(script, tool("look"), seen=["call_0"])
    await agent.prompt("go")
    assert [c.id for m in agent.messages if isinstance(m, Assistant) for c in m.tool_calls] == ["call_0_2"]


async def test_a_running_turn_takes_another_system_prompt_with_its_next_request():
    async def change(arguments, run):
        agent.system = "Be kind."
        return ToolOutput.text("done")

    script = Script([*calls("change", call_id="c"), *ends("tool_use")], [*says("ok"), *ends()])
    agent, _ = agent_of(script, tool("change", change), system="Be brief.")
    await agent.prompt("go")
    assert [request.system for request in script.requests] == ["Be brief.", "Be kind."]
