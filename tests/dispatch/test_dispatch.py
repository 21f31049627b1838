"""Calls of one answer: side by side where they may, in order where they must, and every one answered."""

import anyio
import anyio.lowlevel
import pytest
from msgspec.structs import replace

from support.agent_fakes import DiskTranscript, Script, agent_of, calls, ends, says, tool
from trimtab.agent import Access, Answer, Deferred, Proceed, ToolOutput
from trimtab.agent.dispatch import conflict
from trimtab.agent.events import ToolEnded, ToolStarted
from trimtab.agent.ports import Prompt, meanwhile
from trimtab.types import Text, ToolCall, ToolResult

pytestmark = pytest.mark.anyio


def step(*names, raw="{}"):
    """A script whose first answer calls `names` side by side."""
    parts = [c for i, name in enumerate(names) for c in calls(name, raw, call_id=f"c{i}", part=i)]
    return Script([*parts, *ends("tool_use")], [*says("ok"), *ends()])


def texts(agent):
    return [m.text for m in agent.messages if isinstance(m, ToolResult)]


async def test_three_slow_reads_run_side_by_side_and_are_answered_in_call_order():
    inside = []
    all_in = anyio.Event()

    async def read(arguments, run):
        inside.append(run.call_id)
        if len(inside) == 3:
            all_in.set()
        await all_in.wait()
        return ToolOutput.text(run.call_id)

    agent, _ = agent_of(step("read", "read", "read"), tool("read", read))
    with anyio.fail_after(5):
        await agent.prompt("go")
    assert texts(agent) == ["c0", "c1", "c2"]


@pytest.mark.parametrize("same", [frozenset({"/f"}), "*"])
async def test_two_edits_of_one_file_run_one_after_the_other_in_call_order(same):
    file = ["a b"]

    async def edit(arguments, run):
        before = file[0]
        await anyio.sleep(0.01 if run.call_id == "c0" else 0)
        file[0] = before + " " + run.call_id
        return ToolOutput.text("edited")

    agent, feed = agent_of(step("edit", "edit"), tool("edit", edit, accesses=lambda _: Access(writes=same)))
    await agent.prompt("go")
    assert file == ["a b c0 c1"]
    assert [e.call_id for e in feed.of(ToolStarted)] == ["c0", "c1"]


async def test_calls_on_different_files_overtake_a_slow_one_but_not_its_result():
    first_may_end = anyio.Event()

    async def write(arguments, run):
        if run.call_id == "c0":
            await first_may_end.wait()
        else:
            first_may_end.set()
        return ToolOutput.text(run.call_id)

    transcript = DiskTranscript()
    paths = iter([frozenset({"/a"}), frozenset({"/b"})])
    agent, feed = agent_of(
        step("write", "write"),
        tool("write", write, accesses=lambda _: Access(writes=next(paths))),
        transcript=transcript,
    )
    with anyio.fail_after(5):
        await agent.prompt("go")
    assert [e.call_id for e in feed.of(ToolEnded)] == ["c0", "c1"]


async def test_results_that_come_while_one_is_being_written_share_the_next_append():
    writing, others_done = anyio.Event(), anyio.Event()
    done = []

    class Gate(DiskTranscript):
        async def append(self, messages):
            if isinstance(messages[0], ToolResult) and not writing.is_set():
                writing.set()
                await others_done.wait()
                await anyio.wait_all_tasks_blocked()
            return await super().append(messages)

    async def look(arguments, run):
        if run.call_id != "c0":
            await writing.wait()
            done.append(run.call_id)
            if len(done) == 2:
                others_done.set()
        return ToolOutput.text(run.call_id)

    transcript = Gate()
    agent, _ = agent_of(step("look", "look", "look"), tool("look", look), transcript=transcript)
    with anyio.fail_after(5):
        await agent.prompt("go")
    assert [len(batch) for batch in transcript.appends] == [1, 1, 1, 2, 1]
    assert texts(agent) == ["c0", "c1", "c2"]


