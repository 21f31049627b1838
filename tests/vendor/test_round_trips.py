"""What is given comes back: with memory the dict itself, without it the same said in canonical form, and mess is refused by name."""

import json
from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.vendor_dicts import anthropic_conversation, anything, chat_conversation, damaged
from trimtab.context.vendor.errors import VendorMessageError
from trimtab.context.vendor.formats import FORMATS, Format, format_named
from trimtab.context.vendor.remembered import Remembered
from trimtab.context.window.pairs import pair
from trimtab.types.codec import decode_message, encode_message
from trimtab.types.errors import UsageError
from trimtab.types.messages import Message

CONVERSATIONS = {"openai": chat_conversation(), "anthropic": anthropic_conversation()}
named = st.sampled_from(list(FORMATS.values()))


def _told(format: Format, dicts: list[Any]) -> tuple[Remembered, list[Message]]:
    memory = Remembered(format)
    return memory, list(chain.from_iterable(memory.decode(d) for d in dicts))


def _through_the_log(messages: list[Message]) -> list[Message]:
    return [decode_message(encode_message(m)) for m in messages]


@given(format=named, data=st.data())
def test_a_legal_conversation_comes_back_byte_for_byte_even_through_the_log(format, data):
    dicts = data.draw(CONVERSATIONS[format.name])
    memory, messages = _told(format, dicts)
    again = Remembered(format)
    again.load(json.loads(json.dumps(memory.dump())))
    for keeper in (memory, again):
        assert json.dumps(keeper.encode(_through_the_log(messages))) == json.dumps(dicts)


@given(format=named, data=st.data())
def test_what_is_written_without_memory_reads_as_the_same_messages(format, data):
    _, messages = _told(format, data.draw(CONVERSATIONS[format.name]))
    canonical = format.encode(messages, lambda *_: None)
    _, again = _told(format, canonical)
    assert again == messages
    assert format.encode(again, lambda *_: None) == canonical


@given(format=named, data=st.data())
def test_a_caller_that_changes_its_dicts_changes_nothing_here(format, data):
    dicts = data.draw(CONVERSATIONS[format.name])
    before = json.dumps(dicts)
    memory, messages = _told(format, dicts)
    for keep in (dicts, memory.encode(messages), format.encode(messages, lambda *_: None)):
        for message in keep:
            if isinstance(message["content"], list):
                message["content"][0]["cache_control"] = {"type": "changed"}
            message["content"] = "changed"
    assert json.dumps(memory.encode(messages)) == before
    assert format.encode(messages, lambda *_: None) == format.encode(_through_the_log(messages), lambda *_: None)


@given(format=named, data=st.data())
def test_mess_is_refused_by_name_or_taken_whole(format, data):
    mess = data.draw(damaged(CONVERSATIONS[format.name]) | st.lists(anything, max_size=3))
    memory, messages, refusals = Remembered(format), [], []
    for message in mess:
        try:
            messages += memory.decode(message)
            format.system_text(message)
        except VendorMessageError as refused:
            refusals.append(refused)
    for refused in refusals:
        assert refused.hint
        assert str(refused).startswith(f"message {refused.index}")
        assert refused.index <= len(mess)
    logged = _through_the_log(messages)
    assert logged == messages
    written = memory.encode(logged)
    json.dumps(written, allow_nan=False).encode()
    _, again = _told(format, written)
    assert pair(again)[1].orphans == ()


def test_a_format_that_there_is_not_is_refused_with_the_names_of_those_that_are():
    with pytest.raises(UsageError, match="'gemini'") as caught:
        format_named("gemini")
    assert caught.value.hint == "Use one of: openai, anthropic."
