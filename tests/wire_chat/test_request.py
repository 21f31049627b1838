"""Chat Completions requests."""

import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from trimtab.providers.openai_chat import OpenAIChat
from trimtab.providers.wire import Endpoint
from trimtab.types import (
    Assistant,
    Image,
    ModelInfo,
    ModelRequest,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolSpec,
    User,
    user,
)

ENDPOINT = Endpoint("p", "openai-chat", "http://localhost/v1", "key")
MODEL = ModelInfo("p", "m", "openai-chat", input=("text", "image"), thinking=("low", "high"))
READ = ToolSpec("read", "Reads.", {"type": "object", "properties": {}})
PIXEL = Image("image/png", "aGk=")


def model(**changes: Any) -> ModelInfo:
    return msgspec.structs.replace(MODEL, **changes)


def sent(*messages: Any, **fields: Any) -> dict[str, Any]:
    request = ModelRequest(fields.pop("model", MODEL), messages, **fields)
    body = json.loads(OpenAIChat().request(ENDPOINT, request).body)
    assert list(body)[-1] == "messages"
    return body


def answer(*parts: Any, provider: str = "p", name: str = "m") -> Assistant:
    return Assistant(parts, "stop", provider=provider, model=name)


def call(id: str, raw: str = "{}", **more: Any) -> ToolCall:
    try:
        arguments = json.loads(raw) if raw else {}
    except ValueError:
        arguments = None
    return ToolCall(id, "read", arguments, raw, **more)


def result(id: str, *parts: Any) -> ToolResult:
    return ToolResult(id, "read", parts, is_error=False)


def test_the_whole_body_of_a_plain_request():
    request = ModelRequest(MODEL, (user("hi"),), system="Be brief.", tools=(READ,), max_output=100, thinking="low")
    wire = OpenAIChat().request(ENDPOINT, request)
    assert wire.path == "chat/completions"
    assert wire.headers == {"authorization": "Bearer key"}
    assert wire.body == (
        b'{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":100,"reasoning_effort":"low",'
        b'"tools":[{"function":{"name":"read","description":"Reads.","parameters":{"type":"object","properties":{}}},"type":"function"}],'
        b'"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}]}'
    )
    assert "key" not in repr(wire)


def test_without_a_key_there_is_no_authorization():
    endpoint = Endpoint("p", "openai-chat", "http://localhost/v1")
    assert OpenAIChat().request(endpoint, ModelRequest(MODEL, ())).headers == {}