async def test_results_that_are_ready_together_are_recorded_with_one_append():
    transcript = DiskTranscript()
    agent, _ = agent_of(step("nope", "nope", "nope"), transcript=transcript)
    await agent.prompt("go")
    assert [len(batch) for batch in transcript.appends] == [1, 1, 3, 1]


@pytest.mark.parametrize(
    ("a", "b", "together"),
    [
        (Access(), Access(writes="*"), True),
        (Access(reads="*"), Access(reads="*"), True),
        (Access(reads="*"), Access(writes="*"), False),
        (Access(reads="*"), Access(writes=frozenset({"/f"})), False),
        (Access(reads=frozenset({"/f"})), Access(writes=frozenset({"/f"})), False),
        (Access(writes=frozenset({"/f"})), Access(reads=frozenset({"/f"})), False),
        (Access(writes=frozenset({"/f"})), Access(writes=frozenset({"/f"})), False),
        (Access(writes=frozenset({"/f"})), Access(writes=frozenset({"/g"}), reads=frozenset({"/h"})), True),
    ],
)
async def test_calls_conflict_when_one_writes_what_the_other_touches(a, b, together):
    assert conflict(a, b) is not together
    assert conflict(b, a) is not together


async def test_one_failing_call_leaves_its_siblings_alone():
    async def fail(arguments, run):
        raise ValueError("no match")

    async def mute(arguments, run):
        raise KeyError

    agent, feed = agent_of(step("fail", "look", "mute"), tool("fail", fail), tool("look"), tool("mute", mute))
    assert (await agent.prompt("go")).reason == "stop"
    assert texts(agent) == ["fail failed: ValueError: no match", "look done", "mute failed: KeyError"]
    assert [e.is_error for e in feed.of(ToolEnded)] == [True, False, True]


async def test_a_tool_that_fails_with_a_huge_text_does_not_flood_the_model():
    async def fail(arguments, run):
        raise ValueError("x" * 1_000_000)

    agent, _ = agent_of(step("fail"), tool("fail", fail))
    await agent.prompt("go")
    assert [len(text) < 2100 for text in texts(agent)] == [True]


async def test_a_tool_whose_access_cannot_be_told_is_not_run():
    agent, feed = agent_of(step("look"), tool("look", accesses=lambda a: a["path"]))
    await agent.prompt("go")
    assert texts(agent) == ["Not run: look failed before it started (KeyError: 'path')."]
    assert feed.of(ToolStarted) == []


async def test_an_unknown_tool_is_answered_with_the_nearest_names():
    agent, _ = agent_of(step("raed", "zzzzz"), tool("read"), tool("write"))
    await agent.prompt("go")
    assert texts(agent) == [
        "There is no tool named 'raed'. Nearest: read.",
        "There is no tool named 'zzzzz'. Tools: read, write.",
    ]


async def test_arguments_that_are_no_json_are_quoted_with_the_place_of_the_fault():
    agent, _ = agent_of(step("bash", raw='{"command": "ls" "x"}'), tool("bash"))
    assert (await agent.prompt("go")).reason == "stop"
    assert texts(agent) == [
        "Not run: the arguments of bash are no JSON object: Expecting ',' delimiter at line 1, column 18 (character 17). "
        'Send the call again.\nYou sent: {"command": "ls" "x"}'
    ]


async def test_lone_surrogates_of_a_tool_never_reach_the_transcript():
    async def odd(arguments, run):
        await run.update("\ud800")
        return ToolOutput.text("a\udcffb")

    agent, _ = agent_of(step("odd"), tool("odd", odd))
    await agent.prompt("go")
    assert texts(agent) == ["a\ufffdb"]


