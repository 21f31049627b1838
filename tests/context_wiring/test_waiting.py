"""A server that keeps a summary back holds up nobody: a person sees the wait, may end it, and it ends by itself. The turn goes on with a digest each time."""

import io
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import anyio
import pytest

from support.servers import FakeServer, Pause, Reply, Stall, Step, sse
from support.small_window import Heard, Json, SmallRoom, reads, says, watch
from support.typed_talk import typing_loop
from trimtab.agent.events import Notice
from trimtab.agent.loop import Turn
from trimtab.coding.context import waiting
from trimtab.coding.context.summariser import Summarisers
from trimtab.coding.context.waiting import SummaryWait
from trimtab.coding.session import Session
from trimtab.context.asks import Answer, Failed, Summarize
from trimtab.frontends.cli.text import TextPrinter
from trimtab.providers.http import HttpProvider
from trimtab.providers.openai_chat import OpenAIChat
from trimtab.providers.wire import Endpoint
from trimtab.types.messages import Text, user
from trimtab.types.models import ModelInfo, ModelRequest

pytestmark = pytest.mark.anyio
MODEL = ModelInfo("p", "m", "openai-chat")
ASK = Summarize((user("sum up"),), "serialised", 1_000)
QUIET_S = 0.4


def words(count: int) -> list[Step]:
    return sse(*({"choices": [{"index": 0, "delta": {"content": f"word{n} "}}]} for n in range(count)))


def dripping(chunks: Iterable[Step], seconds: float) -> list[Step]:
    """The same bytes one by one, with so many seconds between them."""
    data = b"".join(chunk for chunk in chunks if isinstance(chunk, bytes))
    return [step for byte in data for step in (bytes([byte]), Pause(seconds))]


@pytest.mark.parametrize(
    ("chunks", "why"),
    [
        ([Stall()], "said nothing for 0.4 s"),
        ([*words(3), Stall()], "said nothing for 0.4 s"),
        (dripping(words(2), 0.05), "said nothing for 0.4 s"),
        ([step for word in words(60) for step in (word, Pause(0.05))], "wrote no whole summary within 1.2 s"),
    ],
    ids=[
        "it accepts and never answers",
        "it stalls after half of the answer",
        "it drips bytes",
        "it never comes to an end",
    ],
)
async def test_a_server_that_keeps_a_summary_back_is_waited_for_a_bounded_time(chunks: list[Step], why: str) -> None:
    with FakeServer(Reply(chunks)) as server:
        provider = HttpProvider(Endpoint("p", "openai-chat", server.url, api_key="k"), OpenAIChat())
        answer = await Summarisers(lambda: (provider, MODEL), quiet_s=QUIET_S).ask(ASK)
        await provider.aclose()
    assert answer == Failed(f"p/m {why}")


class Mute(Heard):
    """Reads like its script, and never says a word when it is asked for a summary."""

    def __init__(self, lines: Iterable[Json]) -> None:
        super().__init__(lines)
        self.waits = anyio.Event()
        self.asked = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[Any]:
        """Answer, or never."""
        last = "".join(part.text for part in request.messages[-1].parts if isinstance(part, Text))
        if "<analysis>" in last:
            self.asked += 1
            self.waits.set()
            await anyio.sleep_forever()
        async for event in super().stream(request):
            yield event


def compactions(room: SmallRoom) -> list[Json]:
    return [entry["edit"] for entry in room.edits() if entry["edit"]["kind"] == "compact"]


async def skipping(session: Session, provider: Mute) -> None:
    """What Ctrl-C does in a talk, whenever the turn waits for a summary."""
    while True:
        await provider.waits.wait()
        provider.waits = anyio.Event()
        assert session.skip_summary()


async def test_a_person_goes_on_without_the_summary_and_the_turn_with_a_digest(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, policy="summary")
    provider = Mute([*(reads(f"{letter}.txt") for letter in "abcdef"), says("done")])
    async with room.open(provider=provider) as session:
        assert not session.skip_summary()
        async with anyio.create_task_group() as group:
            group.start_soon(skipping, session, provider)
            with anyio.fail_after(30):
                turn = await session.prompt("read them all")
            group.cancel_scope.cancel()
    assert (turn.reason, turn.text) == ("stop", "done")
    made = compactions(room)
    assert {edit["mode"] for edit in made} == {"digest"}
    assert "a person didn't want to wait for it" in str(made[0]["meta"]["rejected"])
    assert provider.asked <= len(made) + 1, "one no is enough for all ways that would be tried for a request"


