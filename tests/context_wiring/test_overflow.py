"""The server has the last word on what fits: what happens when it refuses, and when the model changes."""

from pathlib import Path

import pytest

from support.small_window import Heard, SmallRoom, reads, refuses, says, watch
from trimtab.agent.events import ContextEdited, Notice, Retry
from trimtab.types.messages import Text

pytestmark = pytest.mark.anyio
TOO_LONG = {
    "error": {
        "message": "This model's maximum context length is 6000 tokens. However, your messages resulted in 7100 tokens.",
        "code": "context_length_exceeded",
    }
}
LIES = [
    {**TOO_LONG, "error": {**TOO_LONG["error"], "message": TOO_LONG["error"]["message"].replace("6000", lie)}}
    for lie in ("3", "9" * 30)
]
VAGUE = {"error": {"message": "prompt is too long", "code": "context_length_exceeded"}}
READ = [reads("a.txt"), reads("b.txt"), reads("c.txt")]


@pytest.mark.parametrize("body", [TOO_LONG, VAGUE, *LIES], ids=["with the true window", "without", "too small", "huge"])
async def test_a_refused_request_is_made_smaller_and_sent_once_more(tmp_path: Path, body: object) -> None:
    room = SmallRoom.at(tmp_path, window=32_000)
    provider = Heard([*READ, refuses(400, body), says("it fits")])
    async with room.open(provider=provider) as session:
        events = watch(session)
        turn = await session.prompt("read three")
        seen = events.pending()
    assert (turn.reason, turn.text) == ("stop", "it fits")
    refused, sent = provider.requests[-2:]
    assert size(sent.messages) < size(refused.messages)
    assert [e.kind for e in seen if isinstance(e, Retry)] == ["overflow"]
    (told,) = (e.message for e in seen if isinstance(e, Notice) and "the server refused the request" in e.message)
    assert ("to the 6,000 tokens" if body is TOO_LONG else "by a fifth or more") in told
    assert {e.author for e in seen if isinstance(e, ContextEdited)} <= {
        "recovery",
        "policy:rules",
        "policy:housekeeping",
    }
    assert session.context.engine.budget.window < 32_000


def size(messages: object) -> int:
    assert isinstance(messages, tuple)
    return sum(len(part.text) for m in messages for part in m.parts if isinstance(part, Text))


async def test_a_second_refusal_ends_the_turn_with_the_servers_error(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=32_000)
    provider = Heard([*READ, refuses(400, TOO_LONG), refuses(400, TOO_LONG), says("never")])
    async with room.open(provider=provider) as session:
        turn = await session.prompt("read three")
    assert turn.reason == "error"
    assert turn.error is not None
    assert turn.error.kind == "overflow"
    assert len(provider.requests) == 5


async def test_a_rate_limit_never_touches_the_context(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=32_000)
    limit = refuses(429, {"error": {"message": "Rate limit reached: too many tokens per minute", "type": "tokens"}})
    provider = Heard([*READ, limit, says("later")])
    async with room.open(provider=provider) as session:
        turn = await session.prompt("read three")
    assert (turn.reason, turn.text) == ("stop", "later")
    assert room.edits() == []


async def test_a_refused_output_limit_is_lowered_and_the_messages_stay(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=32_000)
    body = {"error": {"message": "max_tokens is too large: 1000. This model supports at most 512 completion tokens."}}
    provider = Heard([refuses(400, body), says("short")])
    async with room.open(provider=provider) as session:
        turn = await session.prompt("hi")
    assert (turn.reason, turn.text) == ("stop", "short")
    refused, sent = provider.requests
    assert refused.messages == sent.messages
    assert (refused.max_output, sent.max_output) == (1_000, 512)
    assert room.edits() == []


async def test_with_policy_none_a_refusal_is_the_end(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=32_000, policy="none")
    async with room.open(*READ, refuses(400, TOO_LONG), says("never")) as session:
        turn = await session.prompt("read three")
    assert turn.reason == "floor"
    assert room.edits() == []


async def test_a_larger_model_summarises_before_a_smaller_one_takes_over(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=32_000, soft=0.92, target=0.9)
    told = "".join(
        f"- {letter}.txt was read: each of its 120 lines gives the value of one item. " for letter in "abcdef"
    )
    summary = f"<summary>## Goal\nread all\n## Done\n{told}\n## Critical facts\nitem_7 of a is 5409.\n</summary>"
    read = [reads(f"{letter}.txt") for letter in "abcdef"]
    old, new = Heard([*read, says("done"), says(summary)]), Heard([says("here")])
    async with room.open(provider=old) as session:
        await session.prompt("read all")
        await session.set_model("local/tinier")
        session.agent.provider = new
        turn = await session.prompt("go on")
        assert (turn.reason, turn.text) == ("stop", "here")
    assert len(old.requests) == 8
    first = room.edits()[0]["edit"]
    assert "model" in first, first["meta"]
    assert (first["kind"], first["model"]) == ("compact", "local/tiny")
    assert any(
        "item_7 of a is 5409" in p.text for m in new.requests[0].messages for p in m.parts if isinstance(p, Text)
    )
    assert new.requests[0].model.context_window == 16_000


async def test_when_the_larger_model_fails_the_ladder_makes_the_switch_fit(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=16_000)
    old, new = (
        Heard([*READ, reads("d.txt"), says("done"), refuses(400, {"error": {"message": "no"}})]),
        Heard([says("here")]),
    )
    async with room.open(provider=old) as session:
        await session.prompt("read three")
        await session.set_model("local/tinier")
        session.agent.provider = new
        turn = await session.prompt("go on")
    assert (turn.reason, turn.text) == ("stop", "here")
    assert room.edits()


async def test_a_server_that_cuts_prompts_in_silence_is_told_and_nothing_is_done_about_it(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=32_000)
    read = (1_640, 3_400, 5_200, 6_080, 6_060, 6_070)
    cut = [{**reads(f"{x}.txt"), "usage": {"input": n, "output": 20}} for x, n in zip("abcdef", read, strict=True)]
    provider = Heard([*cut, says("done")])
    async with room.open(provider=provider) as session:
        events = watch(session)
        turn = await session.prompt("read six")
        notices = [e.message for e in events.pending() if isinstance(e, Notice)]
    assert turn.reason == "stop"
    assert sum("it may have cut the prompt" in said for said in notices) == 1
    assert session.context.engine.budget.window == 32_000
