"""What a GenAI request looks like. Prefix stability stands in test_prefix.py."""

import json
from typing import Any

import pytest

from trimtab.providers.google import SENTINEL, GoogleWire
from trimtab.providers.wire import Endpoint
from trimtab.types.messages import Assistant, Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult, user
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.tools import ToolSpec

ENDPOINT = Endpoint("google", "google", "https://generativelanguage.googleapis.com/v1beta", api_key="k")
MODEL = ModelInfo("google", "gemini-x", "google", input=("text", "image"))
STRICT = ModelInfo("google", "gemini-x", "google", compat={"signature_sentinel": True})
READ = ToolSpec("read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}})


def body(*messages: Message, model: ModelInfo = MODEL, **rest: Any) -> dict[str, Any]:
    return json.loads(GoogleWire().request(ENDPOINT, ModelRequest(model, messages, **rest)).body)


def answer(*parts: Any, model: str = "gemini-x", provider: str = "google") -> Assistant:
    return Assistant(parts, "tool_use", provider=provider, model=model)


def call(call_id: str, name: str = "read", raw: str = '{"path":"a"}', **wire: Any) -> ToolCall:
    return ToolCall(call_id, name, None, raw, wire=wire or None)


def result(call_id: str, *parts: Any, is_error: bool = False) -> ToolResult:
    return ToolResult(call_id, "read", parts, is_error=is_error)


def says(role: str, *parts: Any) -> dict[str, Any]:
    return {"parts": [{"text": p} if isinstance(p, str) else p for p in parts], "role": role}


def function_call(name: str = "read", **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {"path": "a"}}, **more}


def function_response(name: str, **response: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": response}}


def test_a_first_request_is_system_tools_cap_and_the_prompt() -> None:
    assert body(user("hi"), system="Be brief.", tools=(READ,), max_output=100) == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "read", "description": "Read a file.", "parametersJsonSchema": READ.parameters}
                ]
            }
        ],
        "generationConfig": {"maxOutputTokens": 100},
        "contents": [says("user", "hi")],
    }


def test_nothing_that_was_not_asked_for_is_sent() -> None:
    assert body(user("hi"), system=" ") == {"contents": [says("user", "hi")]}


@pytest.mark.parametrize(
    ("model_id", "path"),
    [
        ("gemini-x", "/models/gemini-x:streamGenerateContent?alt=sse"),
        ("models/gemini-x", "/models/gemini-x:streamGenerateContent?alt=sse"),
        ("a b?c", "/models/a%20b%3Fc:streamGenerateContent?alt=sse"),
    ],
)
def test_the_model_stands_in_the_path_and_the_key_in_a_header(model_id: str, path: str) -> None:
    sent = GoogleWire().request(ENDPOINT, ModelRequest(ModelInfo("google", model_id, "google"), (user("hi"),)))
    assert (sent.path, dict(sent.headers)) == (path, {"x-goog-api-key": "k"})


def test_responses_equal_the_calls_in_number_name_and_order_and_stand_alone() -> None:
    sent = body(
        user("look"),
        answer(Text("I look."), call("t1"), call("t2", "grep")),
        result("t2", Text("no such file"), is_error=True),
        user("hurry"),
        result("t1", Text("one"), Image("image/png", "AAAA")),
    )
    picture = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    assert sent["contents"][1:] == [
        says("model", "I look.", function_call(), function_call("grep")),
        says("user", function_response("read", output="one"), function_response("grep", error="no such file")),
        says("user", "hurry", picture),
    ]


def test_a_result_without_text_says_what_there_is() -> None:
    history = (user("q"), answer(call("a"), call("b")), result("a"), result("b", Image("image/png", "AAAA")))
    assert body(*history)["contents"][2] == says(
        "user",
        function_response("read", output="(no output)"),
        function_response("read", output="(The picture follows.)"),
    )


def test_signatures_and_ids_go_back_on_the_part_that_carried_them() -> None:
    parts = (
        Thinking("open thought"),
        Thinking("signed", wire={"thoughtSignature": "czA="}),
        Text("a"),
        Text("", wire={"thoughtSignature": "czE="}),
        call("t1", id="t1", thoughtSignature="czI="),
        call("t2", id="t2"),
    )
    sent = body(user("q"), answer(*parts), result("t1", Text("x")), result("t2", Text("y")), model=STRICT)
    args = {"path": "a"}
    assert sent["contents"][1:] == [
        says(
            "model",
            {"text": "signed", "thought": True, "thoughtSignature": "czA="},
            "a",
            {"text": "", "thoughtSignature": "czE="},
            {"functionCall": {"name": "read", "args": args, "id": "t1"}, "thoughtSignature": "czI="},
            {"functionCall": {"name": "read", "args": args, "id": "t2"}},
        ),
        says(
            "user",
            {"functionResponse": {"name": "read", "response": {"output": "x"}, "id": "t1"}},
            {"functionResponse": {"name": "read", "response": {"output": "y"}, "id": "t2"}},
        ),
    ]