async def test_of_a_switch_to_a_smaller_window_too_one_no_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The summary of the model that is left and those of the request behind it belong to one plan, and a no holds for a plan."""
    room = SmallRoom.at(tmp_path, window=32_000, soft=0.92, target=0.9)
    old = Heard([*(reads(f"{letter}.txt") for letter in "abcdef"), says("done")])
    mute, plans, begin = Mute([says("here")]), list[SummaryWait](), SummaryWait.begin

    def counted(wait: SummaryWait) -> None:
        plans.append(wait)
        begin(wait)

    async with room.open(provider=old) as session, anyio.create_task_group() as group:
        await session.prompt("read them all")
        session.agent.provider = mute
        await session.set_model("local/tinier")
        session.agent.provider = mute
        group.start_soon(skipping, session, mute)
        monkeypatch.setattr(SummaryWait, "begin", counted)
        with anyio.fail_after(30):
            turn = await session.prompt("go on")
        group.cancel_scope.cancel()
    assert (turn.reason, turn.text) == ("stop", "here")
    assert (mute.asked, len(plans)) == (1, 1)


async def test_a_wait_that_ended_with_its_turn_is_nothing_that_the_next_turn_can_skip() -> None:
    wait = SummaryWait(quiet_s=60, most_s=180)

    async def never() -> Answer:
        await anyio.sleep_forever()
        raise AssertionError

    with anyio.move_on_after(0) as turn:
        await wait.over(never, writer="p/m")
    assert turn.cancelled_caught
    assert not wait.skip()


async def test_ctrl_c_in_a_talk_ends_the_wait_and_not_the_turn(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, policy="summary")
    provider = Mute([*(reads(f"{letter}.txt") for letter in "abcdef"), says("done")])
    err = io.StringIO()
    async with room.open(provider=provider) as session, anyio.create_task_group() as group:
        loop = typing_loop(session, TextPrinter(out=io.StringIO(), err=err), group.start_soon)
        turns: list[Turn] = []

        async def turn() -> None:
            turns.append(await session.prompt("read them all"))

        loop.work(turn)
        with anyio.fail_after(30):
            while loop.working:
                with anyio.move_on_after(0.05):
                    await provider.waits.wait()
                    provider.waits = anyio.Event()
                    assert loop.interrupt()
    assert [turn.reason for turn in turns] == ["stop"]
    assert "going on without that summary; Ctrl-C again stops the turn" in err.getvalue()


async def test_a_turn_that_is_stopped_while_it_waits_is_over_at_once(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, policy="summary")
    provider = Mute([*(reads(f"{letter}.txt") for letter in "abcdef"), says("done")])

    async def stop(session: Session) -> None:
        await provider.waits.wait()
        session.cancel()

    async with room.open(provider=provider) as session, anyio.create_task_group() as group:
        group.start_soon(stop, session)
        with anyio.fail_after(20):
            turn = await session.prompt("read them all")
    assert turn.reason == "cancelled"


async def test_a_wait_of_some_seconds_is_told_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "TELL_AFTER_S", 0.0)
    room = SmallRoom.at(tmp_path, policy="summary", summary_wait_s=0.3)
    provider = Mute([*(reads(f"{letter}.txt") for letter in "abcdef"), says("done")])
    async with room.open(provider=provider) as session:
        session.context.transcript.wait.way_out = "Ctrl-C ends the wait"
        events = watch(session)
        turn = await session.prompt("read them all")
        told = [event.message for event in events.pending() if isinstance(event, Notice)]
    assert turn.reason == "stop"
    assert (
        "the conversation has to get smaller: waiting for a summary by local/tiny"
        " (at most 0.9 s, or 0.3 s without a word); Ctrl-C ends the wait"
    ) in told


async def test_the_next_request_may_wait_again() -> None:
    wait = SummaryWait(quiet_s=1, most_s=3)
    asked = 0

    async def ask() -> Answer:
        nonlocal asked
        asked += 1
        if asked == 1:
            wait.skip()
        await anyio.lowlevel.checkpoint()
        return Failed("asked")

    stopped = await wait.over(ask, writer="m")
    assert (stopped, await wait.over(ask, writer="m"), asked) == (stopped, stopped, 1)
    assert stopped != Failed("asked")
    wait.begin()
    assert (await wait.over(ask, writer="m"), asked, wait.skip()) == (Failed("asked"), 2, False)
