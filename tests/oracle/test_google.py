"""The official SDK reads the same bytes, and would have sent the same request."""

import re
from typing import Any

import pytest
from google import genai
from google.genai import errors, types

from support.decoding import fold
from support.servers import FakeServer, Reply, one_byte_each, sse
from trimtab.providers.google import GoogleWire
from trimtab.providers.http import HttpProvider
from trimtab.providers.wire import Endpoint
from trimtab.types.messages import Assistant, Image, Opaque, Text, Thinking, ToolCall, ToolResult, User, user
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.tools import ToolSpec

pytestmark = [pytest.mark.oracle, pytest.mark.anyio]

Event = dict[str, Any]
READ = ToolSpec("read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
SIGNED = {"thoughtSignature": "c2ln"}
HISTORY = (
    User((Text("look"), Image("image/png", "AAAA"))),
    Assistant(
        (
            Thinking("hm", wire=SIGNED),
            Text("I look.", wire=SIGNED),
            Opaque("google", {"executableCode": {"language": "PYTHON", "code": "1"}}),
            ToolCall("c1", "read", {"path": "a"}, '{"path":"a"}', {"id": "c1", **SIGNED}),
            ToolCall("c2", "read", None, '{"path', {"id": "c2"}),
        ),
        "tool_use",
        provider="google",
        model="gemini-x",
    ),
    ToolResult("c1", "read", (Text("one"), Image("image/png", "AAAA")), is_error=False),
    ToolResult("c2", "read", (Text("bad arguments"),), is_error=True),
    user("go on"),
)


def request(style: str = "level", level: str = "high") -> ModelRequest:
    model = ModelInfo("google", "gemini-x", "google", input=("text", "image"), thinking_style=style)
    return ModelRequest(model, HISTORY, system="Be brief.", tools=(READ,), max_output=1_000, thinking=level)


def chunk(*parts: Event, finish: str | None = None, **usage: int) -> Event:
    candidate: Event = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate]} | ({"usageMetadata": usage} if usage else {})


def text(words: str, **more: Any) -> Event:
    return {"text": words, **more}


STREAMS: dict[str, list[Event]] = {
    "text": [
        chunk(text("Grö"), promptTokenCount=3),
        chunk(text("ße 🌍\u2028")),
        chunk(text(""), finish="STOP", promptTokenCount=3, candidatesTokenCount=4, totalTokenCount=7),
    ],
    "thought, text and two calls in one chunk": [
        chunk(text("hm", thought=True)),
        chunk(
            text("I look."),
            {"functionCall": {"id": "c1", "name": "read", "args": {"b": 1.5, "a": [1, "x y"]}}, **SIGNED},
            {"functionCall": {"id": "c2", "name": "read", "args": {}}},
        ),
        chunk(
            finish="STOP",
            promptTokenCount=100,
            cachedContentTokenCount=60,
            candidatesTokenCount=4,
            thoughtsTokenCount=5,
            totalTokenCount=109,
        ),
    ],
    "length": [chunk(text("a"), finish="MAX_TOKENS")],
    "safety": [chunk(text("a")), chunk(finish="SAFETY", promptTokenCount=2)],
}
STOPS = {"STOP": {"stop", "tool_use"}, "MAX_TOKENS": {"length"}, "SAFETY": {"refused"}}


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"):
        monkeypatch.delenv(name, raising=False)


async def ours(server: FakeServer, asked: ModelRequest) -> Assistant:
    endpoint = Endpoint("google", "google", f"{server.url}/v1beta", api_key="k", max_retries=0)
    provider = HttpProvider(endpoint, GoogleWire())
    events = [event async for event in provider.stream(asked)]
    await provider.aclose()
    return fold(events)


