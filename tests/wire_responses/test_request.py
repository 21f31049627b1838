"""What a Responses request says, field by field."""

import json
from typing import Any

import pytest

from trimtab.providers.openai_responses import OpenAIResponses
from trimtab.providers.wire import Endpoint
from trimtab.types.messages import Assistant, Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult, User, user
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.tools import ToolSpec

ENDPOINT = Endpoint("openai", "openai-responses", "http://127.0.0.1:1/v1", api_key="sk-secret")
MODEL = ModelInfo("openai", "gpt-x", "openai-responses", input=("text", "image"), thinking=("off", "low", "high"))
LOCAL = ModelInfo("local", "small", "openai-responses", input=("text", "image"))
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
PNG = Image("image/png", "QUJD", name="a.png")


def body(*messages: Message, model: ModelInfo = MODEL, **fields: Any) -> dict[str, Any]:
    sent = OpenAIResponses().request(ENDPOINT, ModelRequest(model, messages, **fields))
    value: dict[str, Any] = json.loads(sent.body)
    return value


def answer(*parts: Any, model: ModelInfo = MODEL) -> Assistant:
    return Assistant(parts, "stop", model=model.id, provider=model.provider)


def test_a_whole_request_of_a_thinking_model() -> None:
    spec = ToolSpec("read", "Read a file.", {"type": "object", "properties": {}})
    sent = body(user("hi"), system="Be brief.", tools=(spec,), max_output=100, thinking="low", session_id="s1")
    assert sent == {
        "model": "gpt-x",
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        "stream": True,
        "store": False,
        "instructions": "Be brief.",
        "tools": [
            {
                "type": "function",
                "name": "read",
                "description": "Read a file.",
                "parameters": {"type": "object", "properties": {}},
                "strict": False,
            }
        ],
        "reasoning": {"effort": "low", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "max_output_tokens": 100,
        "prompt_cache_key": "s1",
    }


def test_an_unknown_local_model_gets_only_what_every_server_takes() -> None:
    assert body(user("hi"), model=LOCAL, session_id="s1") == {
        "model": "small",
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        "stream": True,
        "store": False,
    }


@pytest.mark.parametrize(
    ("compat", "thinking", "expected"),
    [
        ({}, None, {"summary": "auto"}),
        ({}, "off", {"effort": "none"}),
        ({}, "ultra", {"summary": "auto"}),
        ({"reasoning_summary": None}, "high", {"effort": "high"}),
        ({"reasoning_summary": "detailed"}, "high", {"effort": "high", "summary": "detailed"}),
    ],
)
def test_thinking_levels_become_effort_and_summary(
    compat: dict[str, Any], thinking: str | None, expected: dict[str, str]
) -> None:
    model = ModelInfo("openai", "gpt-x", "openai-responses", thinking=("off", "high"), compat=compat)
    assert body(user("hi"), model=model, thinking=thinking)["reasoning"] == expected


def test_a_level_asked_of_a_model_without_listed_levels_is_sent() -> None:
    sent = body(user("hi"), model=LOCAL, thinking="low")
    assert (sent["reasoning"], sent["include"]) == (
        {"effort": "low", "summary": "auto"},
        ["reasoning.encrypted_content"],
    )


def test_a_local_server_may_ask_for_the_cache_key() -> None:
    model = ModelInfo("local", "small", "openai-responses", compat={"prompt_cache_key": True})
    assert body(user("hi"), model=model, session_id="s1")["prompt_cache_key"] == "s1"


def test_the_key_stands_in_the_header_and_shows_in_no_repr() -> None:
    sent = OpenAIResponses().request(ENDPOINT, ModelRequest(MODEL, (user("hi"),)))
    assert (sent.path, sent.headers) == ("/responses", {"authorization": "Bearer sk-secret"})
    assert "sk-secret" not in repr(sent) + repr(ENDPOINT)


def test_a_whole_step_goes_back_in_its_order_and_unchanged() -> None:
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    said = answer(
        Thinking("Plan", wire={"item": REASONING}),
        Text("I look.", wire={"phase": "commentary"}),
        Opaque("openai", search),
        ToolCall("call_1", "read", {"path": "a"}, '{ "path":"a" }'),
    )
    result = ToolResult("call_1", "read", (Text("one"), Text("two")), is_error=False)
    assert body(user("q"), said, result)["input"][1:] == [
        REASONING,
        {"type": "message", "role": "assistant", "content": "I look.", "phase": "commentary"},
        search,
        {"type": "function_call", "call_id": "call_1", "name": "read", "arguments": '{ "path":"a" }'},
        {"type": "function_call_output", "call_id": "call_1", "output": "onetwo"},
    ]


@pytest.mark.parametrize(
    "parts",
    [
        (Thinking("Plan", wire={"item": REASONING}),),
        (Text("done"), Thinking("Plan", wire={"item": REASONING})),
        (Thinking("Plan", wire={"item": {**REASONING, "encrypted_content": None}}), Text("done")),
        (Thinking("Plan"), Text("done")),
    ],
    ids=["alone", "last", "nothing in it", "no item"],
)
def test_reasoning_without_a_follower_or_without_content_is_left_out(parts: tuple[Any, ...]) -> None:
    assert not any(i["type"] == "reasoning" for i in body(user("q"), answer(*parts), user("go on"))["input"])


def test_reasoning_goes_to_no_other_model() -> None:
    said = answer(Thinking("Plan", wire={"item": REASONING}), Text("done"))
    other = ModelInfo("openai", "gpt-y", "openai-responses", thinking=("low",))
    assert body(user("q"), said, model=other)["input"][1:] == [
        {"type": "message", "role": "assistant", "content": "done"}
    ]


def test_images_stand_inside_the_output_where_the_api_takes_them() -> None:
    said = answer(ToolCall("c1", "read", {}, "{}"))
    sent = body(user("q"), said, ToolResult("c1", "read", (Text("a.png"), PNG), is_error=False))
    assert sent["input"][-1] == {
        "type": "function_call_output",
        "call_id": "c1",
        "output": [
            {"type": "input_text", "text": "a.png"},
            {"type": "input_image", "image_url": "data:image/png;base64,QUJD", "detail": "auto"},
        ],
    }


def test_images_follow_the_whole_batch_where_an_output_holds_only_text() -> None:
    said = answer(ToolCall("c1", "read", {}, "{}"), ToolCall("c2", "read", {}, "{}"), model=LOCAL)
    results = (
        ToolResult("c1", "read", (PNG,), is_error=False),
        ToolResult("c2", "read", (Text("t"),), is_error=False),
    )
    assert body(user("q"), said, *results, user("go"), model=LOCAL)["input"][3:] == [
        {"type": "function_call_output", "call_id": "c1", "output": "(images follow)"},
        {"type": "function_call_output", "call_id": "c2", "output": "t"},
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Images of read (c1):"},
                {"type": "input_image", "image_url": "data:image/png;base64,QUJD", "detail": "auto"},
            ],
        },
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
    ]


