"""Anthropic dicts: several messages in one, turns that alternate, and what the API would refuse."""

from typing import Any

import pytest
from msgspec.structs import replace

from trimtab.context.vendor.errors import VendorMessageError
from trimtab.context.vendor.formats import FORMATS
from trimtab.context.vendor.remembered import Remembered
from trimtab.types.messages import Assistant, Image, Opaque, Text, Thinking, ToolCall, ToolResult, User, user
from trimtab.types.usage import Usage

MESSAGES = FORMATS["anthropic"]
MARK = {"type": "ephemeral"}


def use(call_id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "read", "input": {"path": call_id}}


def result(call_id: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": f"of {call_id}", **more}


def told(memory: Remembered, *dicts: Any) -> list[Any]:
    return [m for d in dicts for m in memory.decode(d)]


def test_results_and_words_of_one_user_message_are_messages_of_their_own():
    memory = Remembered(MESSAGES)
    memory.decode({"role": "assistant", "content": [use("a"), use("b")]})
    text = {"type": "text", "text": "Go on.", "cache_control": MARK}
    got = memory.decode(
        {"role": "user", "content": [result("a", cache_control=MARK), result("b", is_error=True), text]}
    )
    wire = {"trimtab:format": "anthropic"}
    assert got == (
        ToolResult("a", "read", (Text("of a"),), is_error=False, wire={**wire, "cache_control": MARK}),
        ToolResult("b", "read", (Text("of b"),), is_error=True),
        User((Text("Go on.", wire={"cache_control": MARK}),), wire=wire),
    )


def test_results_come_before_words_and_side_by_side_users_become_one():
    memory = Remembered(MESSAGES)
    messages = told(
        memory,
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [use("a"), use("b")]},
        {"role": "user", "content": [{"type": "text", "text": "first"}, result("b")]},
        {"role": "user", "content": [result("a")]},
        {"role": "user", "content": "last"},
    )
    out = memory.encode(messages)
    assert [m["role"] for m in out] == ["user", "assistant", "user"]
    texts = [{"type": "text", "text": t} for t in ("first", "last")]
    assert out[2]["content"] == [result("a"), result("b"), *texts]


def test_an_edit_of_one_result_leaves_the_others_as_they_came():
    memory = Remembered(MESSAGES)
    given = {"role": "user", "content": [result("a", cache_control=MARK), result("b", toolset_name=None)]}
    messages = told(
        memory, {"role": "user", "content": "hi"}, {"role": "assistant", "content": [use("a"), use("b")]}, given
    )
    messages[2] = replace(messages[2], parts=(Text("[r1]"),))
    assert memory.encode(messages)[2] == {
        "role": "user",
        "content": [{**result("a", cache_control=MARK), "content": "[r1]"}, result("b", toolset_name=None)],
    }


def test_thinking_goes_back_signed_and_sealed_or_not_at_all():
    thoughts = [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "c2VhbGVk"},
        {"type": "thinking", "thinking": "unsigned"},
    ]
    memory = Remembered(MESSAGES)
    messages = told(memory, {"role": "user", "content": "hi"}, {"role": "assistant", "content": [*thoughts, use("a")]})
    assert messages[1].parts[:3] == (
        Thinking("hm", "c2ln"),
        Thinking("", "c2VhbGVk", redacted=True),
        Thinking("unsigned"),
    )
    assert memory.encode(messages)[1]["content"] == [*thoughts[:2], use("a")]


def test_an_answer_as_the_api_returned_it_gives_its_usage_and_only_its_content_goes_back():
    answer = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [{"type": "text", "text": "cut"}],
        "stop_reason": "max_tokens",
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 5, "cache_read_input_tokens": 7},
    }
    memory = Remembered(MESSAGES)
    messages = told(memory, {"role": "user", "content": "hi"}, answer)
    assert messages[1] == Assistant(
        (Text("cut"),), "length", usage=Usage(input=3, output=5, cache_read=7), model="claude-x", provider="anthropic"
    )
    assert memory.encode(messages)[1] == {"role": "assistant", "content": [{"type": "text", "text": "cut"}]}


def test_what_the_api_refuses_is_left_out_and_a_conversation_begins_with_the_user():
    blank = {"type": "text", "text": " \n"}
    memory = Remembered(MESSAGES)
    messages = told(
        memory,
        {"role": "user", "content": ""},
        {"role": "assistant", "content": [blank, {"type": "text", "text": "So:"}]},
        {"role": "user", "content": [blank]},
        {"role": "user", "content": []},
    )
    assert memory.encode(messages) == [
        {"role": "user", "content": "(The conversation began before this point.)"},
        {"role": "assistant", "content": "So:"},
    ]


