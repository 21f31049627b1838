"""The types of the official SDKs take what is written, whatever was given."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.vendor_dicts import anthropic_conversation, chat_conversation
from trimtab.context.vendor.formats import FORMATS
from trimtab.context.vendor.remembered import Remembered
from trimtab.context.vendor.usage import usage_of
from trimtab.types.messages import Assistant, Image, Text, Thinking, ToolCall, ToolResult, User
from trimtab.types.usage import Usage

pytestmark = [pytest.mark.oracle, pytest.mark.slow]

OURS = (
    User((Text("look"), Image("image/png", "AAAA"), Image("image/bmp", body="sha256-00"))),
    Assistant(
        (Thinking("hm", "c2ln"), Text("so"), ToolCall("a:1", "f", None, "{"), ToolCall("b", "f", {}, "")), "tool_use"
    ),
    ToolResult("b", "f", (Image("image/png", "AAAA"), Text("seen"), Text("twice")), is_error=True),
    User((Text("and?"),)),
)
"""What other providers and the engine make, with a call that nobody answered."""


@cache
def adapter(name: str) -> Any:
    from anthropic.types import MessageParam
    from openai.types.chat import ChatCompletionMessageParam
    from pydantic import TypeAdapter

    kind: Any = {"openai": ChatCompletionMessageParam, "anthropic": MessageParam}[name]
    return TypeAdapter(list[kind])


def validate(name: str, dicts: list[dict[str, Any]]) -> None:
    exhaust(adapter(name).validate_python(dicts))


def exhaust(value: Any) -> None:
    """The SDKs' types say `Iterable`, which is validated only while it is read."""
    if isinstance(value, Mapping):
        value = value.values()
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for inner in value:
            exhaust(inner)


def test_the_check_sees_a_fault_deep_inside():
    from pydantic import ValidationError

    with pytest.raises(ValidationError):
        validate("openai", [{"role": "user", "content": [{"type": "text", "text": 7}]}])


@pytest.mark.parametrize("name", FORMATS)
def test_what_the_engine_and_other_providers_made_is_valid(name):
    validate(name, FORMATS[name].encode(OURS, lambda *_: None))


@pytest.mark.parametrize(
    ("name", "conversations"), [("openai", chat_conversation()), ("anthropic", anthropic_conversation())]
)
def test_conversations_are_valid_whichever_messages_are_left_out_or_swapped(name, conversations):
    @settings(max_examples=60)
    @given(dicts=conversations, data=st.data())
    def check(dicts, data):
        memory = Remembered(FORMATS[name])
        messages = [m for d in dicts for m in memory.decode(d)]
        validate(name, memory.encode(messages))
        kept = data.draw(st.lists(st.sampled_from(messages), max_size=8))
        validate(name, memory.encode(kept))
        validate(name, FORMATS[name].encode(kept, lambda *_: None))

    check()


def test_answers_as_the_sdks_give_them_are_taken_and_go_back_valid():
    from anthropic.types import Message
    from openai.types.chat import ChatCompletion

    chat = ChatCompletion.model_validate(
        {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls",
                    "logprobs": None,
                    "message": {
                        "role": "assistant",
                        "content": None,
                        "refusal": None,
                        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                    },
                }
            ],
            "usage": {
                "prompt_tokens": 9,
                "completion_tokens": 2,
                "total_tokens": 11,
                "prompt_tokens_details": {"cached_tokens": 4},
            },
        }
    )
    memory = Remembered(FORMATS["openai"])
    written = memory.encode(memory.decode(chat.choices[0].message))
    validate("openai", written)
    assert written[0] == chat.choices[0].message.model_dump(exclude_unset=True)
    assert usage_of(chat.usage) == Usage(input=5, output=2, cache_read=4)
    answer = Message.model_validate(
        {
            "id": "msg",
            "type": "message",
            "role": "assistant",
            "model": "claude-x",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                {"type": "tool_use", "id": "a", "name": "f", "input": {}},
            ],
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 9, "output_tokens": 2, "cache_read_input_tokens": 4},
        }
    )
    for given_answer in (answer, {"role": "assistant", "content": answer.content}):
        memory = Remembered(FORMATS["anthropic"])
        messages = memory.decode({"role": "user", "content": "hi"}) + memory.decode(given_answer)
        written = memory.encode(messages)
        validate("anthropic", written)
        assert written[1]["content"] == [block.model_dump(exclude_unset=True) for block in answer.content]
    assert usage_of(answer.usage) == Usage(input=9, output=2, cache_read=4)
