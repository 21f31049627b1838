"""Damaged sessions: cut anywhere, glued, garbled. What can be read is read, and nothing else is ever raised than `ImportFailed`."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.transcripts import CHAT, CLAUDE_CODE, CODEX, GEMINI, SESSIONS, packed, story
from trimtab.context.window.pairs import pair
from trimtab.sessions.chain import answers, conversation, messages
from trimtab.sessions.detect import FORMATS, read_recording, read_recordings
from trimtab.sessions.lenient import document
from trimtab.sessions.recorded import Answered, Recording
from trimtab.sessions.source import ImportFailed
from trimtab.types.codec import decode_message, encode_message
from trimtab.types.messages import Assistant, ToolResult

_kinds = st.sampled_from(sorted(SESSIONS))
_names = st.sampled_from([None, *FORMATS])
_ROWS = [row for _, data in SESSIONS.values() for row in data.split(b"\n")]
_json: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def _check(recordings: list[Recording]) -> None:
    """Every message survives the codec, call ids are unique, and pairing gives what a provider takes."""
    for recording in recordings:
        said = messages(recording)
        assert [decode_message(encode_message(message)) for message in said] == list(said)
        calls = [call.id for m in said if isinstance(m, Assistant) for call in m.tool_calls]
        assert len(set(calls)) == len(calls)
        _check_pairs(conversation(recording))
        assert pair(conversation(recording))[0] == conversation(recording)


def _check_pairs(said: tuple[Any, ...]) -> None:
    waiting: list[str] = []
    for message in said:
        if isinstance(message, ToolResult):
            assert waiting
            assert waiting.pop(0) == message.call_id
            continue
        assert not waiting
        if isinstance(message, Assistant):
            waiting = [call.id for call in message.tool_calls]
    assert not waiting


def _read(data: bytes, format: str | None = None) -> list[Recording]:
    try:
        recordings = read_recordings(data, format)
    except ImportFailed:
        return []
    _check(recordings)
    return recordings


@pytest.mark.parametrize("kind", SESSIONS)
def test_a_whole_session_survives_the_codec_and_pairs(kind: str) -> None:
    assert _read(SESSIONS[kind][1])


@given(_kinds, st.data(), st.booleans())
def test_a_session_that_is_cut_at_any_byte_never_raises_anything_else(kind: str, data: st.DataObject, gz: bool) -> None:
    whole = packed(SESSIONS[kind][1]) if gz else SESSIONS[kind][1]
    _read(whole[: data.draw(st.integers(0, len(whole)))])


@pytest.mark.parametrize("kind", [kind for kind in SESSIONS if SESSIONS[kind][1].count(b"\n") > 3 and kind != "gemini"])
def test_every_prefix_of_lines_that_says_something_reads(kind: str) -> None:
    format, data = SESSIONS[kind]
    rows = data.splitlines(keepends=True)
    read = [len(rs[0].events) if (rs := _read(b"".join(rows[:n]), format)) else 0 for n in range(len(rows) + 1)]
    first = next(n for n, count in enumerate(read) if count)
    assert first <= 4
    assert all(read[first:])
    assert read[-1] == max(read)


def test_a_document_that_is_cut_gives_the_messages_before_the_cut() -> None:
    cut = GEMINI[: GEMINI.index(b'"for people"')]
    recording = read_recording(cut)
    assert story(recording)[:2] == story(read_recording(GEMINI))[:2]
    assert recording.bad_lines == 1


@given(_kinds, _names, st.data())
def test_bytes_that_were_overwritten_never_raise_anything_else(
    kind: str, format: str | None, data: st.DataObject
) -> None:
    whole = SESSIONS[kind][1]
    at = data.draw(st.integers(0, len(whole)))
    noise = data.draw(st.binary(max_size=6) | st.sampled_from([b'"', b"\\", b"}\n", b'\\ud800"', b"[" * 300, b"1e999"]))
    _read(whole[:at] + noise + whole[at + len(noise) :], format)


@given(_kinds, _names, st.data())
def test_values_of_another_type_never_raise_anything_else(kind: str, format: str | None, data: st.DataObject) -> None:
    records = [json.loads(row) for row in _rows(SESSIONS[kind][1])]
    place: Any = data.draw(st.sampled_from(records))
    while isinstance(place, dict | list) and place:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            place[key] = data.draw(_json)
            break
        place = place[key]
    _read(b"\n".join(json.dumps(record).encode() for record in records) + b"\n", format)


@pytest.mark.parametrize("kind", SESSIONS)
def test_no_field_is_trusted_to_have_its_type(kind: str) -> None:
    records = [json.loads(row) for row in _rows(SESSIONS[kind][1])]
    for holder, key in list(_places(records)):
        kept = holder[key]
        for wrong in ([], {}, 7, None, "x"):
            holder[key] = wrong
            _read(b"\n".join(json.dumps(record).encode() for record in records) + b"\n")
        holder[key] = kept


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a JSON value, as what holds it and the key there."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


@given(st.lists(_json, max_size=4), _names)
def test_arbitrary_json_never_raises_anything_else(values: list[Any], format: str | None) -> None:
    _read(b"\n".join(json.dumps(value).encode() for value in values), format)


@given(st.lists(st.sampled_from(_ROWS), max_size=12))
def test_lines_of_different_agents_in_one_file_never_raise_anything_else(rows: list[bytes]) -> None:
    _read(b"\n".join(rows))


def test_bad_lines_are_skipped_and_counted() -> None:
    rows = CLAUDE_CODE.splitlines(keepends=True)
    recording = read_recording(b"".join([*rows[:2], b"{torn\n", b"\n", b"17\n", *rows[2:]]))
    assert recording.bad_lines == 2
    assert recording.events == read_recording(CLAUDE_CODE).events


def test_two_records_in_one_line_are_both_read_and_the_line_is_bad() -> None:
    rows = CODEX.splitlines(keepends=True)
    recording = read_recording(b"".join(rows[:3]) + rows[3].rstrip(b"\n") + b"".join(rows[4:6]) + b"".join(rows[6:]))
    assert (recording.bad_lines, recording.events) == (1, read_recording(CODEX).events)


def test_a_backslash_that_escapes_nothing_is_read_as_itself() -> None:
    data = CODEX.replace(b'"fix greet"', rb'"fix C:\greet"')
    recording = read_recording(data)
    assert "user: fix C:\\greet" in story(recording)
    assert recording.bad_lines > 0


def test_absurd_nesting_is_no_session_and_no_crash() -> None:
    deep = b'{"role": "user", "content": ' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}"
    assert _read(b"[" + deep + b"]") == []
    assert isinstance(document(b"[" * 100_000)[0], list)


def test_deep_arguments_stay_as_text() -> None:
    raw = '{"a":' * 300 + "1" + "}" * 300
    call = {"id": "a", "function": {"name": "f", "arguments": raw}}
    (recording,) = _read(json.dumps([{"role": "assistant", "content": None, "tool_calls": [call]}]).encode())
    (event,) = recording.events
    assert isinstance(event, Answered)
    assert [(c.arguments, c.raw) for c in event.message.tool_calls] == [(None, raw)]


def test_a_cut_archive_reads_until_the_cut_and_says_so() -> None:
    random = Random(1)
    noise = [{"role": "user", "content": random.randbytes(12).hex()} for _ in range(2000)]
    data = packed(b"".join(json.dumps(m).encode() + b"\n" for m in [*CHAT, *noise]))
    recording = read_recording(data[: len(data) // 2])
    assert 100 < len(recording.events) < 2000
    assert "the archive is cut or damaged: what follows that place is missing" in recording.notes


def test_answers_come_with_what_was_said_since_the_one_before() -> None:
    found = [(answer.message.text, len(came)) for answer, came in answers(read_recording(CLAUDE_CODE))]
    assert found == [("", 1), ("done", 3), ("welcome", 1)]


def _rows(data: bytes) -> list[bytes]:
    try:
        return [json.dumps(json.loads(data)).encode()]
    except ValueError:
        return data.splitlines()
