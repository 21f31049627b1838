"""The official SDK and our decoder read the same bytes from the same server, and must agree."""

import json
from typing import Any

import anyio
import pytest

from support.servers import FakeServer, Reply, sse
from trimtab.providers.http import HttpProvider
from trimtab.providers.openai_chat import OpenAIChat
from trimtab.providers.wire import Endpoint
from trimtab.types import (
    Assembler,
    Assistant,
    Image,
    ModelInfo,
    ModelRequest,
    Text,
    ToolCall,
    ToolResult,
    ToolSpec,
    User,
    user,
)

pytestmark = [pytest.mark.oracle, pytest.mark.slow]

STOPS = {"stop": "stop", "length": "length", "tool_use": "tool_calls"}
MODEL = ModelInfo("p", "m", "openai-chat", input=("text", "image"), thinking=("low",))
PIXEL = Image("image/png", "iVBORw0KGgo=")
REQUEST = ModelRequest(
    MODEL,
    (
        User((Text("look"), PIXEL)),
        Assistant((Text("I will."), ToolCall("c1", "read", {"p": "a"}, '{"p": "a"}')), "tool_use", provider="p"),
        ToolResult("c1", "read", (Text("content"), PIXEL), is_error=False),
        user("go on"),
    ),
    system="Be brief.",
    tools=(ToolSpec("read", "Reads.", {"type": "object", "properties": {"p": {"type": "string"}}}),),
    max_output=100,
    thinking="low",
)


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def usage(**fields: Any) -> dict[str, Any]:
    return {
        **chunk(),
        "choices": [],
        "usage": {"prompt_tokens": 50, "completion_tokens": 9, "total_tokens": 59, **fields},
    }


def call(index: int, arguments: str, **more: Any) -> dict[str, Any]:
    name = {"name": more.pop("name")} if "name" in more else {}
    kind = {"type": "function"} if "id" in more else {}
    return {"index": index, "function": {"arguments": arguments, **name}, **kind, **more}


STREAMS = {
    "text": [chunk(role="assistant", content=""), chunk(content="Hé"), chunk(content="llo 🌍\u2028"), chunk("stop")],
    "usage": [
        chunk(content="a"),
        chunk("stop"),
        usage(prompt_tokens_details={"cached_tokens": 30}, completion_tokens_details={"reasoning_tokens": 4}),
    ],
    "length": [chunk(content="a"), chunk("length"), usage()],
    "call": [
        chunk(role="assistant", content=None, tool_calls=[call(0, "", id="c1", name="read")]),
        chunk(tool_calls=[call(0, '{"p":')]),
        chunk(tool_calls=[call(0, ' "a"}')]),
        chunk("tool_calls"),
        usage(),
    ],
    "text and interleaved calls": [
        chunk(content="Both."),
        chunk(tool_calls=[call(0, '{"p"', id="c1", name="read"), call(1, "", id="c2", name="ls")]),
        chunk(tool_calls=[call(1, "{}"), call(0, ":1}")]),
        chunk("tool_calls"),
    ],
}


async def ours(server: FakeServer) -> Assistant:
    provider = HttpProvider(Endpoint("p", "openai-chat", server.url + "/v1", "k"), OpenAIChat())
    assembler = Assembler(provider="p", model="m")
    async for event in provider.stream(REQUEST):
        assembler.feed(event)
    await provider.aclose()
    return assembler.message()


def the_sdks(server: FakeServer, body: dict[str, Any]) -> Any:
    import openai

    body = {**body, "stream_options": {"include_usage": True}}
    with openai.OpenAI(base_url=server.url + "/v1", api_key="k", max_retries=0) as client:
        try:
            with client.chat.completions.stream(**body) as stream:
                return stream.get_final_completion()
        except openai.LengthFinishReasonError as exc:
            return exc.completion


@pytest.mark.parametrize("name", STREAMS)
def test_the_sdk_assembles_the_same_answer(name):
    with FakeServer(*[Reply(sse(*STREAMS[name], done=True))] * 2) as server:
        got = anyio.run(ours, server)
        body = server.requests[0].json
        del body["stream"], body["stream_options"]
        theirs = the_sdks(server, body)
        assert server.requests[1].json == server.requests[0].json

    choice = theirs.choices[0]
    assert got.text == (choice.message.content or "")
    assert STOPS[got.stop_reason] == choice.finish_reason
    assert [(c.id, c.name, c.raw) for c in got.tool_calls] == [
        (c.id, c.function.name, c.function.arguments) for c in choice.message.tool_calls or ()
    ]
    if theirs.usage is None:
        assert got.usage is None
    else:
        assert (got.usage.prompt, got.usage.output) == (theirs.usage.prompt_tokens, theirs.usage.completion_tokens)
        cached = theirs.usage.prompt_tokens_details
        assert got.usage.cache_read == (cached.cached_tokens if cached else 0)


def test_the_sdk_knows_every_field_of_our_request():
    from openai.types import chat
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
    from pydantic import TypeAdapter

    def known(value: dict[str, Any], kind: Any) -> bool:
        return set(TypeAdapter(kind).validate_python(value)) == set(value)  # validation drops what it doesn't know

    roles = {
        "system": chat.ChatCompletionSystemMessageParam,
        "user": chat.ChatCompletionUserMessageParam,
        "assistant": chat.ChatCompletionAssistantMessageParam,
        "tool": chat.ChatCompletionToolMessageParam,
    }
    body = json.loads(OpenAIChat().request(Endpoint("p", "openai-chat", "http://x"), REQUEST).body)
    assert known(body, CompletionCreateParamsStreaming)
    assert all(known(tool, chat.ChatCompletionFunctionToolParam) for tool in body["tools"])
    assert [m["role"] for m in body["messages"]] == ["system", "user", "assistant", "tool", "user", "user"]
    for message in body["messages"]:
        assert known(message, roles[message["role"]])
        assert all(known(c, chat.ChatCompletionMessageFunctionToolCallParam) for c in message.get("tool_calls", ()))
        if isinstance(message["content"], list):
            assert all(known(part, chat.ChatCompletionContentPartParam) for part in message["content"])