class Hook:
    """Does what it is told before and after."""

    def __init__(self, before=lambda _call: Proceed(), after=lambda _call, output: output):
        self.before = before
        self.after = after
        self.calls = []

    async def before_tool(self, call):
        self.calls.append(call)
        return self.before(call)

    async def after_tool(self, call, output):
        return self.after(call, output)


def _raise(exc):
    raise exc


async def test_a_hook_may_answer_a_call_instead_of_running_it():
    hooks = Hook(before=lambda _: Answer(ToolOutput.text("denied", is_error=True)))
    agent, feed = agent_of(step("look"), tool("look"), hooks=hooks)
    await agent.prompt("go")
    assert texts(agent) == ["denied"]
    assert feed.of(ToolStarted) == []


async def test_a_hook_that_raises_vetoes_the_call():
    agent, feed = agent_of(step("look"), tool("look"), hooks=Hook(before=lambda _: _raise(OSError("gone"))))
    await agent.prompt("go")
    assert texts(agent) == ["Not run: the check before look failed (OSError: gone)."]
    assert feed.of(ToolStarted) == []


async def test_a_hook_may_change_the_call_and_the_log_keeps_what_the_model_sent():
    async def echo(arguments, run):
        return ToolOutput.text(f"{run.call_id} {arguments}")

    hooks = Hook(before=lambda call: Proceed(ToolCall("other", "echo", {"n": "7"}, "")))
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    agent, feed = agent_of(step("look"), tool("look"), tool("echo", echo, parameters=schema), hooks=hooks)
    await agent.prompt("go")
    assert texts(agent) == ["c0 {'n': 7}"]
    assert agent.messages[1].tool_calls == (ToolCall("c0", "look", {}, "{}"),)
    assert [(e.call_id, e.name, e.arguments) for e in feed.of(ToolStarted)] == [("c0", "echo", {"n": 7})]


async def test_a_call_that_a_hook_made_unrunnable_is_explained():
    hooks = Hook(before=lambda call: Proceed(ToolCall("x", "gone", {}, "{}")))
    agent, _ = agent_of(step("look"), tool("look"), hooks=hooks)
    await agent.prompt("go")
    assert texts(agent) == ["There is no tool named 'gone'. Tools: look."]


async def test_a_hook_sees_mended_arguments_and_may_change_the_output():
    hooks = Hook(after=lambda call, output: ToolOutput.text(f"{output.parts[0].text}, {call.arguments}"))
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    agent, _ = agent_of(step("look", raw='{"n": "3"}'), tool("look", parameters=schema), hooks=hooks)
    await agent.prompt("go")
    assert texts(agent) == ["look done, {'n': 3}"]
    assert [call.arguments for call in hooks.calls] == [{"n": 3}]


async def test_output_that_the_hook_after_it_could_not_check_is_withheld():
    agent, _ = agent_of(step("look"), tool("look"), hooks=Hook(after=lambda *_: _raise(RuntimeError("broken"))))
    await agent.prompt("go")
    assert texts(agent) == ["look ran, but its output is withheld: the check after it failed (RuntimeError: broken)."]


async def test_a_call_waits_for_the_earlier_one_even_when_that_one_fails_or_defers():
    ran = []

    async def edit(arguments, run):
        ran.append(run.call_id)
        if run.call_id == "c0":
            raise ValueError("bad edit")
        if run.call_id == "c1":
            raise Deferred("sure?")
        return ToolOutput.text("ok")

    agent, feed = agent_of(
        step("edit", "edit", "edit"), tool("edit", edit, accesses=lambda _: Access(writes=frozenset({"/f"})))
    )
    turn = await agent.prompt("go")
    assert turn.reason == "parked"
    assert ran == ["c0", "c1", "c2"]
    assert [t for t in feed.types() if t.startswith("tool_")].count("tool_parked") == 1