@pytest.mark.parametrize("maker", [{"model": "gemini-y"}, {"provider": "anthropic"}])
def test_what_another_model_signed_or_named_does_not_go_back(maker: dict[str, str]) -> None:
    parts = (Thinking("hm", wire={"thoughtSignature": "cw=="}), call("t1", id="t1", thoughtSignature="cw=="))
    sent = body(user("q"), answer(*parts, **maker), result("t1", Text("x")))
    assert sent["contents"][1:] == [
        says("model", function_call()),
        says("user", function_response("read", output="x")),
    ]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (MODEL, [function_call(), function_call("grep")]),
        (STRICT, [function_call(thoughtSignature=SENTINEL), function_call("grep")]),
        (
            ModelInfo("google", "gemini-3", "google", thinking_style="level"),
            [function_call(thoughtSignature=SENTINEL), function_call("grep")],
        ),
    ],
)
def test_a_model_that_insists_on_signatures_gets_the_sentinel_for_a_foreign_call(
    model: ModelInfo, expected: list[Any]
) -> None:
    foreign = answer(Text("so"), call("a"), call("b", "grep"), provider="openai")
    sent = body(user("q"), foreign, result("a", Text("x")), result("b", Text("y")), model=model)
    assert sent["contents"][1] == says("model", "so", *expected)


def test_neighbours_of_one_side_become_one_content_and_blank_ones_none() -> None:
    sent = body(user("a"), user(" "), user("b"), answer(Text("c")), answer(Text("\n")), answer(Text("d")), user("e"))
    assert sent["contents"] == [says("user", "a", "b"), says("model", "c", "d"), says("user", "e")]


def test_a_history_never_begins_with_the_model() -> None:
    roles = [c["role"] for c in body(answer(Text("so")), user("go on"))["contents"]]
    assert roles == ["user", "model", "user"]


def test_opaque_parts_go_back_as_they_came() -> None:
    part = {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": "cw=="}
    assert body(user("q"), answer(Opaque("google", part)))["contents"][1] == says("model", part)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ('{"b":1,"a":1.0}', '{"b":1,"a":1.0}'),
        ("", "{}"),
        ('{"path": "a', '{"unparsed_arguments":"{\\"path\\": \\"a"}'),
        ("[1]", '{"unparsed_arguments":"[1]"}'),
    ],
)
def test_argument_text_goes_back_byte_for_byte_and_wrapped_when_it_is_no_object(raw: str, expected: str) -> None:
    request = ModelRequest(MODEL, (user("q"), answer(call("t", raw=raw)), result("t", Text("r"))))
    assert f'"args":{expected}}}'.encode() in GoogleWire().request(ENDPOINT, request).body


@pytest.mark.parametrize(
    ("name", "legal"), [("a.b-c:d", "a.b-c:d"), ("a b", "a_b"), ("1st", "_1st"), ("", "_"), ("n" * 80, "n" * 64)]
)
def test_an_invented_tool_name_is_made_legal_on_both_sides(name: str, legal: str) -> None:
    contents = body(user("q"), answer(call("t", name)), result("t", Text("r")))["contents"]
    assert contents[1] == says("model", function_call(legal))
    assert contents[2] == says("user", function_response(legal, output="r"))


@pytest.mark.parametrize(
    ("style", "level", "expected"),
    [
        ("", "high", None),
        ("level", None, None),
        ("level", "low", {"thinkingLevel": "LOW", "includeThoughts": True}),
        ("level", "off", {"thinkingLevel": "MINIMAL", "includeThoughts": False}),
        ("budget", "high", {"thinkingBudget": 16_384, "includeThoughts": True}),
        ("budget", "off", {"thinkingBudget": 0, "includeThoughts": False}),
        ("budget", "low", {"thinkingBudget": 300, "includeThoughts": True}),
    ],
)
def test_a_thinking_level_is_said_in_the_style_of_the_model(style: str, level: str | None, expected: Any) -> None:
    model = ModelInfo("google", "g", "google", thinking_style=style, compat={"thinking_budgets": {"low": 300}})
    sent = body(user("q"), model=model, thinking=level)
    assert sent.get("generationConfig", {}).get("thinkingConfig") == expected
