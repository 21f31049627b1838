"""The codec: nothing that was written is lost, and nothing that can be read is refused."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.types import codec
from trimtab.types.codec import (
    copy_line,
    decode_header,
    decode_line,
    decode_message,
    encode_entry,
    encode_message,
    entry_of,
)
from trimtab.types.entries import (
    CustomEntry,
    Header,
    KnownEntry,
    LabelEntry,
    LeafEntry,
    MessageEntry,
    ModelChangeEntry,
    RepairEntry,
    SessionInfoEntry,
    ThinkingChangeEntry,
)
from trimtab.types.errors import ErrorInfo
from trimtab.types.messages import Assistant, Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult, User
from trimtab.types.text import scrub
from trimtab.types.tools import Cut
from trimtab.types.usage import Usage

T = "2026-01-01T00:00:00.000Z"
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NUMBERS = st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXTS, JSON, max_size=3)
PARTS = st.one_of(
    st.builds(Text, TEXTS, wire=st.none() | OBJECTS),
    st.builds(Image, TEXTS, TEXTS, width=st.none() | st.integers(0, 9999)),
    st.builds(Thinking, TEXTS, signature=st.none() | TEXTS, redacted=st.booleans()),
    st.builds(ToolCall, TEXTS, TEXTS, st.none() | OBJECTS, TEXTS),
    st.builds(Opaque, TEXTS, OBJECTS),
)
COUNTS = st.integers(0, 10**9)
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(User, st.lists(PARTS, max_size=3).map(tuple), origin=st.sampled_from(["prompt", "steering", "answer"])),
    st.builds(
        Assistant,
        st.lists(PARTS, max_size=3).map(tuple),
        stop_reason=st.sampled_from(["stop", "error", "tool_use"]),
        usage=st.none() | st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS),
        error=st.none() | st.builds(ErrorInfo, kind=st.just("overflow"), message=TEXTS, limit=st.none() | COUNTS),
        superseded=st.booleans(),
    ),
    st.builds(
        ToolResult,
        TEXTS,
        TEXTS,
        st.lists(PARTS, max_size=3).map(tuple),
        is_error=st.booleans(),
        details=st.none() | OBJECTS,
        cut=st.none() | st.builds(Cut, st.just("lines"), st.just(((1, 5),)), total=st.none() | COUNTS),
    ),
)
ENVELOPE = {"id": TEXTS, "parent": st.none() | TEXTS, "time": st.just(T)}
ENTRIES: st.SearchStrategy[KnownEntry] = st.one_of(
    st.builds(MessageEntry, **ENVELOPE, message=MESSAGES),
    st.builds(LabelEntry, **ENVELOPE, target=TEXTS, label=TEXTS),
    st.builds(LeafEntry, **ENVELOPE, target=st.none() | TEXTS),
    st.builds(ModelChangeEntry, **ENVELOPE, provider=TEXTS, model=TEXTS),
    st.builds(ThinkingChangeEntry, **ENVELOPE, level=st.none() | TEXTS),
    st.builds(
        SessionInfoEntry,
        **ENVELOPE,
        title=st.none() | TEXTS,
        cwd=st.none() | TEXTS,
        window=st.none() | st.integers(0, 10**9),
    ),
    st.builds(RepairEntry, **ENVELOPE, kind=TEXTS, detail=OBJECTS),
    st.builds(CustomEntry, **ENVELOPE, kind=TEXTS, call_id=st.none() | TEXTS, data=OBJECTS),
)


@given(ENTRIES)
def test_an_entry_comes_back_as_it_was(value):
    entry = entry_of(value)
    again = decode_line(entry.raw)
    assert again is not None
    assert (again.type, again.id, again.parent, again.time, again.refused) == (
        entry.type,
        value.id,
        value.parent,
        T,
        False,
    )
    assert again.value == value == entry.value


@given(ENTRIES)
def test_a_line_is_one_line_and_plain_json(value):
    raw = encode_entry(value)
    assert b"\n" not in raw
    assert json.loads(raw)["type"] == value.__struct_config__.tag


@given(MESSAGES)
def test_a_message_comes_back_as_it_was(message):
    assert decode_message(encode_message(message)) == message


@given(ENTRIES, OBJECTS, TEXTS)
def test_a_copy_is_the_line_itself_and_under_another_parent_keeps_every_field(value, extra, parent):
    data = {**extra, **json.loads(encode_entry(value))}
    raw = json.dumps(data, indent=None).encode()
    entry = decode_line(raw)
    assert entry is not None
    assert copy_line(entry) == raw
    entry.parent = parent + "x"
    assert json.loads(copy_line(entry)) == {**data, "parent": parent + "x"}


@given(st.text(min_size=1, max_size=8), st.none() | st.text(max_size=8), OBJECTS)
def test_an_unknown_type_is_an_entry_without_a_value(kind, parent, extra):
    raw = json.dumps({**extra, "type": "x-" + kind, "id": "i", "parent": parent, "time": T}).encode()
    entry = decode_line(raw)
    assert entry is not None
    assert (entry.type, entry.id, entry.parent, entry.value, copy_line(entry)) == (
        scrub("x-" + kind),
        "i",
        None if parent is None else scrub(parent),
        None,
        raw,
    )


def message_line(text: bytes) -> bytes:
    return (
        b'{"type":"message","id":"a","parent":null,"time":"","message":{"role":"user","parts":[{"type":"text","text":"'
        + text
        + b'"}]}}'
    )


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (b"\\ud83d", "\ufffd"),
        (b"\\udca9\\ud83d", "\ufffd\ufffd"),
        (b"\\ud83d\\udca9", "\U0001f4a9"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"\xe2\x80\xa8", "\u2028"),
        (b"\\u0000", "\0"),
    ],
)
def test_text_that_is_no_text_is_read_with_replacement_characters(written: bytes, read: str):
    entry = decode_line(message_line(written))
    assert entry is not None
    assert entry.value == MessageEntry(id="a", parent=None, time="", message=User((Text(read),)))


@given(st.binary(max_size=20).filter(lambda b: not set(b) & set(b'"\\') and min(b, default=32) >= 32))
def test_any_bytes_inside_a_string_leave_the_entry_readable(noise):
    entry = decode_line(message_line(noise))
    assert entry is not None
    assert isinstance(entry.value, MessageEntry)
    assert entry.raw == message_line(noise)


@given(st.text(max_size=12))
def test_a_lone_surrogate_in_a_value_is_written_as_a_replacement_character(text):
    value = MessageEntry(id="a", parent=None, time=T, message=User((Text(text),)))
    entry = entry_of(value)
    assert decode_line(entry.raw).value == entry.value
    assert entry.value.message == User((Text(scrub(text)),))


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity"])
def test_numbers_that_json_does_not_know_are_read(number: bytes):
    raw = b'{"type":"custom","id":"a","parent":null,"time":"","kind":"k","data":{"x":' + number + b"}}"
    entry = decode_line(raw)
    assert entry is not None
    assert isinstance(entry.value, CustomEntry)
    assert (str(entry.value.data["x"]), entry.refused) == (str(float(number)), True)


def test_a_byte_order_mark_is_skipped():
    entry = decode_line(b"\xef\xbb\xbf" + message_line(b"x"))
    assert entry is not None
    assert entry.value == MessageEntry(id="a", parent=None, time="", message=User((Text("x"),)))


def test_a_part_of_an_unknown_type_becomes_opaque_and_its_neighbours_stay():
    parts = [{"type": "hologram", "beam": 1}, {"type": "text", "text": "x"}, "bare", {"type": "text", "text": 5}]
    raw = json.dumps({"type": "message", "id": "a", "message": {"role": "user", "parts": parts}}).encode()
    entry = decode_line(raw)
    assert entry is not None
    assert entry.value == MessageEntry(
        id="a",
        parent=None,
        time="",
        message=User((Opaque("", parts[0]), Text("x"), Text("bare"), Opaque("", parts[3]))),
    )
    assert copy_line(entry) == raw


def test_a_field_of_the_wrong_type_costs_only_itself():
    message = {"role": "assistant", "parts": [], "stop_reason": "stop", "usage": "many", "model": "m"}
    entry = decode_line(json.dumps({"type": "message", "id": "a", "message": message}).encode())
    assert entry is not None
    assert entry.value == MessageEntry(
        id="a", parent=None, time="", message=Assistant((), stop_reason="stop", model="m")
    )


@pytest.mark.parametrize(
    "raw",
    [b"", b"[]", b"null", b'"text"', b"{", b"{}", b'{"type":5}', b"[" * 100_000, b'{"type":"x","a":' + b"[" * 100_000],
)
def test_what_is_no_record_is_none_and_never_an_exception(raw: bytes):
    assert decode_line(raw) is None
    assert decode_header(raw) is None


def test_a_line_that_is_nested_too_deep_for_us_is_no_exception():
    deep = b"[" * 600 + b"]" * 600
    decode_line(b'{"type":"message","id":"a","parent":' + deep + b"}")
    decode_header(b'{"type":"session","id":"a","cwd":' + deep + b"}")


@pytest.mark.parametrize(
    "message",
    [None, 5, {}, {"role": "oracle"}, {"role": "assistant", "parts": [], "stop_reason": {}}, {"role": "user"}],
)
def test_a_message_that_cannot_be_read_is_an_entry_all_the_same(message: Any):
    entry = decode_line(json.dumps({"type": "message", "id": "a", "message": message}).encode())
    assert entry is not None
    assert entry.id == "a"
    assert entry.value is None or isinstance(entry.value, MessageEntry)


@given(st.binary(max_size=60))
def test_any_bytes_are_decoded_without_an_exception(data):
    for raw in (data, b'{"type":"message","id":"a","message":{"role":"user","parts":[' + data + b"]}}"):
        entry = decode_line(raw)
        assert entry is None or entry.value is None or entry.id == entry.value.id


def test_a_header_comes_back_and_a_damaged_one_keeps_what_it_can():
    header = Header("i", "/x", T, 1, parent_session="p")
    assert decode_header(encode_entry(header)) == header
    assert decode_header(b'{"type":"session","id":"i","cwd":5,"format":"x","later":1}') == Header("i", "5", "", 1)
    assert msgspec.json.decode(encode_entry(header)) == {
        "type": "session",
        "format": 1,
        "id": "i",
        "cwd": "/x",
        "created": T,
        "parent_session": "p",
    }


def test_the_fields_of_a_message_are_looked_up_once_for_any_number_of_damaged_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[type] = []
    fields = msgspec.structs.fields

    def counted(kind: type) -> Any:
        asked.append(kind)
        return fields(kind)

    monkeypatch.setattr(msgspec.structs, "fields", counted)
    codec._fields.cache_clear()
    line = b'{"type":"message","id":"a","time":"t","message":{"role":"tool","call_id":"c","tool_name":"x","parts":[{"type":"?"}],"is_error":false}}'
    for _ in range(30):
        entry = codec.decode_line(line)
        assert entry is not None
        assert isinstance(entry.value, MessageEntry)
    assert asked == [ToolResult]
