"""The official OpenAI SDK and our Responses wire agree on the same bytes."""

from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai.types.responses import FunctionToolParam, Response, ResponseInputItemParam
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import TypeAdapter

from support.servers import FakeServer, Reply, one_byte_each, sse
from trimtab.providers.http import HttpProvider
from trimtab.providers.openai_responses import OpenAIResponses
from trimtab.providers.wire import Endpoint
from trimtab.types.messages import Assistant, Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult, User, user
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.stream import Assembler
from trimtab.types.tools import ToolSpec
from wire_responses.streams import FULL, USAGE, Events, completed, delta, done, message

pytestmark = [pytest.mark.oracle, pytest.mark.anyio]

MODEL = ModelInfo("openai", "gpt-x", "openai-responses", input=("text", "image"), thinking=("low", "high"))
REFUSAL = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}
CREATED = {
    "type": "response.created",
    "response": {"id": "r", "object": "response", "output": [], "status": "in_progress"},
}
SHORT = {"id": "r", "object": "response", "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
STREAMS: dict[str, Events] = {
    "full": [CREATED, *FULL[1:]],
    "refusal": [CREATED, done(0, REFUSAL), completed(REFUSAL, usage=USAGE)],
    "incomplete": [
        CREATED,
        done(0, message("par")),
        {"type": "response.incomplete", "response": {**SHORT, "output": [message("par")], "usage": USAGE}},
    ],
}


async def ours(url: str, *messages: Message, **fields: Any) -> Assistant:
    provider = HttpProvider(Endpoint("openai", "openai-responses", url, api_key="k", max_retries=0), OpenAIResponses())
    assembler = Assembler(provider="openai", model="gpt-x")
    async for event in provider.stream(ModelRequest(MODEL, messages, **fields)):
        assembler.feed(event)
    await provider.aclose()
    return assembler.message()


@pytest.fixture
def sdk() -> Iterator[Any]:
    clients: list[openai.OpenAI] = []

    def client(url: str) -> openai.OpenAI:
        clients.append(openai.OpenAI(base_url=url, api_key="k", max_retries=0))
        return clients[-1]

    yield client
    for each in clients:
        each.close()


def as_parts(response: Response) -> list[tuple[str, ...]]:
    """What the SDK assembled, in our words."""
    parts: list[tuple[str, ...]] = []
    for item in response.output:
        if item.type == "reasoning":
            parts.append(("thinking", "\n\n".join(s.text for s in item.summary), str(item.encrypted_content)))
        elif item.type == "function_call":
            parts.append(("call", item.call_id, item.name, item.arguments))
        elif item.type == "message":
            parts.extend(("text", c.text if c.type == "output_text" else c.refusal) for c in item.content)
    return parts


def our_parts(answer: Assistant) -> list[tuple[str, ...]]:
    parts: list[tuple[str, ...]] = []
    for part in answer.parts:
        if isinstance(part, Thinking):
            parts.append(("thinking", part.text, (part.wire or {})["item"]["encrypted_content"]))
        elif isinstance(part, ToolCall):
            parts.append(("call", part.id, part.name, part.raw))
        elif isinstance(part, Text):
            parts.append(("text", part.text))
    return parts


@pytest.mark.parametrize("name", sorted(STREAMS))
@pytest.mark.parametrize("split", [False, True], ids=["whole", "one byte each"])
async def test_both_assemble_the_same_answer_from_the_same_bytes(name: str, split: bool, sdk: Any) -> None:
    chunks = sse(*STREAMS[name], named=True)
    reply = Reply(one_byte_each(chunks) if split else chunks)
    with FakeServer(reply, reply) as server:
        answer = await ours(server.url, user("q"))
        with sdk(server.url).responses.create(model="gpt-x", input="q", stream=True) as stream:
            theirs = next(e.response for e in stream if e.type in ("response.completed", "response.incomplete"))
    assert our_parts(answer) == as_parts(theirs)
    assert answer.usage is not None
    assert (answer.usage.prompt, answer.usage.output, answer.usage.cache_read) == (
        theirs.usage.input_tokens,
        theirs.usage.output_tokens,
        theirs.usage.input_tokens_details.cached_tokens,
    )


async def test_both_see_a_failure_in_the_stream(sdk: Any) -> None:
    error = {"error": {"message": "the model is overloaded", "type": "server_error"}}
    reply = Reply(sse(CREATED, delta("output_text", 0, "m", "par"), error))
    with FakeServer(reply, reply) as server:
        answer = await ours(server.url, user("q"))
        with (
            sdk(server.url).responses.create(model="gpt-x", input="q", stream=True) as stream,
            pytest.raises(openai.APIError, match="overloaded"),
        ):
            list(stream)
    assert answer.error is not None
    assert (answer.stop_reason, answer.text, answer.error.message) == ("error", "par", "the model is overloaded")


def history() -> tuple[Message, ...]:
    """Everything that a request to the maker of the answer can hold."""
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
    search = {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"type": "search", "query": "x"}}
    image = Image("image/png", "QUJD")
    said = Assistant(
        (
            Thinking("", wire={"item": item}),
            Text("I look.", wire={"phase": "commentary"}),
            Opaque("openai", search),
            ToolCall("c1", "read", {}, "{}"),
            ToolCall("c2", "read", {}, "{}"),
        ),
        "tool_use",
        model="gpt-x",
        provider="openai",
    )
    results = (
        ToolResult("c1", "read", (Text("a"), image), is_error=False),
        ToolResult("c2", "read", (Text("b"),), is_error=True),
    )
    return (User((Text("see"), image)), said, *results, user("go on"))


async def test_the_sdk_takes_our_request_and_sends_the_same(sdk: Any) -> None:
    tools = (ToolSpec("read", "Read.", {"type": "object", "properties": {}}),)
    reply = Reply(sse(*STREAMS["full"], named=True))
    with FakeServer(reply, reply) as server:
        await ours(server.url, *history(), system="s", tools=tools, thinking="low", max_output=50, session_id="s1")
        sent = server.requests[0]
        with sdk(server.url).responses.create(**sent.json) as stream:
            list(stream)
        theirs = server.requests[1]
    assert (theirs.json, theirs.path, theirs.headers["authorization"]) == (
        sent.json,
        sent.path,
        sent.headers["authorization"],
    )
    TypeAdapter(ResponseCreateParamsStreaming).validate_python(sent.json)
    for item in sent.json["input"]:
        TypeAdapter(ResponseInputItemParam).validate_python(item)
    for tool in sent.json["tools"]:
        TypeAdapter(FunctionToolParam).validate_python(tool)
