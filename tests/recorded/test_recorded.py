"""Cassettes: what is recorded is replayed; a changed request is refused with a reason."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.providers.cassette import Take, request_hash, take_of
from trimtab.providers.recorded import RecordedProvider, Recorder
from trimtab.providers.scripted import ScriptedProvider
from trimtab.types.errors import ConfigError, ErrorInfo
from trimtab.types.messages import Assistant, Opaque, Text, Thinking, ToolCall, ToolResult, user
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.stream import Ended, PartDelta, PartEnded, PartStarted, Retrying, StreamEvent
from trimtab.types.tools import ToolSpec
from trimtab.types.usage import Usage

MODEL = ModelInfo(provider="openai", id="gpt-5", api="openai-responses")
LS = ToolSpec("ls", "List a folder.", {"type": "object", "properties": {"path": {"type": "string"}}})


def asking(*messages: Any, **fields: Any) -> ModelRequest:
    return ModelRequest(MODEL, messages or (user("hi"),), **{"system": "Be brief.", "tools": (LS,), **fields})


async def run(provider: Any, request: ModelRequest) -> list[StreamEvent]:
    return [event async for event in provider.stream(request)]


async def failure(provider: Any, request: ModelRequest) -> str:
    (ended,) = await run(provider, request)
    assert isinstance(ended, Ended)
    assert ended.error is not None
    assert ended.error.kind == "script"
    return ended.error.message


async def record(path: Path, lines: list[Any], *requests: ModelRequest) -> list[list[StreamEvent]]:
    recorder = Recorder(ScriptedProvider(lines), path)
    return [await run(recorder, request) for request in requests]


@pytest.mark.anyio
async def test_a_recorded_run_replays_event_for_event(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    lines = [
        {"thinking": "t", "text": "é🌍", "tool_calls": [{"name": "ls", "arguments": "{bad"}], "usage": {"input": 3}},
        {"error": {"status": 529, "body": "busy"}},
        {"text": "ok", "chunk": 1},
    ]
    first, second = asking(), asking(user("again"))
    streamed = await record(path, lines, first, second)
    replay = RecordedProvider(path)
    assert [await run(replay, first), await run(replay, second)] == streamed


@pytest.mark.anyio
async def test_every_kind_of_event_survives_the_cassette() -> None:
    events: list[StreamEvent] = [
        PartStarted(0, "tool_arguments", call_id="c", name="ls"),
        PartDelta(0, "tool_arguments", "{}"),
        PartEnded(0, ToolCall("c", "ls", {}, "{}", wire={"k": 1})),
        PartEnded(1, Thinking("", signature="s", redacted=True)),
        PartEnded(2, Opaque("openai", {"a": [1]})),
        Retrying(1, 2.5, "server", "busy", "wait"),
        Ended("error", Usage(1, 2, 3, 4, 1, 1), "m", ErrorInfo("overflow", "long", limit=5, actual=6)),
    ]
    take = take_of(asking(), events)
    again = msgspec.json.decode(msgspec.json.encode(take), type=type(take))
    assert list(again.stream_events()) == events


@pytest.mark.anyio
async def test_a_cassette_is_private_and_holds_nothing_of_the_request(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    await record(path, [{"text": "answer"}], asking(user("the password is hunter2"), system="sk-secret"))
    written = path.read_text(encoding="utf-8")
    assert "answer" in written
    assert "hunter2" not in written
    assert "sk-secret" not in written
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (asking(system="Be long."), "the system prompt differs"),
        (asking(tools=()), "tools differ: ls"),
        (asking(user("ho")), "message 1 (user) differs"),
        (asking(user("hi"), user("more")), "2 messages, recorded were 1"),
        (
            asking(Assistant((Text("hi"),), "stop")),
            "message 1 (user recorded, assistant now) differs",
        ),
    ],
)
async def test_a_changed_request_fails_with_its_number_both_hashes_and_what_differs(
    tmp_path: Path, request_: ModelRequest, why: str
) -> None:
    path = tmp_path / "run.jsonl"
    await record(path, [{"text": "answer"}], asking())
    hashes = f"recorded {request_hash(asking())[:12]}, now {request_hash(request_)[:12]}"
    assert await failure(RecordedProvider(path), request_) == f"request 1 differs from {path}: {hashes}: {why}"


@pytest.mark.anyio
async def test_reordered_tools_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    other = ToolSpec("cat", "", {})
    await record(path, [{"text": "answer"}], asking(tools=(LS, other)))
    assert "the order of the tools differs" in await failure(RecordedProvider(path), asking(tools=(other, LS)))


@pytest.mark.anyio
async def test_a_take_answers_once_and_takes_may_come_in_another_order(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    first, second = asking(user("a")), asking(user("b"))
    streamed = await record(path, [{"text": "1"}, {"text": "2"}], first, second)
    replay = RecordedProvider(path)
    assert await run(replay, second) == streamed[1]
    assert await run(replay, first) == streamed[0]
    assert await failure(replay, first) == f"request 3 is past the last take of {path}"


@pytest.mark.anyio
async def test_a_stream_that_is_given_up_is_not_recorded(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    stream = Recorder(ScriptedProvider([{"text": "abc", "chunk": 1}]), path).stream(asking())
    await anext(stream)
    await stream.aclose()  # type: ignore[attr-defined]
    assert not path.exists()


@pytest.mark.anyio
async def test_a_cassette_that_cannot_be_written_ends_the_stream_with_an_error(tmp_path: Path) -> None:
    ((*parts, ended),) = await record(tmp_path / "no" / "run.jsonl", [{"text": "ok", "usage": {"input": 3}}], asking())
    assert len(parts) == 3
    assert isinstance(ended, Ended)
    assert ended.error is not None
    assert (ended.error.kind, ended.usage) == ("script", Usage(3))
    assert "can't write the cassette" in ended.error.message


@pytest.mark.anyio
async def test_a_delta_with_half_a_surrogate_pair_is_recorded_without_harm() -> None:
    events: list[StreamEvent] = [PartDelta(0, "text", "\ud83c"), PartEnded(0, Text("🌍")), Ended("stop")]
    take = msgspec.json.decode(msgspec.json.encode(take_of(asking(), events)), type=Take)
    assert list(take.stream_events()) == [PartDelta(0, "text", "\ufffd"), *events[1:]]


@given(st.text(), st.text(), st.booleans())
def test_the_hash_ignores_what_the_model_does_not_read(model_id: str, session: str, known: bool) -> None:
    result = ToolResult("c", "ls", (Text("x"),), is_error=False)
    shown = ToolResult("c", "ls", (Text("x"),), is_error=False, details={"ms": 3}, handle="r7")
    base = asking(Assistant((Text("x"),), "stop"), result)
    said = Assistant((Text("x"),), "stop", Usage(1) if known else None, model=model_id, provider=session)
    other = msgspec.structs.replace(
        base,
        model=ModelInfo(provider="recorded", id=model_id, api="recorded"),
        messages=(said, shown),
        session_id=session,
        max_output=7,
        thinking="high",
    )
    assert request_hash(other) == request_hash(base)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "line 1: not a cassette"),
        ('{"text": "a script"}\n', "line 1: not a cassette"),
        ('{"type":"cassette","format":2}\n', "cassette format 2 is not known"),
        ('{"type":"cassette","format":1}\n{"hash": 1}\n', "line 2: "),
        (
            '{"type":"cassette","format":1}\n{"hash":"a","prints":{"system":"","tools":{},"messages":[]},"events":[{"type":"x"}]}',
            "line 2: unknown event type 'x'",
        ),
    ],
)
def test_a_file_that_is_no_cassette_is_a_config_error_that_says_where(
    tmp_path: Path, text: str, complaint: str
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        RecordedProvider(path)
    assert complaint in caught.value.message
