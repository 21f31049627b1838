"""A history made by one provider, sent to another: every wire renders every maker's history into what its API takes."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from trimtab.providers.anthropic import AnthropicWire
from trimtab.providers.google import GoogleWire
from trimtab.providers.openai_chat import OpenAIChat
from trimtab.providers.openai_responses import OpenAIResponses
from trimtab.providers.wire import Endpoint, Wire
from trimtab.types.messages import Assistant, Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult, User, user
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.tools import ToolSpec

WIRES: dict[str, Callable[[], Wire]] = {
    "openai-chat": OpenAIChat,
    "openai-responses": OpenAIResponses,
    "anthropic": AnthropicWire,
    "google": GoogleWire,
}
APIS = sorted(WIRES)
LONG = "call_" + "x" * 90 + "|fc_1"
FIFTY = "call_" + "y" * 45
LEGAL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
LEGAL = {
    "openai-chat": re.compile(r"[A-Za-z0-9_-]{1,40}"),
    "openai-responses": re.compile(r"[A-Za-z0-9_-]{1,64}"),
    "anthropic": re.compile(r"[A-Za-z0-9_-]+"),
    "google": re.compile(r".+"),
}
PIXELS = "QUJD"
SECRET = "c2VjcmV0"
"""Stands in everything that only the maker may see again."""


def model(api: Any, *, provider: str = "", sees: bool = True) -> ModelInfo:
    seen: Any = ("text", "image") if sees else ("text",)
    return ModelInfo(provider or f"maker-of-{api}", "m", api, input=seen, thinking=("low", "high"), max_output=1000)


def private(api: str, provider: str) -> tuple[list[Any], dict[str, Any]]:
    """What a maker puts into its answer for itself: parts, and the `wire` of its calls."""
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": SECRET}
    search = {"type": "web_search_call", "id": f"ws_{SECRET}", "status": "completed"}
    server = {"type": "server_tool_use", "id": f"srv_{SECRET}", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": f"srv_{SECRET}", "content": []}
    match api:
        case "openai-responses":
            return [Thinking("plan", wire={"item": reasoning}), Opaque(provider, search)], {}
        case "anthropic":
            hidden = Thinking("", signature=SECRET, redacted=True)
            return [Thinking("plan", signature=SECRET), hidden, Opaque(provider, server), Opaque(provider, found)], {}
        case "google":
            return [Thinking("plan", wire={"thoughtSignature": SECRET})], {"id": "g1", "thoughtSignature": SECRET}
        case _:
            return [Thinking("plan")], {"extra_content": {"google": {"thought_signature": SECRET}}}


def history(maker: ModelInfo) -> tuple[Message, ...]:
    """Two steps: parallel calls with long, illegal and repeated ids, an image in a result, then an answer."""
    parts, wire = private(maker.api, maker.provider)
    calls = [
        ToolCall(LONG, "read", {"path": "a"}, '{"path":"a"}', wire=wire or None),
        ToolCall("b.1", "no such.tool/", None, "{broken"),
        ToolCall(FIFTY, "read", {}, ""),
    ]
    image = Image("image/png", PIXELS, name="plot.png")

    def said(*content: Any) -> Assistant:
        return Assistant(content, "tool_use", model=maker.id, provider=maker.provider)

    return (
        User((Text("look"), image)),
        said(*parts, Text("I look."), *calls),
        ToolResult(LONG, "read", (Text("here"), image), is_error=False),
        ToolResult("b.1", "no such.tool/", (Text("bad arguments"),), is_error=True),
        ToolResult(FIFTY, "read", (), is_error=False),
        said(ToolCall(FIFTY, "read", {}, "{}")),
        ToolResult(FIFTY, "read", (Text("again"),), is_error=False),
        said(Text("Done.")),
        user("thanks"),
    )


def rendered(maker: ModelInfo, target: ModelInfo) -> dict[str, Any]:
    spec = ToolSpec("read", "Read.", {"type": "object", "properties": {}})
    request = ModelRequest(target, history(maker), system="Be brief.", tools=(spec,), thinking="low", session_id="s")
    endpoint = Endpoint(target.provider, target.api, "http://127.0.0.1:1/v1")
    body: dict[str, Any] = json.loads(WIRES[target.api]().request(endpoint, request).body)
    return body


def check_chat(body: dict[str, Any]) -> list[list[str]]:
    """Results stand right behind their calls, in their order; images only with the user. Returns the call ids of each step."""
    steps: list[list[str]] = []
    waiting: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            assert waiting.pop(0) == message["tool_call_id"]
            assert isinstance(message["content"], str)
            continue
        assert not waiting
        if message["role"] == "assistant":
            assert message.get("content") is None or isinstance(message["content"], str)
            waiting = [c["id"] for c in message.get("tool_calls", [])]
            steps.append(list(waiting))
            for call in message.get("tool_calls", []):
                assert LEGAL_NAME.fullmatch(call["function"]["name"])
                assert isinstance(json.loads(call["function"]["arguments"]), dict)
    return [s for s in steps if s]


def check_responses(body: dict[str, Any]) -> list[list[str]]:
    """Every call is answered before the next turn; reasoning never stands before something that isn't the model's."""
    steps: list[list[str]] = []
    waiting: list[str] = []
    items = body["input"]
    for n, item in enumerate(items):
        if item["type"] == "function_call":
            if not waiting:
                steps.append([])
            waiting.append(item["call_id"])
            steps[-1].append(item["call_id"])
            assert LEGAL_NAME.fullmatch(item["name"])
            assert isinstance(json.loads(item["arguments"]), dict)
        elif item["type"] == "function_call_output":
            assert waiting.pop(0) == item["call_id"]
        elif item["type"] == "message":
            assert not waiting
            assert item["content"]
        elif item["type"] == "reasoning":
            assert items[n + 1].get("role", "assistant") == "assistant"
            assert items[n + 1]["type"] != "function_call_output"
    return steps


def check_anthropic(body: dict[str, Any]) -> list[list[str]]:
    """Roles alternate; the turn after calls begins with exactly their results."""
    steps: list[list[str]] = []
    roles = [m["role"] for m in body["messages"]]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"] * (len(roles) % 2)
    for turn, following in zip(body["messages"], [*body["messages"][1:], None], strict=True):
        assert turn["content"]
        calls = [b["id"] for b in turn["content"] if b["type"] == "tool_use"]
        assert all(LEGAL_NAME.fullmatch(b["name"]) for b in turn["content"] if b["type"] == "tool_use")
        assert all(isinstance(b["input"], dict) for b in turn["content"] if b["type"] == "tool_use")
        if calls:
            assert following is not None
            assert [b.get("tool_use_id") for b in following["content"][: len(calls)]] == calls
            steps.append(calls)
        if turn["role"] == "assistant":
            assert not any(b["type"] == "image" for b in turn["content"])
    return steps


def check_google(body: dict[str, Any]) -> list[list[str]]:
    """The content after calls answers each of them, in number and name. Calls have no ids of their own here: names stand for them."""
    steps: list[list[str]] = []
    contents = body["contents"]
    assert contents[0]["role"] == "user"
    for content, following in zip(contents, [*contents[1:], None], strict=True):
        assert content["parts"]
        calls = [p["functionCall"]["name"] for p in content["parts"] if "functionCall" in p]
        assert all(isinstance(p["functionCall"]["args"], dict) for p in content["parts"] if "functionCall" in p)
        assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.:-]*", name) for name in calls)
        if calls:
            assert following is not None
            assert [p["functionResponse"]["name"] for p in following["parts"]] == calls
            steps.append(calls)
    return steps


CHECKS: dict[str, Callable[[dict[str, Any]], list[list[str]]]] = {
    "openai-chat": check_chat,
    "openai-responses": check_responses,
    "anthropic": check_anthropic,
    "google": check_google,
}


@pytest.mark.parametrize("target", APIS)
@pytest.mark.parametrize("maker", APIS)
def test_every_pair_is_whole_and_every_id_legal_and_unique(maker: str, target: str) -> None:
    steps = CHECKS[target](rendered(model(maker), model(target)))
    assert [len(s) for s in steps] == [3, 1]
    ids = [i for s in steps for i in s]
    if target != "google":
        assert len(set(ids)) == 4
    if maker != target:
        assert all(LEGAL[target].fullmatch(i) for i in ids)


@pytest.mark.parametrize("target", APIS)
@pytest.mark.parametrize("maker", APIS)
def test_what_a_maker_signed_goes_back_to_the_maker_and_to_nobody_else(maker: str, target: str) -> None:
    assert (SECRET in json.dumps(rendered(model(maker), model(target)))) is (maker == target)


@pytest.mark.parametrize("target", APIS)
@pytest.mark.parametrize("maker", APIS)
def test_thinking_of_another_provider_never_becomes_text(maker: str, target: str) -> None:
    if maker != target:
        assert "plan" not in json.dumps(rendered(model(maker), model(target)))


@pytest.mark.parametrize("target", APIS)
@pytest.mark.parametrize("maker", APIS)
def test_images_reach_a_model_that_sees_and_are_described_to_one_that_does_not(maker: str, target: str) -> None:
    seen = json.dumps(rendered(model(maker), model(target)))
    described = json.dumps(rendered(model(maker), model(target, sees=False)))
    assert (seen.count(PIXELS), described.count(PIXELS)) == (2, 0)
    assert described.count("plot.png") == 2


@pytest.mark.parametrize(
    ("maker", "target"), [("openai-chat", "openai-responses"), ("openai-responses", "openai-chat")]
)
def test_one_provider_with_two_apis_may_change_between_them(maker: str, target: str) -> None:
    body = rendered(model(maker, provider="openai"), model(target, provider="openai"))
    assert [len(s) for s in CHECKS[target](body)] == [3, 1]
