"""Chat Completions dicts: what becomes of each field, and how edited conversations are written."""

from typing import Any

import pytest
from msgspec.structs import replace

from trimtab.context.vendor.errors import VendorMessageError
from trimtab.context.vendor.formats import FORMATS
from trimtab.context.vendor.remembered import Remembered
from trimtab.types.messages import Assistant, Image, Opaque, Text, Thinking, ToolCall, ToolResult, user

CHAT = FORMATS["openai"]
CALL = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}


class Dumped:
    """An object of an SDK, which leaves out what the server didn't send."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self, *, mode: str, exclude_unset: bool) -> dict[str, Any]:
        assert (mode, exclude_unset) == ("json", True)
        return self.fields


def written(*messages: Any) -> list[dict[str, Any]]:
    return CHAT.encode(messages, lambda *_: None)


def test_an_answer_keeps_thinking_words_refusal_and_calls_in_this_order():
    message = {
        "role": "assistant",
        "content": "I look.",
        "reasoning_content": "hm",
        "refusal": "not that",
        "tool_calls": [CALL],
        "annotations": [],
    }
    (answer,) = CHAT.decode(message)
    assert answer == Assistant(
        (
            Thinking("hm", wire={"field": "reasoning_content"}),
            Text("I look."),
            Text("not that", wire={"type": "message_refusal"}),
            ToolCall("call_1", "read", {"path": "a"}, '{"path": "a"}'),
        ),
        "refused",
        provider="openai-chat",
        wire={"annotations": []},
    )
    assert written(answer)[0] == message


def test_a_data_url_is_an_image_and_a_link_stays_what_it_was():
    shown = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}}
    linked = {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}
    message = {"role": "user", "content": [shown, linked]}
    (told,) = CHAT.decode(message)
    assert told.parts == (
        Image("image/png", "AAAA", wire={"image_url": {"detail": "low"}}),
        Opaque("openai-chat", linked),
    )
    assert written(told) == [message]


@pytest.mark.parametrize("role", ["system", "developer"])
def test_instructions_stay_in_place_and_say_their_text(role):
    message = {"role": role, "content": [{"type": "text", "text": "Be "}, {"type": "text", "text": "brief."}]}
    (told,) = CHAT.decode(message)
    assert CHAT.system_text(message) == "Be brief."
    assert CHAT.system_text({"role": "user", "content": "hi"}) is None
    assert written(user("hi"), told) == [{"role": "user", "content": "hi"}, message]


def test_pictures_of_results_follow_the_batch_in_a_user_message():
    calls = tuple(ToolCall(i, "shot", {}, "{}") for i in ("a", "b"))
    result = ToolResult("a", "shot", (Image("image/png", "AAAA"),), is_error=False)
    out = written(
        Assistant(calls, "tool_use"), result, user("go on"), ToolResult("b", "shot", (Text("done"),), is_error=False)
    )
    assert [(m["role"], m["content"]) for m in out[1:]] == [
        ("tool", "(shown below)"),
        ("tool", "done"),
        (
            "user",
            [
                {"type": "text", "text": "From the result of shot (a):"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            ],
        ),
        ("user", "go on"),
    ]


def test_a_function_call_without_an_id_finds_its_answer_each_time_it_is_made():
    dicts: list[dict[str, Any]] = []
    for n in "12":
        dicts += [
            {"role": "assistant", "content": None, "function_call": {"name": "read", "arguments": "{}"}},
            {"role": "function", "name": "read", "content": n},
        ]
    memory = Remembered(CHAT)
    messages = [m for d in dicts for m in memory.decode(d)]
    assert [m.call_id for m in messages if isinstance(m, ToolResult)] == ["function_call_0", "function_call_2"]
    assert written(*messages) == memory.encode(messages) == dicts


def test_a_function_call_without_an_answer_is_answered_in_its_own_form():
    memory = Remembered(CHAT)
    call = {"role": "assistant", "content": None, "function_call": {"name": "read", "arguments": "{}"}}
    assert memory.encode(memory.decode(call)) == [call, {"role": "function", "name": "read", "content": "interrupted"}]


def test_an_edited_result_is_written_anew_with_the_fields_it_had():
    memory = Remembered(CHAT)
    memory.decode({"role": "assistant", "content": None, "tool_calls": [CALL]})
    (result,) = memory.decode({"role": "tool", "tool_call_id": "call_1", "content": "long", "name": "read"})
    assert result.tool_name == "read"
    asked = Assistant((ToolCall("call_1", "read", {}, "{}"),), "tool_use")
    assert memory.encode([asked, replace(result, parts=(Text("[r1]"),))])[1] == {
        "role": "tool",
        "tool_call_id": "call_1",
        "content": "[r1]",
        "name": "read",
    }


@pytest.mark.parametrize("empty", [None, []])
def test_empty_tool_calls_which_the_api_refuses_dont_go_back(empty):
    memory = Remembered(CHAT)
    messages = memory.decode({"role": "assistant", "content": "hi", "tool_calls": empty})
    assert memory.encode(messages) == [{"role": "assistant", "content": "hi"}]


def test_arguments_that_a_server_parsed_go_back_as_text():
    memory = Remembered(CHAT)
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": {"path": "é"}}}
    out = memory.encode(memory.decode({"role": "assistant", "content": None, "tool_calls": [call]}))
    assert out[0]["tool_calls"][0]["function"] == {"name": "read", "arguments": '{"path":"é"}'}


def test_objects_of_the_sdk_are_taken_at_any_depth():
    call = Dumped(id="c", type="function", function=Dumped(name="read", arguments="{}"))
    (answer,) = CHAT.decode(Dumped(role="assistant", content=None, tool_calls=[call]))
    assert answer.parts == (ToolCall("c", "read", {}, "{}"),)


def test_what_another_provider_made_loses_only_what_is_its_own():
    foreign = Assistant(
        (
            Thinking("secret", "sig"),
            Text("Hello.", wire={"citations": []}),
            Opaque("openai", {"type": "reasoning"}),
            Image("image/png", "AAAA"),
        ),
        "stop",
        provider="openai",
    )
    assert written(foreign) == [
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "Hello."}, {"type": "text", "text": "[image not shown: image/png]"}],
        }
    ]


@pytest.mark.parametrize(
    ("message", "field", "says"),
    [
        ({}, "role", "is missing"),
        ({"role": "asistant", "content": "x"}, "role", "no role 'asistant'; did you mean 'assistant'?"),
        ({"role": ["user"], "content": "x"}, "role", "no role ['user']"),
        (
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
            "content[0]",
            "'tool_use' is Anthropic's",
        ),
        (
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]},
            "content[0]",
            "'tool_result' is Anthropic's",
        ),
        (
            {"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "x"}}]},
            "content[0]",
            "'image' is",
        ),
        (7, "", "is no message but int"),
        ({"role": "user"}, "content", "not null"),
        ({"role": "user", "content": [{"type": "text", "text": 1}]}, "content[0].text", "must be text, not int"),
        ({"role": "user", "content": ["hi"]}, "content[0]", "a block must be an object, not str"),
        ({"role": "tool", "content": "x"}, "tool_call_id", "is missing"),
        ({"role": "assistant", "tool_calls": [{"id": "a"}]}, "tool_calls[0].function", "is missing"),
        ({"role": "assistant", "tool_calls": {}}, "tool_calls", "must be a list"),
        ({"role": "user", "content": "x", "n": float("nan")}, "n", "not JSON"),
        ({"role": "user", "content": "x", "n": b""}, "n", "holds bytes"),
        ({"role": "user", "content": "x", "n": {1: 2}}, "n", "a key that is int"),
    ],
)
def test_a_refusal_names_the_message_the_field_and_the_next_step(message, field, says):
    with pytest.raises(VendorMessageError, match="message 3") as caught:
        CHAT.decode(message, index=3)
    assert (caught.value.index, caught.value.field) == (3, field)
    assert says in str(caught.value)
    assert caught.value.hint


def test_a_value_that_contains_itself_is_refused():
    loop: list[Any] = []
    loop += [loop, loop]
    with pytest.raises(VendorMessageError, match="nested too deeply"):
        CHAT.decode({"role": "user", "content": "x", "n": loop})


@pytest.mark.parametrize("raw", ["{oops", "[1]", '{"n": NaN}', '{"n": 1e999}', "[" * 5_000])
def test_arguments_that_are_no_json_object_go_back_as_they_streamed(raw):
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": raw}}
    (answer,) = CHAT.decode({"role": "assistant", "content": None, "tool_calls": [call]})
    assert answer.parts == (ToolCall("c", "read", None, raw),)
    assert written(answer)[0]["tool_calls"] == [call]


def test_spoken_answers_and_unknown_fields_of_calls_go_back_in_their_places():
    call = {
        "id": "c",
        "type": "function",
        "function": {"name": "f", "arguments": "{}", "x": 1},
        "extra_content": {"s": 2},
    }
    custom = {"id": "d", "type": "custom", "custom": {"name": "g", "input": "in", "x": 1}, "y": 2}
    message = {"role": "assistant", "content": None, "audio": {"id": "a"}, "tool_calls": [call, custom]}
    assert written(*CHAT.decode(message))[0] == message


def test_a_picture_in_a_result_moves_behind_the_batch_even_when_it_was_given_there():
    memory = Remembered(CHAT)
    shown = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    messages = [
        *memory.decode({"role": "assistant", "content": None, "tool_calls": [CALL]}),
        *memory.decode(
            {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "here"}, shown]}
        ),
    ]
    head = {"type": "text", "text": "From the result of read (call_1):"}
    assert memory.encode(messages)[1:] == [
        {"role": "tool", "tool_call_id": "call_1", "content": "here"},
        {"role": "user", "content": [head, shown]},
    ]


def test_a_thought_alone_goes_back_with_an_empty_answer():
    message = {"role": "assistant", "content": "", "reasoning": "hm"}
    assert written(*CHAT.decode(message)) == [message]


def test_instructions_hold_only_text():
    told = CHAT.decode(
        {"role": "system", "content": [{"type": "text", "text": "Be brief."}, {"type": "file", "file": {}}]}
    )
    assert written(*told) == [{"role": "system", "content": "Be brief."}]


def test_an_sdk_object_that_cant_be_dumped_is_refused():
    class Broken:
        def model_dump(self, *, mode: str, exclude_unset: bool) -> dict[str, Any]:
            raise ValueError("no")

    with pytest.raises(VendorMessageError, match=r"could not be read \(ValueError: no\)"):
        CHAT.decode(Broken())
