"""The official SDK reads the same bytes, and would have sent the same request."""

import json
from typing import Any

import anthropic
import pytest
from anthropic.types import ContentBlockParam, MessageCreateParams, ParsedMessage, ToolParam
from pydantic import TypeAdapter

from support.decoding import fold
from support.servers import FakeServer, Reply, one_byte_each, sse
from trimtab.providers.anthropic import AnthropicWire
from trimtab.providers.http import HttpProvider
from trimtab.providers.wire import Endpoint
from trimtab.types.messages import Assistant, Image, Opaque, Text, Thinking, ToolCall, ToolResult, User, user
from trimtab.types.models import CacheRules, ModelInfo, ModelRequest
from trimtab.types.tools import ToolSpec

pytestmark = [pytest.mark.oracle, pytest.mark.anyio]

Event = dict[str, Any]
MODEL = ModelInfo(
    "anthropic",
    "claude-x",
    "anthropic",
    input=("text", "image"),
    max_output=16_000,
    thinking_style="adaptive",
    cache=CacheRules("explicit", ttl_s=3_600),
)
READ = ToolSpec("read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
HISTORY = (
    User((Text("look"), Image("image/png", "AAAA"))),
    Assistant(
        (
            Thinking("hm", "c2ln"),
            Thinking("", "c2VhbGVk", redacted=True),
            Text("I look."),
            Opaque("anthropic", {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}),
            ToolCall("toolu_1", "read", {"path": "a"}, '{"path": "a"}', {"caller": {"type": "direct"}}),
            ToolCall("toolu_2", "read", None, '{"path'),
        ),
        "tool_use",
        provider="anthropic",
        model="claude-x",
    ),
    ToolResult("toolu_1", "read", (Text("one"), Image("image/png", "AAAA")), is_error=False),
    ToolResult("toolu_2", "read", (Text("bad arguments"),), is_error=True),
    user("go on"),
)
REQUEST = ModelRequest(MODEL, HISTORY, system="Be brief.", tools=(READ,), thinking="high")


def start(**usage: Any) -> Event:
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 5, "output_tokens": 1, **usage},
    }
    return {"type": "message_start", "message": message}


def block(index: int, value: Event, *deltas: Event) -> list[Event]:
    return [
        {"type": "content_block_start", "index": index, "content_block": value},
        *({"type": "content_block_delta", "index": index, "delta": d} for d in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def end(reason: str, **usage: Any) -> list[Event]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 9, **usage}},
        {"type": "message_stop"},
    ]


def pieces(kind: str, field: str, *values: str) -> list[Event]:
    return [{"type": kind, field: v} for v in values]


THINKING = {"type": "thinking", "thinking": "", "signature": ""}
TEXT = {"type": "text", "text": ""}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}
STREAMS: dict[str, list[Event]] = {
    "text": [
        start(),
        *block(0, TEXT, *pieces("text_delta", "text", "Grö", "ße 🌍\u2028")),
        {"type": "ping"},
        *end("end_turn"),
    ],
    "thinking, text and two calls": [
        start(cache_read_input_tokens=100, cache_creation_input_tokens=20),
        *block(
            0,
            THINKING,
            *pieces("thinking_delta", "thinking", "h", "m"),
            {"type": "signature_delta", "signature": "c2lnMQ=="},
        ),
        *block(1, {"type": "redacted_thinking", "data": "c2VhbGVk"}),
        *block(
            2,
            THINKING,
            *pieces("thinking_delta", "thinking", "again"),
            {"type": "signature_delta", "signature": "c2lnMg=="},
        ),
        *block(3, TEXT, *pieces("text_delta", "text", "I look.")),
        *block(4, CALL, *pieces("input_json_delta", "partial_json", "", '{"pa', 'th": "a"}')),
        *block(5, {**CALL, "id": "toolu_2"}),
        *end("tool_use", output_tokens_details={"thinking_tokens": 4}),
    ],
    "a server tool": [
        start(),
        *block(
            0,
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
            *pieces("input_json_delta", "partial_json", '{"query": ', '"q"}'),
        ),
        *block(1, TEXT, *pieces("text_delta", "text", "Found.")),
        *end("pause_turn"),
    ],
    "length": [start(), *block(0, {**TEXT, "text": "a"}, *pieces("text_delta", "text", "b")), *end("max_tokens")],
    "refusal": [start(), *end("refusal")],
    "usage only at the end": [
        start(input_tokens=0, output_tokens=0),
        *block(0, TEXT, *pieces("text_delta", "text", "a")),
        *end("stop_sequence", input_tokens=7, cache_read_input_tokens=3),
    ],
}
STOPS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "tool_use": "tool_use",
    "refusal": "refused",
}


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