def theirs(server: FakeServer, body: dict[str, Any]) -> list[types.GenerateContentResponse]:
    """Send our body through the SDK's own types; return the chunks it reads."""
    generation = body.get("generationConfig", {})
    config = types.GenerateContentConfig(
        system_instruction=types.Content.model_validate(body["systemInstruction"]),
        tools=[types.Tool.model_validate(t) for t in body["tools"]],
        max_output_tokens=generation.get("maxOutputTokens"),
        thinking_config=types.ThinkingConfig.model_validate(generation["thinkingConfig"]),
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    contents: list[Any] = [types.Content.model_validate(c) for c in body["contents"]]
    options = types.HttpOptions(base_url=server.url, api_version="v1beta")
    with genai.Client(api_key="k", http_options=options) as client:
        return list(client.models.generate_content_stream(model="gemini-x", contents=contents, config=config))


def camel(value: Any) -> Any:
    """The SDK writes some names in snake case, and the API reads both. Arguments and schemas are nobody's to rename."""
    if isinstance(value, list):
        return [camel(v) for v in value]
    if not isinstance(value, dict):
        return value
    named = {re.sub("_([a-z])", lambda m: m[1].upper(), k): v for k, v in value.items()}
    return {k: v if k in ("args", "parametersJsonSchema") else camel(v) for k, v in named.items()}


def summary(chunks: list[types.GenerateContentResponse]) -> dict[str, Any]:
    """What the SDK's chunks say in all."""
    candidates = [c for one in chunks for c in one.candidates or ()]
    parts = [p for c in candidates for p in (c.content.parts if c.content and c.content.parts else ())]
    counts = next((one.usage_metadata for one in reversed(chunks) if one.usage_metadata), None)
    return {
        "text": "".join(p.text or "" for p in parts if not p.thought),
        "thinking": "".join(p.text or "" for p in parts if p.thought),
        "calls": [
            (p.function_call.id, p.function_call.name, p.function_call.args, bool(p.thought_signature))
            for p in parts
            if p.function_call
        ],
        "prompt": counts.prompt_token_count if counts else None,
        "cached": (counts.cached_content_token_count or 0) if counts else None,
        "output": (counts.total_token_count or 0) - (counts.prompt_token_count or 0)
        if counts and counts.total_token_count
        else None,
        "thoughts": (counts.thoughts_token_count or 0) if counts else None,
    }


@pytest.mark.parametrize("events", STREAMS.values(), ids=STREAMS)
@pytest.mark.parametrize("split", [list, one_byte_each], ids=["whole", "bytes"])
async def test_the_sdk_reads_the_same_answer_and_sends_the_same_request(events: list[Event], split: Any) -> None:
    reply = Reply(split(sse(*events)))
    with FakeServer(reply, reply) as server:
        mine = await ours(server, request())
        sdk = theirs(server, server.requests[0].json)
        sent, expected = server.requests
    said = summary(sdk)
    calls = [(c.id, c.name, c.arguments, "thoughtSignature" in (c.wire or {})) for c in mine.tool_calls]
    thinking = "".join(p.text for p in mine.parts if isinstance(p, Thinking))
    assert (mine.text, thinking, calls) == (said["text"], said["thinking"], said["calls"])
    (finish,) = {c.finish_reason for one in sdk for c in one.candidates or () if c.finish_reason}
    assert mine.stop_reason in STOPS[finish.value]
    assert (mine.usage.prompt if mine.usage else None) == said["prompt"]
    if mine.usage and said["output"] is not None:
        assert (mine.usage.cache_read, mine.usage.output, mine.usage.reasoning) == (
            said["cached"],
            said["output"],
            said["thoughts"],
        )
    assert (sent.path, sent.json) == (expected.path, camel(expected.json))
    assert sent.headers["x-goog-api-key"] == expected.headers["x-goog-api-key"]


@pytest.mark.parametrize(("style", "level"), [("budget", "low"), ("budget", "off"), ("level", "low"), ("level", "off")])
async def test_the_sdk_sends_every_thinking_style_as_we_do(style: str, level: str) -> None:
    reply = Reply(sse(chunk(text("a"), finish="STOP")))
    with FakeServer(reply, reply) as server:
        await ours(server, request(style, level))
        theirs(server, server.requests[0].json)
        sent, expected = server.requests
    assert sent.json == camel(expected.json)


async def test_both_see_a_refused_request_as_an_error() -> None:
    error = {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "Please use a valid role."}}
    reply = Reply([b'{"error":' + str(error["error"]).replace("'", '"').encode() + b"}"], status=400, framing="length")
    with FakeServer(reply, reply) as server:
        mine = await ours(server, request())
        with pytest.raises(errors.ClientError, match="valid role"):
            theirs(server, server.requests[0].json)
    assert mine.error is not None
    assert (mine.stop_reason, mine.error.message) == ("error", "google answered 400: Please use a valid role.")
