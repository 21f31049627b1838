"""A watcher that doesn't take what it is told, and events that no other test meets."""

import os

import anyio
import pytest

from trimtab.agent.events import ContextEdited, Error, MessageEnded, ToolEnded, TurnEnded, TurnStarted
from trimtab.agent.feed import Feed
from trimtab.frontends.rpc.follow import Follower
from trimtab.frontends.rpc.outbox import Outbox
from trimtab.frontends.rpc.stream import Stream
from trimtab.types.messages import Text, user
from trimtab.types.models import ModelInfo
from trimtab.types.usage import Usage

pytestmark = pytest.mark.anyio
MODEL = ModelInfo("p", "m", "openai-chat")


def stream() -> Stream:
    return Stream(model=lambda: MODEL, compaction=lambda entry_id: {"summary": f"of {entry_id}"})


async def test_who_never_reads_loses_events_and_is_told_when_it_reads_again() -> None:
    read, write = os.pipe()
    outbox, feed = Outbox(write, high=1_000), Feed(patience_s=0.02)
    follower = Follower(feed, stream(), outbox, queued=dict)
    big = user("x" * 4_000)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(follower.run)
            group.start_soon(outbox.run)
            for number in range(600):  # none of them waits for long
                await feed.publish(MessageEnded(entry_id=str(number), message=big))
            assert outbox.size < 100_000
            assert feed.statistics().dropped_watchers >= 1
            data = b""
            while b"trimtab.events_lost" not in data:
                await anyio.wait_readable(read)
                data += os.read(read, 1 << 16)
            await feed.publish(MessageEnded(entry_id="last", message=user("z")))
            while b'"entryId":"last"' not in data:
                await anyio.wait_readable(read)
                data += os.read(read, 1 << 16)
            group.cancel_scope.cancel()
    finally:
        os.close(read)
        os.close(write)
    assert data.count(b"\n") > 3


async def test_the_box_says_when_nobody_reads_and_keeps_nothing_then() -> None:
    read, write = os.pipe()
    outbox = Outbox(write)
    os.close(read)
    outbox.look()
    assert outbox.broken.is_set()
    outbox.put({"type": "x"})
    await outbox.run()
    await outbox.room(0)
    assert outbox.size == 0
    os.close(write)


def test_a_summary_that_a_policy_wanted_is_told_with_both_its_ends() -> None:
    told = list(
        stream().records(
            ContextEdited(
                entry_id="e",
                kind="compact",
                targets=(),
                reason="full",
                author="policy:rules",
                before_tokens=9,
                after_tokens=3,
            )
        )
    )
    assert [r["type"] for r in told] == ["trimtab.event", "compaction_start", "compaction_end"]
    assert told[1:] == [
        {"type": "compaction_start", "reason": "threshold"},
        {
            "type": "compaction_end",
            "reason": "threshold",
            "result": {"summary": "of e"},
            "aborted": False,
            "willRetry": False,
        },
    ]


def test_a_run_that_fails_before_any_answer_ends_with_one_that_says_why() -> None:
    fold = stream()
    fold.events = "none"
    events = [TurnStarted(), Error(kind="floor", message="it doesn't fit"), TurnEnded(reason="floor", usage=Usage())]
    told = [record for event in events for record in fold.records(event)]
    assert [r["type"] for r in told] == [
        "agent_start",
        "turn_start",
        "message_start",
        "message_end",
        "turn_end",
        "agent_end",
    ]
    assert told[3]["message"]["errorMessage"] == "it doesn't fit"
    assert (told[3]["message"]["stopReason"], told[5]["reason"]) == ("error", "floor")


def test_a_call_that_never_ran_has_a_beginning_and_an_end() -> None:
    fold = stream()
    ended = ToolEnded(entry_id="e", call_id="c", name="bash", is_error=True, parts=(Text("Not run: no."),))
    told = [r["type"] for r in fold.records(ended)]
    assert told == ["tool_execution_start", "tool_execution_end", "message_start", "message_end"]


def test_the_end_of_a_long_run_repeats_its_newest_messages_and_counts_the_others() -> None:
    fold = stream()
    list(fold.records(TurnStarted()))
    for number in range(8):
        list(fold.records(MessageEnded(entry_id=str(number), message=user("x" * 300_000))))
    end = list(fold.records(TurnEnded(reason="stop", usage=Usage())))[-1]
    assert end["type"] == "agent_end"
    assert (len(end["messages"]), end["messagesLeftOut"]) == (4, 5)
