"""A model of pydantic-ai behind our port."""

import builtins
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import openai
import pytest
from pydantic_ai import exceptions as exc
from pydantic_ai import messages as theirs
from pydantic_ai.models.function import AgentInfo, DeltaThinkingPart, DeltaToolCall, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers.openai import OpenAIProvider

from support.servers import FakeServer, Reply, Stall, json_reply, sse, wait_until
from trimtab.providers.bridge import BridgeProvider, open_bridge
from trimtab.providers.bridge_mapping import error_info, from_part, to_messages
from trimtab.types.errors import ConfigError, ErrorInfo
from trimtab.types.messages import Assistant, Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult, User, user
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.stream import Assembler, Ended, PartDelta, PartStarted, StreamEvent
from trimtab.types.tools import ToolSpec

pytestmark = pytest.mark.anyio

MODEL = ModelInfo("else", "m", "bridge", input=("text", "image"), thinking=("off", "high"))
TOOL = ToolSpec("read", "Read.", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})


async def events(model: Any, *messages: Message, **fields: Any) -> list[StreamEvent]:
    request = ModelRequest(MODEL, messages or (user("q"),), **fields)
    return [e async for e in BridgeProvider(model, provider="else").stream(request)]


def folded(seen: list[StreamEvent]) -> Assistant:
    assembler = Assembler(provider="else", model="m")
    for event in seen:
        assembler.feed(event)
    return assembler.message()


async def test_a_text_streams_and_ends_with_usage() -> None:
    seen = await events(TestModel(custom_output_text="hello there"))
    answer = folded(seen)
    assert (answer.text, answer.stop_reason, answer.error) == ("hello there", "stop", None)
    assert answer.usage is not None
    assert answer.usage.output > 0
    assert "".join(e.text for e in seen if isinstance(e, PartDelta)) == "hello there"


async def test_a_tool_is_offered_and_called() -> None:
    model = TestModel()
    answer = folded(await events(model, tools=(TOOL,)))
    assert (answer.stop_reason, [c.name for c in answer.tool_calls]) == ("tool_use", ["read"])
    assert answer.tool_calls[0].arguments == {"path": "a"}
    assert model.last_model_request_parameters is not None
    assert [(t.name, t.description, t.strict) for t in model.last_model_request_parameters.function_tools] == [
        ("read", "Read.", False)
    ]


async def test_thinking_text_and_parallel_calls_in_pieces_keep_their_order() -> None:
    async def speak(_messages: list[theirs.ModelMessage], _info: AgentInfo) -> AsyncIterator[Any]:
        yield {0: DeltaThinkingPart(content="h")}
        yield {0: DeltaThinkingPart(content="m", signature="sig")}
        yield "I look."
        yield {2: DeltaToolCall(name="read", json_args='{"path"', tool_call_id="c1")}
        yield {3: DeltaToolCall(name="read", json_args='{"path":"b"}', tool_call_id="c2")}
        yield {2: DeltaToolCall(json_args=':"a"}')}

    seen = await events(FunctionModel(stream_function=speak), tools=(TOOL,))
    answer = folded(seen)
    thought, *rest = answer.parts
    assert isinstance(thought, Thinking)
    assert (thought.text, thought.signature, thought.wire is None) == ("hm", "sig", False)
    assert rest == [
        Text("I look."),
        ToolCall("c1", "read", {"path": "a"}, '{"path":"a"}'),
        ToolCall("c2", "read", {"path": "b"}, '{"path":"b"}'),
    ]
    assert [(e.part, e.kind) for e in seen if isinstance(e, PartStarted)] == [
        (0, "thinking"),
        (1, "text"),
        (2, "tool_arguments"),
        (3, "tool_arguments"),
    ]


