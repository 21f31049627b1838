"""The scripted model: the stream of a line, retries, expectations, and the end of the script."""

from collections.abc import Iterable, Mapping
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.providers.script import make_script
from trimtab.providers.scripted import ScriptedProvider, answer, request_text
from trimtab.types.messages import Assistant, Text, Thinking, ToolCall, ToolResult, user
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.stream import Assembler, Ended, PartDelta, PartEnded, PartStarted, Retrying, StreamEvent
from trimtab.types.usage import Usage

MODEL = ModelInfo(provider="scripted", id="script", api="scripted")
REQUEST = ModelRequest(
    MODEL,
    (
        user("please fix app.py"),
        Assistant((ToolCall("c1", "read", {"path": "app.py"}, '{"path": "app.py"}'),), "tool_use"),
        ToolResult("c1", "read", (Text("def broken(): ..."),), is_error=False),
    ),
    system="You are an agent.",
)


class Sleeper:
    """A clock that doesn't wait."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)


async def run(provider: ScriptedProvider, request: ModelRequest = REQUEST) -> list[StreamEvent]:
    return [event async for event in provider.stream(request)]


def fold(events: Iterable[StreamEvent]) -> Assistant:
    assembler = Assembler(provider="scripted", model="script")
    for event in events:
        assembler.feed(event)
    return assembler.message()


@pytest.mark.anyio
async def test_a_line_streams_thinking_then_text_then_calls_in_chunks() -> None:
    line = {
        "thinking": "hmm",
        "text": "héllo🌍",
        "tool_calls": [{"id": "c9", "name": "ls", "arguments": {}}],
        "usage": {"input": 10, "output": 5, "cache_read": 2, "cache_write": 1},
        "chunk": 4,
    }
    assert await run(ScriptedProvider([line])) == [
        PartStarted(0, "thinking"),
        PartDelta(0, "thinking", "hmm"),
        PartEnded(0, Thinking("hmm")),
        PartStarted(1, "text"),
        PartDelta(1, "text", "héll"),
        PartDelta(1, "text", "o🌍"),
        PartEnded(1, Text("héllo🌍")),
        PartStarted(2, "tool_arguments", call_id="c9", name="ls"),
        PartDelta(2, "tool_arguments", "{}"),
        PartEnded(2, ToolCall("c9", "ls", {}, "{}")),
        Ended("tool_use", Usage(10, 5, 2, 1), "script"),
    ]


@pytest.mark.anyio
async def test_without_usage_none_is_reported_and_a_given_stop_reason_wins() -> None:
    provider = ScriptedProvider([{"text": "a"}, {"text": "b", "stop_reason": "length"}])
    assert (await run(provider))[-1] == Ended("stop", None, "script")
    assert (await run(provider))[-1] == Ended("length", None, "script")


@pytest.mark.anyio
async def test_calls_without_an_id_get_different_fresh_ones_and_broken_arguments_stay_broken() -> None:
    line = {"tool_calls": [{"name": "ls", "arguments": "{oops"}, {"name": "ls"}]}
    first, second = fold(await run(ScriptedProvider([line]))).tool_calls
    assert first.id != second.id
    assert (first.arguments, first.raw) == (None, "{oops")
    assert second.arguments == {}


@given(text=st.text(), chunk=st.integers(1, 9))
def test_the_deltas_of_a_part_join_to_its_text_whatever_the_chunk(text: str, chunk: int) -> None:
    (line,) = make_script([{"text": text, "thinking": text[::-1], "chunk": chunk}])
    events = list(answer(line))
    for kind, whole in (("text", text), ("thinking", text[::-1])):
        deltas = [e.text for e in events if isinstance(e, PartDelta) and e.kind == kind]
        assert "".join(deltas) == whole
        assert all(0 < len(d) <= chunk for d in deltas)


def test_a_lone_surrogate_in_a_script_is_scrubbed_from_deltas_and_parts() -> None:
    (line,) = make_script([{"text": "a\ud800b"}])
    assert list(answer(line))[1:] == [PartDelta(0, "text", "a\ufffdb"), PartEnded(0, Text("a\ufffdb"))]


@pytest.mark.anyio
async def test_a_retryable_error_uses_the_next_line_after_the_asked_wait() -> None:
    sleeper = Sleeper()
    error = {"error": {"status": 529, "body": "Overloaded", "retry_after_s": 2}}
    events = await run(ScriptedProvider([error, {"text": "ok"}], sleep=sleeper))
    assert isinstance(events[0], Retrying)
    assert (events[0].attempt, events[0].wait_s, events[0].kind) == (1, 2.0, "server")
    assert fold(events).text == "ok"
    assert sleeper.slept == [2.0]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"status": 401, "body": {"error": {"message": "bad key"}}}, "auth"),
        ({"status": 429, "body": "Too many requests"}, "rate_limit"),
        ({"status": 500, "body": "boom"}, "server"),
        ({"status": 400, "body": {"error": {"code": "context_length_exceeded", "message": "too long"}}}, "overflow"),
        ({}, "network"),
    ],
)
async def test_an_error_that_is_not_answered_by_another_line_ends_the_stream_with_its_class(
    error: Mapping[str, Any], kind: str
) -> None:
    events = await run(ScriptedProvider([{"error": error}]))
    assert len(events) == 1
    ended = events[0]
    assert isinstance(ended, Ended)
    assert ended.error is not None
    assert (ended.stop_reason, ended.error.kind) == ("error", kind)


@pytest.mark.anyio
async def test_an_error_after_streamed_text_keeps_the_text_and_is_not_retried() -> None:
    provider = ScriptedProvider([{"text": "half", "error": {"status": 503, "body": ""}}, {"text": "next turn"}])
    message = fold(await run(provider))
    assert (message.text, message.stop_reason) == ("half", "error")
    assert provider.remaining == 1


@pytest.mark.anyio
async def test_retries_are_bounded() -> None:
    provider = ScriptedProvider([{"error": {"status": 503, "body": "busy"}}] * 9, sleep=Sleeper(), max_retries=2)
    events = await run(provider)
    assert [type(e) for e in events] == [Retrying, Retrying, Ended]
    assert provider.remaining == 6


@pytest.mark.anyio
async def test_a_request_past_the_last_line_ends_with_a_script_error() -> None:
    provider = ScriptedProvider([{"text": "only"}])
    await run(provider)
    (ended,) = await run(provider)
    assert isinstance(ended, Ended)
    assert ended.error is not None
    assert (ended.error.kind, ended.error.message) == ("script", "request 2 is past the last line of script")


@pytest.mark.anyio
async def test_expectations_look_at_system_texts_arguments_and_results() -> None:
    strings = ["You are an agent", "please fix", '{"path": "app.py"}', "def broken"]
    events = await run(ScriptedProvider([{"text": "ok", "expect": {"contains": strings, "absent": ["secret"]}}]))
    assert fold(events).text == "ok"


@pytest.mark.anyio
async def test_a_failed_expectation_names_the_line_and_what_was_missing_or_forbidden() -> None:
    line = {"text": "ok", "expect": {"contains": ["fix", "nowhere"], "absent": ["broken"]}}
    (ended,) = await run(ScriptedProvider([line]))
    assert isinstance(ended, Ended)
    assert ended.error is not None
    assert ended.error.kind == "script"
    assert ended.error.message == "script, line 1: the request lacks 'nowhere' and the request holds 'broken'"


@pytest.mark.anyio
async def test_a_delayed_answer_can_be_cancelled() -> None:
    events: list[StreamEvent] = []
    with anyio.move_on_after(0.01) as scope:
        events += await run(ScriptedProvider([{"text": "late", "delay_ms": 60_000}]))
    assert scope.cancelled_caught
    assert events == []


@pytest.mark.anyio
async def test_delays_pass_before_the_answer_and_before_each_delta() -> None:
    sleeper = Sleeper()
    await run(ScriptedProvider([{"text": "abcd", "chunk": 2, "delay_ms": 500, "chunk_delay_ms": 10}], sleep=sleeper))
    assert sleeper.slept == [0.5, 0.01, 0.01]


def test_the_text_of_a_request_has_its_parts_in_order() -> None:
    assert request_text(REQUEST) == (
        'You are an agent.\nplease fix app.py\nread {"path": "app.py"}\ndef broken(): ...\nread'
    )
