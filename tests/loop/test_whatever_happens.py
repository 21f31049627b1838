"""Random runs, cancelled at random points: the conversation is whole afterwards, and the events are legal at every moment."""

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.agent_fakes import MODEL, DiskTranscript, RecordingFeed, Script, calls, ends, says, tool
from trimtab.agent import Access, Agent, Deferred, ToolOutput
from trimtab.agent.events import (
    Event,
    MessageDelta,
    MessageEnded,
    MessageStarted,
    StepEnded,
    StepStarted,
    ToolEnded,
    ToolParked,
    ToolStarted,
    ToolUpdate,
    TurnEnded,
    TurnStarted,
)
from trimtab.types import Assistant, ToolResult
from trimtab.types.stream import Retrying

BEHAVIOURS = ("quick", "slow", "raises", "defers", "unknown")
CALL = st.tuples(st.sampled_from(BEHAVIOURS), st.sampled_from(("id0", "id1")), st.sampled_from(("", "f", "*")))
ANSWER = st.tuples(
    st.lists(CALL, max_size=4),
    st.sampled_from(("tool_use", "stop", "length", "error", "refused", "nothing", "raises")),
    st.booleans(),
)
RUN = st.tuples(st.lists(ANSWER, max_size=3), st.none() | st.integers(0, 60), st.none() | st.integers(0, 6))


class Referee:
    """Checks each event against what came before it, at the moment it is emitted."""

    def __init__(self, transcript: DiskTranscript) -> None:
        self.transcript = transcript
        self.turn = self.step = False
        self.message: str | None = None
        self.running: set[str] = set()
        self.answered: list[str] = []
        self.entries: set[str] = set()

    def __call__(self, event: Event) -> None:
        if isinstance(event, MessageEnded | ToolEnded | ToolParked):
            assert event.entry_id in self.transcript.durable
            assert event.entry_id not in self.entries
            self.entries.add(event.entry_id)
        match event:
            case TurnStarted():
                assert not self.turn
                self.turn = True
            case StepStarted():
                assert self.turn
                assert not self.step
                self.step = True
            case MessageStarted():
                assert self.step
                assert self.message is None
                self.message = event.message_id
            case MessageDelta():
                assert self.message == event.message_id
            case MessageEnded() if isinstance(event.message, Assistant):
                assert self.message == event.message_id
                self.message = None
            case ToolStarted():
                assert self.step
                assert self.message is None
                assert event.call_id not in self.running
                self.running.add(event.call_id)
            case ToolUpdate():
                assert event.call_id in self.running
            case ToolEnded():
                assert event.call_id not in self.answered
                self.answered.append(event.call_id)
            case StepEnded():
                assert self.step
                # An answer that could not be recorded is never said to have ended.
                assert self.message is None or self.transcript.failed
                self.step, self.message = False, None
            case TurnEnded():
                assert self.turn
                assert not self.step
                self.turn = False


def script_of(answers) -> Script:
    lists = []
    for chosen, end, retried in answers:
        steps = [*says("text")]
        if retried:
            steps += [*calls("quick", call_id="id0", part=1), Retrying(1, 0.0, "server"), *says("text")]
        for part, (behaviour, call_id, path) in enumerate(chosen, start=1):
            steps += calls(behaviour, f'{{"path": "{path}"}}', call_id=call_id, part=part)
        steps += {"nothing": [], "raises": [OSError("reset")]}[end] if end in ("nothing", "raises") else ends(end)
        lists.append(steps)
    return Script(*lists, [*says("done"), *ends()])


def tools():
    async def slow(arguments, run):
        for _ in range(3):
            await run.update("…")
            await anyio.lowlevel.checkpoint()
        return ToolOutput.text("slow")

    async def raises(arguments, run):
        await anyio.lowlevel.checkpoint()
        raise ValueError("x")

    async def defers(arguments, run):
        await anyio.lowlevel.checkpoint()
        raise Deferred("?")

    def access(arguments):
        path = arguments["path"]
        return Access(writes="*" if path == "*" else frozenset({path} - {""}))

    handlers = {"quick": None, "slow": slow, "raises": raises, "defers": defers}
    return [tool(name, handler, accesses=access) for name, handler in handlers.items()]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@given(RUN)
@settings(deadline=None, max_examples=40)
def test_every_call_has_exactly_one_outcome_and_every_event_was_legal(backend, run):
    answers, cancel_after, fails_at = run
    transcript = DiskTranscript(fails_at=fails_at)
    referee = Referee(transcript)
    feed = RecordingFeed(referee)
    agent = Agent(script_of(answers), model=MODEL, tools=tools(), transcript=transcript, feed=feed)

    async def cancel_later():
        for _ in range(cancel_after):
            await anyio.lowlevel.checkpoint()
        agent.cancel()

    async def main():
        async with anyio.create_task_group() as group:
            if cancel_after is not None:
                group.start_soon(cancel_later)
            turn = await agent.prompt("go")
            group.cancel_scope.cancel()
        return turn

    turn = anyio.run(main, backend=backend)
    assert not referee.turn
    assert feed.events[-1] == TurnEnded(reason=turn.reason, usage=turn.usage)
    if turn.error is not None and turn.error.kind == "store":
        return
    made = [c.id for m in transcript.messages if isinstance(m, Assistant) and not m.superseded for c in m.tool_calls]
    stored = [m.call_id for m in transcript.messages if isinstance(m, ToolResult)]
    assert sorted([*stored, *agent.parked]) == sorted(made)
    assert len(set(made)) == len(made)
    assert referee.answered == stored
    assert (turn.reason == "parked") <= bool(agent.parked)
