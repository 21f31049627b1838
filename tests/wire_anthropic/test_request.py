"""What a Messages request looks like. Prefix stability stands in test_prefix.py."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.providers.anthropic import AnthropicWire
from trimtab.providers.wire import Endpoint
from trimtab.types.messages import Assistant, Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult, User, user
from trimtab.types.models import CacheRules, ModelInfo, ModelRequest
from trimtab.types.tools import ToolSpec

ENDPOINT = Endpoint("anthropic", "anthropic", "https://api.anthropic.com/v1", api_key="k")
MODEL = ModelInfo("anthropic", "claude-x", "anthropic", max_output=8_000, input=("text", "image"))
CACHED = ModelInfo("anthropic", "claude-x", "anthropic", max_output=8_000, cache=CacheRules("explicit", breakpoints=4))
READ = ToolSpec("read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
MARK = {"type": "ephemeral"}


def styled(style: str, **compat: Any) -> ModelInfo:
    return ModelInfo("anthropic", "claude-x", "anthropic", max_output=64_000, thinking_style=style, compat=compat)


def body(*messages: Message, model: ModelInfo = MODEL, **rest: Any) -> dict[str, Any]:
    sent = AnthropicWire().request(ENDPOINT, ModelRequest(model, messages, **rest))
    return json.loads(sent.body)


def answer(*parts: Any, model: str = "claude-x") -> Assistant:
    return Assistant(parts, "tool_use", provider="anthropic", model=model)


def call(call_id: str, raw: str = '{"path": "a"}') -> ToolCall:
    return ToolCall(call_id, "read", None, raw)


def result(call_id: str, *parts: Any, is_error: bool = False) -> ToolResult:
    return ToolResult(call_id, "read", parts, is_error=is_error)


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def test_a_first_request_is_model_cap_system_tools_and_the_prompt() -> None:
    assert body(user("hi"), system="Be brief.", tools=(READ,)) == {
        "model": "claude-x",
        "max_tokens": 8_000,
        "stream": True,
        "tools": [{"name": "read", "description": "Read a file.", "input_schema": READ.parameters}],
        "system": [text("Be brief.")],
        "messages": [{"role": "user", "content": [text("hi")]}],
    }


@pytest.mark.parametrize(
    ("compat", "expected"),
    [
        ({}, {"anthropic-version": "2023-06-01", "x-api-key": "k"}),
        ({"bearer": True}, {"anthropic-version": "2023-06-01", "authorization": "Bearer k"}),
        (
            {"betas": ["a", "b"]},
            {"anthropic-version": "2023-06-01", "x-api-key": "k", "anthropic-beta": "a,b"},
        ),
    ],
)
def test_the_key_goes_where_the_server_wants_it(compat: dict[str, Any], expected: dict[str, str]) -> None:
    sent = AnthropicWire().request(ENDPOINT, ModelRequest(styled("", **compat), (user("hi"),)))
    assert (sent.path, dict(sent.headers)) == ("/messages", expected)


def test_no_key_sends_no_key_header() -> None:
    sent = AnthropicWire().request(
        Endpoint("l", "anthropic", "http://127.0.0.1/v1"), ModelRequest(MODEL, (user("hi"),))
    )
    assert dict(sent.headers) == {"anthropic-version": "2023-06-01"}


def test_all_results_of_a_batch_stand_in_one_user_message_before_any_text() -> None:
    picture = Image("image/png", "AAAA")
    sent = body(
        user("look"),
        answer(Text("I look."), call("t1"), call("t2")),
        result("t1", Text("one"), picture),
        user("hurry"),
        result("t2", Text("no such file"), is_error=True),
    )
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    assert sent["messages"][1:] == [
        {
            "role": "assistant",
            "content": [
                text("I look."),
                {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}},
                {"type": "tool_use", "id": "t2", "name": "read", "input": {"path": "a"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [text("one"), image]},
                {"type": "tool_result", "tool_use_id": "t2", "content": [text("no such file")], "is_error": True},
                text("hurry"),
            ],
        },
    ]


def test_neighbours_of_one_side_become_one_message() -> None:
    sent = body(user("a"), user("b"), answer(Text("c")), answer(Text("d")), user("e"))
    assert sent["messages"] == [
        {"role": "user", "content": [text("a"), text("b")]},
        {"role": "assistant", "content": [text("c"), text("d")]},
        {"role": "user", "content": [text("e")]},
    ]


def test_blank_text_is_never_sent_and_an_empty_result_says_so() -> None:
    sent = body(user(" "), user("a"), answer(Text("\n")), user("b"), answer(call("t")), result("t"), system=" \n")
    assert "system" not in sent
    assert sent["messages"] == [
        {"role": "user", "content": [text("a"), text("b")]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "read", "input": {"path": "a"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [text("(no output)")]}]},
    ]


def test_an_answer_never_ends_in_whitespace_not_even_when_it_is_the_last_message() -> None:
    sent = body(user("a"), answer(Text("one \n"), Text("two \n")))
    assert sent["messages"][-1] == {"role": "assistant", "content": [text("one \n"), text("two")]}


def test_a_history_that_begins_with_an_answer_gets_a_user_message_in_front() -> None:
    roles = [m["role"] for m in body(answer(Text("so")), user("go on"))["messages"]]
    assert roles == ["user", "assistant", "user"]


def test_each_thinking_block_goes_back_with_its_own_signature_and_redacted_ones_too() -> None:
    parts = (
        Thinking("first ", signature="s1"),
        Thinking("", signature="sealed", redacted=True),
        Thinking("second", signature="s2"),
        call("t"),
    )
    sent = body(user("q"), answer(*parts), result("t", Text("r")))
    assert sent["messages"][1]["content"][:3] == [
        {"type": "thinking", "thinking": "first ", "signature": "s1"},
        {"type": "redacted_thinking", "data": "sealed"},
        {"type": "thinking", "thinking": "second", "signature": "s2"},
    ]


def test_thinking_goes_only_to_the_model_that_made_it() -> None:
    sent = body(user("q"), answer(Thinking("hm", signature="s"), Text("a"), model="claude-y"), user("r"))
    assert sent["messages"][1] == {"role": "assistant", "content": [text("a")]}


def test_unsigned_thinking_is_left_out_unless_the_server_thinks_in_the_open() -> None:
    history = (user("q"), answer(Thinking("hm"), Text("a")), user("r"))
    assert body(*history)["messages"][1]["content"] == [text("a")]
    shown = body(*history, model=styled("", unsigned_thinking=True))["messages"][1]["content"]
    assert shown == [{"type": "thinking", "thinking": "hm", "signature": ""}, text("a")]


def test_opaque_blocks_go_back_as_they_came() -> None:
    block = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"query": "q"}}
    assert body(user("q"), answer(Opaque("anthropic", block), Text("a")))["messages"][1]["content"][0] == block


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ('{ "b":1,\n"a" : 1.0 }', '{ "b":1,\n"a" : 1.0 }'),
        ("", "{}"),
        ('{"path": "a', '{"unparsed_arguments":"{\\"path\\": \\"a"}'),
        ("[1]", '{"unparsed_arguments":"[1]"}'),
        ('{"a": NaN}', '{"unparsed_arguments":"{\\"a\\": NaN}"}'),
        ('{"a": "\\ud800"}', '{"unparsed_arguments":"{\\"a\\": \\"\\\\ud800\\"}"}'),
    ],
)
def test_argument_text_goes_back_byte_for_byte_and_wrapped_when_it_is_no_object(raw: str, expected: str) -> None:
    request = ModelRequest(MODEL, (user("q"), answer(call("t", raw)), result("t", Text("r"))))
    sent = AnthropicWire().request(ENDPOINT, request).body
    assert f'"input":{expected}}}'.encode() in sent


def test_an_invented_tool_name_is_made_legal() -> None:
    sent = body(user("q"), answer(ToolCall("t", "functions.read file", {}, "{}")), result("t", Text("unknown tool")))
    assert sent["messages"][1]["content"][0]["name"] == "functions_read_file"


def test_breakpoints_stand_on_the_system_prompt_and_the_two_newest_user_turns() -> None:
    history = (user("a"), answer(call("t")), result("t", Text("r")), user("b"), answer(Text("c")), user("d"))
    sent = body(*history, model=CACHED, system="S", tools=(READ,))
    assert sent["system"] == [text("S", cache_control=MARK)]
    assert "cache_control" not in sent["tools"][0]
    marked = [
        (m["role"], b.get("text")) for m in sent["messages"] for b in m["content"] if b.get("cache_control") == MARK
    ]
    assert marked == [("user", "b"), ("user", "d")]


def test_without_a_system_prompt_the_last_tool_is_marked_and_a_result_can_be() -> None:
    sent = body(user("a"), answer(call("t")), result("t", Text("r")), model=CACHED, tools=(READ,))
    assert sent["tools"][-1]["cache_control"] == MARK
    assert sent["messages"][-1]["content"][-1] == {
        "type": "tool_result",
        "tool_use_id": "t",
        "content": [text("r")],
        "cache_control": MARK,
    }


@pytest.mark.parametrize(("breakpoints", "count"), [(1, 1), (2, 2), (4, 3), (9, 3)])
def test_there_are_never_more_marks_than_the_cache_has_breakpoints(breakpoints: int, count: int) -> None:
    model = ModelInfo("anthropic", "claude-x", "anthropic", cache=CacheRules("explicit", breakpoints=breakpoints))
    sent = body(user("a"), answer(Text("b")), user("c"), answer(Text("d")), user("e"), model=model, system="S")
    assert json.dumps(sent).count("cache_control") == count


def marked(sent: dict[str, Any]) -> list[tuple[int, int]]:
    """Message and block of each breakpoint."""
    messages = enumerate(sent["messages"])
    return [(i, j) for i, m in messages for j, b in enumerate(m["content"]) if b.get("cache_control")]


TALK = (user("a"), answer(call("t"), call("u")), result("t", Text("r")), result("u", Text("s")), user("b"), user("c"))


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ((0,), [(0, 0)]),
        ((2,), [(2, 0)]),
        ((0, 2, 5), [(0, 0), (2, 0), (2, 3)]),
        ((4,), [(2, 2)]),
        ((1,), [(0, 0)]),
        ((0, 1), [(0, 0)]),
        ((0, 2, 3, 4, 5), [(2, 1), (2, 2), (2, 3)]),
        ((5, 0), [(0, 0), (2, 3)]),
        ((99, -1), [(2, 3)]),
        ((-1,), [(0, 0), (2, 3)]),
    ],
)
def test_a_request_that_says_where_its_breakpoints_go_gets_them_there_the_newest_first(
    marks: tuple[int, ...], expected: list[tuple[int, int]]
) -> None:
    sent = AnthropicWire().request(ENDPOINT, ModelRequest(CACHED, TALK, system="S", cache_marks=marks)).body
    assert marked(json.loads(sent)) == expected


@given(st.lists(st.integers(-2, 9), max_size=6).map(tuple))
def test_marks_change_no_other_byte_and_are_never_more_than_four(marks: tuple[int, ...]) -> None:
    sent = AnthropicWire().request(ENDPOINT, ModelRequest(CACHED, TALK, system="S", cache_marks=marks)).body
    bare = AnthropicWire().request(ENDPOINT, ModelRequest(CACHED, TALK, system="S")).body
    mark = b',"cache_control":{"type":"ephemeral"}'
    assert sent.replace(mark, b"") == bare.replace(mark, b"")
    assert 1 <= sent.count(mark) <= 4


def test_a_long_lived_cache_says_its_lifetime() -> None:
    model = ModelInfo("anthropic", "claude-x", "anthropic", cache=CacheRules("explicit", ttl_s=3_600))
    mark = body(user("a"), model=model)["messages"][0]["content"][0]["cache_control"]
    assert mark == {"type": "ephemeral", "ttl": "1h"}


@pytest.mark.parametrize(
    ("style", "level", "cap", "expected"),
    [
        ("", "high", 64_000, (None, None)),
        ("budget", None, 64_000, (None, None)),
        ("budget", "off", 64_000, ({"type": "disabled"}, None)),
        ("budget", "high", 64_000, ({"type": "enabled", "budget_tokens": 20_480}, None)),
        ("budget", "high", 8_000, ({"type": "enabled", "budget_tokens": 4_000}, None)),
        ("budget", "high", 1_500, ({"type": "enabled", "budget_tokens": 1_024}, None)),
        ("budget", "high", 1_024, (None, None)),
        ("adaptive", "xhigh", 64_000, ({"type": "adaptive"}, {"effort": "xhigh"})),
        ("adaptive", "off", 64_000, ({"type": "disabled"}, None)),
        ("effort", "minimal", 64_000, (None, {"effort": "low"})),
    ],
)
def test_a_thinking_level_is_said_in_the_style_of_the_model(
    style: str, level: str | None, cap: int, expected: tuple[Any, Any]
) -> None:
    sent = body(user("q"), model=styled(style), thinking=level, max_output=cap)
    assert (sent.get("thinking"), sent.get("output_config"), sent["max_tokens"]) == (*expected, cap)


def test_budgets_and_display_can_be_configured() -> None:
    model = styled("budget", thinking_budgets={"high": 9_999}, thinking_display="summarized")
    expected = {"type": "enabled", "budget_tokens": 9_999, "display": "summarized"}
    assert body(user("q"), model=model, thinking="high")["thinking"] == expected


def test_a_tool_loop_that_another_model_began_without_thinking_goes_on_without() -> None:
    foreign = (user("q"), answer(call("t"), model="claude-y"), result("t", Text("r")))
    assert "thinking" not in body(*foreign, model=styled("budget"), thinking="high")
    next_prompt = (*foreign, answer(Text("done")), user("more"))
    assert "thinking" in body(*next_prompt, model=styled("budget"), thinking="high")
    own = (user("q"), answer(Thinking("hm", signature="s"), call("t")), result("t", Text("r")), answer(call("u")))
    assert "thinking" in body(*own, result("u", Text("r")), model=styled("budget"), thinking="high")


def test_the_session_id_is_sent_only_where_it_is_wanted() -> None:
    assert "metadata" not in body(user("q"), session_id="s1")
    assert body(user("q"), session_id="s1", model=styled("", user_id=True))["metadata"] == {"user_id": "s1"}


def test_a_picture_without_its_bytes_is_described() -> None:
    sent = body(User((Image("image/png", name="a.png"),)))
    assert sent["messages"][0]["content"] == [text("[image not shown: a.png, image/png]")]