def test_pictures_are_images_and_what_ours_lack_stays_what_it_was():
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    linked = {"type": "image", "source": {"type": "url", "url": "https://example.org/cat.png"}}
    given = {"role": "user", "content": [{"type": "image", "source": source, "cache_control": MARK}, linked]}
    (message,) = MESSAGES.decode(given)
    assert message.parts == (Image("image/png", "AAAA", wire={"cache_control": MARK}), Opaque("anthropic", linked))
    assert MESSAGES.encode([message], lambda *_: None) == [given]


def test_instructions_within_the_conversation_stay_in_place():
    memory = Remembered(MESSAGES)
    given = [
        {"role": "user", "content": "hi"},
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "?"},
    ]
    assert memory.encode(told(memory, *given)) == given
    assert MESSAGES.system_text(given[1]) == "Be brief."
    assert MESSAGES.system_text(given[0]) is None


@pytest.mark.parametrize(
    "before", [[], [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello."}]]
)
def test_instructions_where_the_api_takes_none_go_out_as_the_users(before):
    memory = Remembered(MESSAGES)
    given = [*before, {"role": "system", "content": "Be brief."}, {"role": "user", "content": "?"}]
    *_, last = memory.encode(told(memory, *given))
    assert last["role"] == "user"
    assert [block["text"] for block in last["content"]] == ["Be brief.", "?"]


def test_foreign_call_ids_and_broken_arguments_become_legal_on_both_sides():
    call = ToolCall("call:1", "read", None, "{oops")
    out = MESSAGES.encode(
        [user("hi"), Assistant((call,), "tool_use"), ToolResult("call:1", "read", (), is_error=False)], lambda *_: None
    )
    (block,) = out[1]["content"]
    assert block["input"] == {"unparsed_arguments": "{oops"}
    assert out[2]["content"] == [{"type": "tool_result", "tool_use_id": block["id"]}]
    assert ":" not in block["id"]


def test_a_call_without_an_answer_is_answered_before_the_words_that_follow():
    memory = Remembered(MESSAGES)
    given = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [use("a")]},
        {"role": "user", "content": "?"},
    ]
    out = memory.encode(told(memory, *given))
    assert out[:2] == given[:2]
    assert out[2]["content"] == [
        {**result("a"), "content": "interrupted", "is_error": True},
        {"type": "text", "text": "?"},
    ]


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"role": "tool", "content": "x"}, "role"),
        ({"role": "assistant", "content": "x", "tool_calls": [{"id": "a"}]}, "tool_calls"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}, "content[0]"),
        ({"role": "user"}, "content"),
        ({"role": "assistant", "content": None}, "content"),
        (
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "b", "input": "{}"}]},
            "content[0].input",
        ),
        ({"role": "user", "content": [{"type": "tool_result"}]}, "content[0].tool_use_id"),
        ({"role": "user", "content": [result("a") | {"content": [{"type": "text"}]}]}, "content[0].content[0].text"),
        (
            {"role": "user", "content": [{"type": "image", "source": {"type": "base64"}}]},
            "content[0].source.media_type",
        ),
    ],
)
def test_a_refusal_names_the_field(message, field):
    with pytest.raises(VendorMessageError) as caught:
        MESSAGES.decode(message, index=1)
    assert (caught.value.index, caught.value.field) == (1, field)
    assert caught.value.hint


def test_a_usage_that_cant_be_read_costs_no_answer():
    answer = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "hi"}], "usage": "none"}
    assert MESSAGES.decode(answer) == (Assistant((Text("hi"),), "stop", provider="anthropic"),)


def test_fields_of_the_whole_message_stay_with_its_first_result():
    memory = Remembered(MESSAGES)
    given = {"role": "user", "content": [result("a"), {"type": "text", "text": "?"}], "note": "mine"}
    messages = told(memory, {"role": "user", "content": "hi"}, {"role": "assistant", "content": [use("a")]}, given)
    assert memory.encode(messages)[2] == MESSAGES.encode(messages, lambda *_: None)[2] == given


def test_a_picture_that_the_api_doesnt_take_is_said_in_words():
    shown = (Image("image/bmp", "AAAA", name="a.bmp"), Image("image/png", body="sha256-00"))
    texts = ["[image not shown: a.bmp, image/bmp]", "[image not shown: image/png]"]
    assert MESSAGES.encode([User(shown), Assistant(shown, "stop")], lambda *_: None) == [
        {"role": "user", "content": [{"type": "text", "text": t} for t in texts]},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": t} for t in ("[image not shown: a.bmp, image/bmp]", texts[1])],
        },
    ]