async def ours(server: FakeServer, request: ModelRequest = REQUEST) -> Assistant:
    provider = HttpProvider(Endpoint("anthropic", "anthropic", f"{server.url}/v1", api_key="k"), AnthropicWire())
    events = [event async for event in provider.stream(request)]
    await provider.aclose()
    return fold(events)


def theirs(server: FakeServer, body: dict[str, Any]) -> ParsedMessage[None]:
    """Send our body through the SDK and let it assemble the answer."""
    arguments = {k: v for k, v in body.items() if k != "stream"}
    with (
        anthropic.Anthropic(api_key="k", base_url=server.url, max_retries=0) as client,
        client.messages.stream(**arguments) as streaming,
    ):
        return streaming.get_final_message()


def as_sdk_blocks(message: Assistant) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for part in message.parts:
        match part:
            case Text(text):
                blocks.append({"type": "text", "text": text})
            case Thinking(_, signature, True):
                blocks.append({"type": "redacted_thinking", "data": signature})
            case Thinking(text, signature):
                blocks.append({"type": "thinking", "thinking": text, "signature": signature})
            case ToolCall(call_id, name, arguments):
                blocks.append({"type": "tool_use", "id": call_id, "name": name, "input": arguments})
            case Opaque(_, data):
                blocks.append(data)
    return blocks


@pytest.mark.parametrize("events", STREAMS.values(), ids=STREAMS)
@pytest.mark.parametrize("split", [list, one_byte_each], ids=["whole", "bytes"])
async def test_the_sdk_assembles_the_same_answer_and_sends_the_same_request(events: list[Event], split: Any) -> None:
    reply = Reply(split(sse(*events, named=True)))
    with FakeServer(reply, reply) as server:
        mine = await ours(server)
        sdk = theirs(server, server.requests[0].json)
        sent, expected = server.requests
    assert as_sdk_blocks(mine) == [b.to_dict(exclude_none=True) for b in sdk.content]
    assert mine.stop_reason == STOPS[sdk.stop_reason or ""]
    assert mine.usage is not None
    assert (mine.usage.input, mine.usage.output, mine.usage.cache_read, mine.usage.cache_write) == (
        sdk.usage.input_tokens,
        sdk.usage.output_tokens,
        sdk.usage.cache_read_input_tokens or 0,
        sdk.usage.cache_creation_input_tokens or 0,
    )
    details = sdk.usage.output_tokens_details
    assert mine.usage.reasoning == (details.thinking_tokens if details else 0)
    assert (sent.path, sent.json) == (expected.path, expected.json)


async def test_both_see_an_error_event_as_an_error() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    reply = Reply(sse(start(), error, named=True))
    with FakeServer(reply, reply) as server:
        provider = HttpProvider(Endpoint("anthropic", "anthropic", f"{server.url}/v1", max_retries=0), AnthropicWire())
        mine = fold([event async for event in provider.stream(REQUEST)])
        await provider.aclose()
        with pytest.raises(anthropic.APIStatusError, match="Overloaded"):
            theirs(server, server.requests[0].json)
    assert mine.error is not None
    assert (mine.error.kind, mine.stop_reason) == ("server", "error")
    assert "Overloaded" in mine.error.message


@pytest.mark.parametrize(
    ("style", "level"), [("budget", "high"), ("budget", "off"), ("adaptive", "max"), ("effort", "minimal")]
)
def test_the_sdk_types_know_every_field_that_is_sent(style: str, level: str) -> None:
    model = ModelInfo(
        "anthropic",
        "claude-x",
        "anthropic",
        input=("text", "image"),
        max_output=64_000,
        thinking_style=style,
        compat={"user_id": True, "thinking_display": "summarized"},
        cache=CacheRules("explicit"),
    )
    request = ModelRequest(model, HISTORY, system="S", tools=(READ,), thinking=level, session_id="s")
    endpoint = Endpoint("anthropic", "anthropic", "http://127.0.0.1/v1")
    body = json.loads(AnthropicWire().request(endpoint, request).body)
    listed = {name: body.pop(name) for name in ("messages", "system", "tools")}
    known(MessageCreateParams, {**body, "messages": []})
    for tool in listed["tools"]:
        known(ToolParam, tool)
    for block in [*listed["system"], *(b for m in listed["messages"] for b in m["content"])]:
        inner = block.pop("content", [])
        known(ContentBlockParam, block)
        for each in inner:
            known(ContentBlockParam, each)


def known(kind: Any, value: dict[str, Any]) -> None:
    """Assert that the SDK's type takes `value` and knows all of it; a TypedDict drops what it doesn't know."""
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    seen = adapter.validate_python(value)
    assert {k: list(v) if k == "messages" else v for k, v in seen.items()} == value