def test_an_image_of_the_model_or_without_its_bytes_is_described() -> None:
    sent = body(User((Image("image/png", name="gone.png"),)), answer(Text("see"), PNG))["input"]
    assert sent[0]["content"] == [{"type": "input_text", "text": "[image not shown: gone.png, image/png]"}]
    assert sent[2]["content"] == "[image not shown: a.png, image/png, 3 bytes]"


@pytest.mark.parametrize(("raw", "sent"), [("", "{}"), ("{bad", '{"unparsed_arguments":"{bad"}')])
def test_arguments_that_no_server_could_parse_again_are_made_parsable(raw: str, sent: str) -> None:
    call = ToolCall("c1", "read", {} if not raw else None, raw)
    result = ToolResult("c1", "read", (Text("no"),), is_error=True)
    assert body(user("q"), answer(call), result)["input"][1]["arguments"] == sent


def test_a_tool_name_that_a_model_invented_is_made_legal() -> None:
    said = answer(ToolCall("c1", "functions.read file", {}, "{}"), ToolCall("c2", "", {}, "{}"))
    results = tuple(ToolResult(i, "x", (Text("no such tool"),), is_error=True) for i in ("c1", "c2"))
    calls = [i["name"] for i in body(user("q"), said, *results)["input"] if i["type"] == "function_call"]
    assert calls == ["functions_read_file", "_"]


def test_extra_fields_of_a_provider_go_into_the_body() -> None:
    model = ModelInfo(
        "local", "small", "openai-responses", compat={"extra_body": {"service_tier": "flex", "store": True}}
    )
    sent = body(user("hi"), model=model)
    assert (sent["service_tier"], sent["store"], list(sent)[-1]) == ("flex", True, "input")


def test_a_longer_history_only_appends_to_the_bytes() -> None:
    history = (
        user("q"),
        answer(Thinking("Plan", wire={"item": REASONING}), ToolCall("c1", "read", {}, "{}")),
        ToolResult("c1", "read", (PNG,), is_error=False),
        answer(Text("done")),
        user("more"),
    )
    whole = OpenAIResponses().request(ENDPOINT, ModelRequest(MODEL, history)).body
    for n in (1, 3, 4):
        before = OpenAIResponses().request(ENDPOINT, ModelRequest(MODEL, history[:n])).body
        assert whole.startswith(before.removesuffix(b"]}"))