def test_results_follow_their_calls_in_call_order_with_raw_arguments():
    body = sent(
        user("go"),
        answer(Text("I "), Text("look"), call("a", '{ "x":  1 }'), call("b", "")),
        result("b", Text("B")),
        user("wait", origin="steering"),
        result("a", Text("A")),
        answer(Text("done")),
    )
    assert body["messages"] == [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": "I look",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "read", "arguments": '{ "x":  1 }'}},
                {"id": "b", "type": "function", "function": {"name": "read", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "A"},
        {"role": "tool", "tool_call_id": "b", "content": "B"},
        {"role": "user", "content": "wait"},
        {"role": "assistant", "content": "done"},
    ]


def test_a_call_without_result_and_a_result_without_call_still_make_a_valid_request():
    body = sent(result("z", Text("?")), answer(call("a")), result("b", Text("?")), user("go"))
    assert [(m["role"], m.get("content")) for m in body["messages"]] == [
        ("assistant", None),
        ("tool", "(no result was recorded)"),
        ("user", "go"),
    ]


def test_broken_arguments_are_sent_as_json_that_quotes_them():
    body = sent(answer(call("a", '{"x')), result("a", Text("bad")))
    (made,) = body["messages"][0]["tool_calls"]
    assert json.loads(made["function"]["arguments"]) == {"invalid_arguments": '{"x'}


def test_images_are_data_urls_and_those_of_results_follow_in_a_user_message():
    body = sent(
        User((Text("see"), PIXEL)),
        answer(call("a"), call("b")),
        result("a", Text("x"), PIXEL),
        result("b", PIXEL),
    )
    image = {"image_url": {"url": "data:image/png;base64,aGk="}, "type": "image_url"}
    first, _, a, b, pictures = body["messages"]
    assert first["content"] == [{"text": "see", "type": "text"}, image]
    assert (a["content"], b["content"]) == ("x", "(the image follows in the next message)")
    assert pictures["role"] == "user"
    assert [p["type"] for p in pictures["content"]] == ["text", "image_url", "text", "image_url"]


def test_a_model_that_reads_text_only_gets_a_description():
    image = Image("image/png", "aGk=", name="a.png")
    body = sent(User((Text("see"), image)), answer(call("a")), result("a", image), model=model(input=("text",)))
    note = "[image not shown: a.png, image/png, 2 bytes]"
    assert [m.get("content") for m in body["messages"]] == ["see\n" + note, None, note]


def test_thinking_goes_back_only_to_its_maker_and_only_where_wanted():
    wants = model(compat={"reasoning_content": True})
    own, other, unknown = Thinking("mine"), Thinking("theirs"), Opaque("x", {"a": 1})
    body = sent(answer(own, Text("a")), answer(other, unknown, Text("b"), provider="q"), model=wants)
    assert body["messages"] == [
        {"role": "assistant", "content": "a", "reasoning_content": "mine"},
        {"role": "assistant", "content": "b"},
    ]
    assert "mine" not in json.dumps(sent(answer(own, Text("a"))))
    assert sent(answer(own))["messages"] == []


def test_fields_a_provider_put_on_a_call_go_back_to_it_alone():
    kept = call("a", wire={"extra_content": {"google": {"thought_signature": "s"}}})
    back = sent(answer(kept))["messages"][0]["tool_calls"][0]
    assert back["extra_content"] == {"google": {"thought_signature": "s"}}
    assert "extra_content" not in sent(answer(kept, provider="q"))["messages"][0]["tool_calls"][0]


def test_ids_are_legal_and_paired_whoever_made_them():
    def pair(id: str, provider: str, **compat: Any) -> tuple[str, str]:
        made, got = sent(answer(call(id), provider=provider), result(id, Text("x")), model=model(compat=compat))[
            "messages"
        ]
        return made["tool_calls"][0]["id"], got["tool_call_id"]

    assert pair("functions.read:0", "p") == ("functions.read:0",) * 2
    foreign = pair("functions.read:0", "q")
    assert foreign[0] == foreign[1] != "functions.read:0"
    long = pair("x" * 80, "p")
    assert long[0] == long[1]
    assert len(long[0]) <= 64
    short = pair("call_1", "p", call_id_length=9)
    assert short[0] == short[1]
    assert len(short[0]) == 9
    assert pair("abcdef123", "q", call_id_length=9) == ("abcdef123",) * 2


def test_compat_says_how_a_server_wants_it():
    odd = model(
        compat={
            "max_tokens_field": "max_completion_tokens",
            "stream_usage": False,
            "developer_role": True,
            "session_field": "prompt_cache_key",
            "session_header": "x-session",
            "extra_body": {"top_k": 1, "messages": []},
        }
    )
    request = ModelRequest(odd, (user("hi"),), system="s", max_output=5, thinking="medium", session_id="abc")
    wire = OpenAIChat().request(ENDPOINT, request)
    assert wire.headers["x-session"] == "abc"
    assert json.loads(wire.body) == {
        "model": "m",
        "stream": True,
        "max_completion_tokens": 5,
        "prompt_cache_key": "abc",
        "top_k": 1,
        "messages": [{"role": "developer", "content": "s"}, {"role": "user", "content": "hi"}],
    }
    assert list(json.loads(wire.body))[-1] == "messages"
    assert "max_completion_tokens" in sent(model=model(provider="openai"), max_output=5)
    assert "abc" not in json.dumps(sent(session_id="abc"))


MESSAGES = st.lists(
    st.one_of(
        st.text(min_size=1, max_size=5).map(lambda t: (user(t),)),
        st.text(min_size=1, max_size=5).map(lambda t: (answer(Text(t)),)),
        st.integers(0, 3).map(lambda n: (answer(call(f"c{n}")), result(f"c{n}", Text("r"), PIXEL))),
    ),
    max_size=6,
)


@given(before=MESSAGES, after=MESSAGES)
def test_a_request_grows_only_at_its_end(before, after):
    def body(steps: Any) -> bytes:
        messages = tuple(m for step in steps for m in step)
        return OpenAIChat().request(ENDPOINT, ModelRequest(MODEL, messages, system="s", tools=(READ,))).body

    first, second = body(before), body([*before, *after])
    assert second.startswith(first.removesuffix(b"]}"))
    assert body(before) == first