async def test_the_model_gets_the_whole_history_in_its_own_words() -> None:
    got: list[theirs.ModelMessage] = []

    async def speak(messages: list[theirs.ModelMessage], _info: AgentInfo) -> AsyncIterator[str]:
        got.extend(messages)
        yield "ok"

    said = Assistant((Text("I look."), ToolCall("c1", "read", {"path": "a"}, '{"path":"a"}')), "tool_use")
    result = ToolResult("c1", "read", (Text("no such file"),), is_error=True)
    await events(FunctionModel(stream_function=speak), user("q"), said, result, user("go on"), system="Be brief.")
    first, answer, second = got
    assert isinstance(first, theirs.ModelRequest)
    assert isinstance(second, theirs.ModelRequest)
    assert (first.instructions, second.instructions) == ("Be brief.", "Be brief.")
    assert answer.parts == [
        theirs.TextPart("I look."),
        theirs.ToolCallPart("read", '{"path":"a"}', "c1"),
    ]
    returned, asked = second.parts
    assert isinstance(returned, theirs.ToolReturnPart)
    assert isinstance(asked, theirs.UserPromptPart)
    assert (returned.content, returned.tool_call_id, returned.outcome) == ("no such file", "c1", "failed")
    assert asked.content == "go on"


def test_images_go_as_bytes_and_broken_ones_as_a_note() -> None:
    history = (User((Text("see"), Image("image/png", "QUJD"), Image("image/png", "%%", name="x.png"))),)
    (request,) = to_messages(ModelRequest(MODEL, history))
    (part,) = request.parts
    assert isinstance(part, theirs.UserPromptPart)
    assert part.content == [
        "see",
        theirs.BinaryContent(b"ABC", media_type="image/png"),
        "[image not shown: x.png, image/png, 1 bytes]",
    ]


@pytest.mark.parametrize(
    "part",
    [
        theirs.TextPart("hi", id="msg_1", provider_name="openai", provider_details={"phase": "final"}),
        theirs.ThinkingPart("hm", id="rs_1", signature="gAAA", provider_name="openai"),
        theirs.ThinkingPart("hm"),
        theirs.ToolCallPart("read", '{"path":"a"}', "c1", id="fc_1", provider_name="openai"),
        theirs.NativeToolCallPart("web_search", {"query": "x"}, "ws_1", provider_name="openai"),
        theirs.FilePart(theirs.BinaryImage(b"ABC", media_type="image/png"), provider_name="openai"),
    ],
)
def test_what_the_model_said_comes_back_to_it_unchanged(part: theirs.ModelResponsePart) -> None:
    said = Assistant((from_part(part, provider="else"), Text("after")), "stop", model="m", provider="else")
    _, response, *_ = to_messages(ModelRequest(MODEL, (user("q"), said, user("go on"))))
    assert isinstance(response, theirs.ModelResponse)
    assert list(response.parts) == [part, theirs.TextPart("after")]
    assert response.provider_name == part.provider_name


def test_thinking_of_others_and_items_that_cant_be_read_stay_out() -> None:
    said = Assistant(
        (Thinking("hm", signature="s"), Opaque("else", {"part_kind": "future"}), Text("hi")),
        "stop", model="m", provider="else",
    )  # fmt: skip
    _, response = to_messages(ModelRequest(MODEL, (user("q"), said)))
    assert response.parts == [theirs.TextPart("hi")]