async def test_a_result_keeps_details_and_cut():
    async def rich(arguments, run):
        return ToolOutput((Text("x"),), details={"diff": 1})

    agent, feed = agent_of(step("rich"), tool("rich", rich))
    await agent.prompt("go")
    assert [(e.name, e.details, e.parts) for e in feed.of(ToolEnded)] == [("rich", {"diff": 1}, (Text("x"),))]


async def test_a_tool_that_was_turned_off_while_its_request_was_made_is_refused_by_name():
    class Sticky(DiskTranscript):
        """Goes on offering a tool that is off, for the provider's cache."""

        async def prompt(self, request):
            made = await super().prompt(request)
            return Prompt(replace(made.request, tools=(*made.request.tools, tool("write").spec)))

    agent, _ = agent_of(step("write", "wrote"), tool("read"), transcript=Sticky())
    await agent.prompt("go")
    assert texts(agent) == [
        "Not run: the tool 'write' is turned off now, though it is still listed. Tools that are on: read.",
        "There is no tool named 'wrote'. Tools: read.",
    ]


class Waiting:
    """A hook that waits for a person before the first call, and says so."""

    def __init__(self, then=lambda _call: Proceed()):
        self.then = then
        self.answered = anyio.Event()

    async def before_tool(self, call):
        if call.id != "c0":
            return Proceed()
        meanwhile()
        await self.answered.wait()
        return self.then(call)

    async def after_tool(self, call, output):
        return output


async def test_calls_behind_one_that_waits_for_a_person_run_meanwhile():
    hooks = Waiting()

    async def look(arguments, run):
        if run.call_id == "c1":
            hooks.answered.set()
        return ToolOutput.text(run.call_id)

    agent, feed = agent_of(step("look", "look"), tool("look", look), hooks=hooks)
    with anyio.fail_after(5):
        await agent.prompt("go")
    assert texts(agent) == ["c0", "c1"]
    assert [e.call_id for e in feed.of(ToolStarted)] == ["c1", "c0"]


@pytest.mark.parametrize("refused", [False, True])
async def test_calls_that_touch_the_same_things_wait_for_one_that_waits_for_a_person(refused):
    hooks = Waiting(lambda _call: Answer(ToolOutput.text("no", is_error=True)) if refused else Proceed())
    ran = []

    async def write(arguments, run):
        ran.append(run.call_id)
        return ToolOutput.text(run.call_id)

    agent, _ = agent_of(
        step("write", "write"), tool("write", write, accesses=lambda _: Access(writes="*")), hooks=hooks
    )
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(agent.prompt, "go")
            await anyio.wait_all_tasks_blocked()
            assert ran == []
            hooks.answered.set()
    assert ran == (["c1"] if refused else ["c0", "c1"])
    assert texts(agent) == (["no", "c1"] if refused else ["c0", "c1"])


async def test_a_call_that_is_changed_after_others_were_let_past_does_not_run():
    hooks = Waiting(lambda call: Proceed(replace(call, arguments={"n": 1})))
    hooks.answered.set()
    agent, _ = agent_of(step("look"), tool("look"), hooks=hooks)
    await agent.prompt("go")
    assert texts(agent) == ["Not run: the check before look changed it too late."]


async def test_a_cancel_while_a_person_is_waited_for_answers_every_call():
    agent, _ = agent_of(step("look", "look"), tool("look"), hooks=Waiting())
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(agent.prompt, "go")
            await anyio.wait_all_tasks_blocked()
            agent.cancel()
    assert texts(agent)[0] == "cancelled"
    assert len(texts(agent)) == 2


async def test_a_log_that_cannot_take_the_results_of_a_cancelled_turn_is_told_of():
    async def look(arguments, run):
        agent.cancel()
        await anyio.lowlevel.checkpoint()
        return ToolOutput.text("never")

    agent, _ = agent_of(step("look"), tool("look", look), transcript=DiskTranscript(fails_at=2))
    turn = await agent.prompt("go")
    assert (turn.reason, turn.error and turn.error.kind) == ("error", "store")