@pytest.mark.parametrize(("level", "expected"), [(None, None), ("off", False), ("high", "high"), ("ultra", True)])
async def test_levels_and_limits_become_settings(level: str | None, expected: Any) -> None:
    got: list[AgentInfo] = []

    async def speak(_messages: list[theirs.ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        got.append(info)
        yield "ok"

    model = FunctionModel(stream_function=speak, profile=ModelProfile(supports_thinking=True))
    await events(model, thinking=level, max_output=7)
    assert (got[0].model_settings or {}).get("max_tokens") == 7
    assert got[0].model_request_parameters.thinking == expected


ERRORS: list[tuple[Exception, str, bool]] = [
    (exc.ModelContextWindowExceededError("m", "too long"), "overflow", False),
    (exc.ModelRateLimitError("m", "slow", retry_after=3.0), "rate_limit", True),
    (exc.ModelQuotaExceededError("m", "pay"), "quota", False),
    (exc.ModelAuthenticationError("m", "who"), "auth", False),
    (exc.ModelNotFoundError("m", "what"), "invalid", False),
    (exc.ModelConnectionError("m", "cut"), "network", True),
    (exc.ModelTimeoutError("m", "late"), "network", True),
    (exc.ModelOverloadedError("m", "busy"), "server", True),
    (exc.ModelServerError("m", "oops"), "server", True),
    (exc.ContentFilterError("no"), "refused", False),
    (exc.UnexpectedModelBehavior("what"), "malformed", True),
    (exc.UserError("wrong"), "invalid", False),
    (ZeroDivisionError("bug"), "invalid", False),
]


@pytest.mark.parametrize(("raised", "kind", "retryable"), ERRORS, ids=lambda v: type(v).__name__)
async def test_an_exception_is_the_last_event_and_what_came_before_is_kept(
    raised: Exception, kind: str, retryable: bool
) -> None:
    async def speak(_messages: list[theirs.ModelMessage], _info: AgentInfo) -> AsyncIterator[str]:
        yield "par"
        raise raised

    seen = await events(FunctionModel(stream_function=speak))
    answer = folded(seen)
    assert isinstance(seen[-1], Ended)
    assert answer.error is not None
    assert (answer.text, answer.stop_reason) == ("par", "error")
    assert (answer.error.kind, answer.error.retryable) == (kind, retryable)
    assert answer.error.message


def test_the_wait_that_a_provider_asks_for_is_kept() -> None:
    slow = exc.ModelRateLimitError("m", "slow", retry_after=3.0)
    assert error_info(slow) == ErrorInfo("rate_limit", "slow", retry_after_s=3.0, retryable=True)


@asynccontextmanager
async def chat(url: str) -> AsyncIterator[OpenAIChatModel]:
    async with openai.AsyncOpenAI(base_url=url, api_key="k", max_retries=0) as client:
        yield OpenAIChatModel("m", provider=OpenAIProvider(openai_client=client))


def chunk(delta: dict[str, Any], *, finish: str | None = None) -> dict[str, Any]:
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}


async def test_a_real_model_over_http_reports_cached_tokens_beside_the_input() -> None:
    usage = {
        "prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12, "prompt_tokens_details": {"cached_tokens": 8},
    }  # fmt: skip
    end = {**chunk({}), "choices": [], "usage": usage}
    reply = Reply(sse(chunk({"role": "assistant", "content": "hé"}), chunk({}, finish="length"), end, done=True))
    with FakeServer(reply) as server:
        async with chat(server.url) as model:
            answer = folded(await events(model, system="Be brief."))
        roles = [m["role"] for m in server.requests[0].json["messages"]]
    assert roles == ["system", "user"]
    assert (answer.text, answer.stop_reason) == ("hé", "length")
    assert answer.usage is not None
    assert (answer.usage.input, answer.usage.cache_read, answer.usage.output) == (2, 8, 2)


async def test_a_real_refusal_over_http_is_classified_by_its_words() -> None:
    error = {
        "error": {"message": "Incorrect API key provided", "type": "invalid_request_error", "code": "invalid_api_key"}
    }
    with FakeServer(json_reply(error, status=401)) as server:
        async with chat(server.url) as model:
            answer = folded(await events(model))
    assert answer.error is not None
    assert (answer.error.kind, answer.error.status, answer.error.retryable) == ("auth", 401, False)


async def test_leaving_the_stream_leaves_the_server() -> None:
    with FakeServer(Reply([*sse(chunk({"content": "a"})), Stall()])) as server:
        async with chat(server.url) as model:
            stream = BridgeProvider(model, provider="else").stream(ModelRequest(MODEL, (user("q"),)))
            assert isinstance(await anext(stream), PartStarted)
            await stream.aclose()
            assert wait_until(server.left.is_set)


def test_a_model_is_opened_by_its_name() -> None:
    bridge = open_bridge("test")
    assert (isinstance(bridge.model, TestModel), bridge.provider) == (True, "test")


@pytest.mark.parametrize("spec", ["nowhere:m", "no-colon", ""])
def test_a_name_that_the_library_does_not_know_is_a_config_error(spec: str) -> None:
    with pytest.raises(ConfigError, match="can't be opened"):
        open_bridge(spec)


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("pydantic_ai"):
            raise ModuleNotFoundError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ConfigError) as caught:
        open_bridge("openai:gpt-x")
    assert "[pydantic-ai]" in caught.value.hint


def test_the_library_loads_at_first_use_only() -> None:
    code = "import sys, trimtab.providers.bridge; sys.exit('pydantic_ai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
