"""Damaged sessions: cut anywhere, glued, garbled. What can be read is read, and nothing else is ever raised than `ImportFailed`."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.transcripts import CHAT, CLAUDE_CODE, CODEX, GEMINI, SESSIONS, lines, packed, story
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
    wrong: list[Any] = [[], {}, 7, None, "x"]
    for number, (holder, key) in enumerate(list(_places(records))):
        kept = holder[key]
        for step in (0, 2):  # places of one kind come by all of them
            holder[key] = wrong[(number + step) % len(wrong)]
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


def test_absurd_nesting_is_cut_where_nobody_looks_and_no_crash() -> None:
    deep = b'{"role": "user", "content": ' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}"
    (recording,) = _read(b"[" + deep + b"]")
    assert (recording.bad_lines, len(recording.events)) == (1, 1)
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


def _tangled(kind: str) -> tuple[bytes, list[str]]:
    """A session of that agent whose entries hang on themselves, on each other, on what isn't there, on values of another type."""
    parents: list[Any] = ["a", "c", "b", "gone", 7, [], {"a": 1}, "h"]
    names = "abcdefgh"
    time: Any = "2026-04-01T10:00:00.000Z" if kind != "tau" else 1775037600.0
    entries: list[dict[str, Any]] = []
    for name, parent in zip(names, parents, strict=True):
        message = {"role": "user", "content": f"say {name}"}
        if kind == "claude-code":
            entry = {"type": "user", "uuid": name, "parentUuid": parent, "sessionId": "s"}
        else:
            entry = {"type": "message", "id": name, "parent_id" if kind == "tau" else "parentId": parent}
        entries.append({**entry, "timestamp": time, "message": message})
    if kind == "pi":
        entries.insert(0, {"type": "session", "id": "p", "timestamp": time, "cwd": "/p"})
    return lines(*entries), [f"user: say {name}" for name in names]


@pytest.mark.parametrize("kind", ["pi", "tau", "claude-code"])
def test_entries_that_hang_on_each_other_in_a_ring_are_all_read_in_the_order_of_the_file(kind: str) -> None:
    data, said = _tangled(kind)
    (recording,) = _read(data)
    assert (recording.format, story(recording)) == (kind, said)
    assert recording.notes == ()


@pytest.mark.parametrize("kind", ["pi", "tau", "claude-code"])
def test_an_id_that_stands_there_twice_is_a_copy_only_with_the_same_words(kind: str) -> None:
    data, said = _tangled(kind)
    rows = data.splitlines(keepends=True)
    other = rows[-1].replace(b"say h", b"say more")
    (recording,) = _read(b"".join([*rows, rows[-1], other, rows[-2]]))
    assert story(recording) == [*said, "user: say more"]
    what = "lines" if kind == "claude-code" else "entries"
    assert recording.notes == (f"left out: 2 repeated {what}",)


@pytest.mark.parametrize("kind", ["pi", "tau", "claude-code"])
def test_content_of_another_type_is_kept_as_it_stands(kind: str) -> None:
    data, _ = _tangled(kind)
    record = json.loads(data.splitlines()[-1])
    for wrong, said in ((7, "7"), (True, "true"), ({"text": "in"}, "in"), ([7, None, {"text": "in"}], "7in")):
        record["message"]["content"] = wrong
        (recording,) = _read(data + lines(record))
        assert story(recording)[-1] == f"user: {said}"


@pytest.mark.parametrize("wrong", [7, "x" * 500, None, ["message"]])
def test_entries_of_a_kind_that_nobody_knows_are_counted_not_passed_over(wrong: Any) -> None:
    data, said = _tangled("pi")
    record = {**json.loads(data.splitlines()[-1]), "id": "new", "type": wrong}
    (recording,) = _read(data + lines(record))
    assert story(recording) == said
    (note,) = recording.notes
    assert note.startswith("left out: 1 ")
    assert len(note) < 100


def test_a_file_cannot_make_its_report_endless() -> None:
    data, _ = _tangled("pi")
    record = json.loads(data.splitlines()[-1])
    odd = [{**record, "id": f"n{n}", "parentId": "lost", "type": f"kind {n}"} for n in range(500)]
    (recording,) = _read(data + lines(*odd))
    assert len(recording.notes) <= 21
    assert "left out: 480 things of other kinds" in recording.notes


@pytest.mark.parametrize("kind", ["pi, a list", "pi, a tree", "tau", "claude-code", "codex"])
def test_a_time_that_no_session_has_is_no_time(kind: str) -> None:
    format, data = SESSIONS[kind]
    records = [json.loads(row) for row in data.splitlines()]
    for time in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59Z", 1e300, -5, 10**30, "soon", True):
        late = lines(*(record if n < 2 else {**record, "timestamp": time} for n, record in enumerate(records)))
        recording = read_recording(late, format)
        assert {event.time for event in recording.events[1:]} <= {None, recording.events[0].time}


def test_a_line_longer_than_any_session_has_is_passed_over_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trimtab.sessions.source._LONGEST_LINE", 4_000)
    rows = CODEX.splitlines(keepends=True)
    bomb = b'{"type":"response_item","payload":"' + b"0" * 50_000 + b'"}\n'
    for data in (b"".join([*rows[:3], bomb, *rows[3:]]), CODEX + bomb.rstrip()):
        for whole in (data, packed(data)):
            recording = read_recording(whole, "codex")
            assert (recording.bad_lines, recording.events) == (1, read_recording(CODEX).events)


def test_a_document_larger_than_anybody_reads_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trimtab.sessions.source._MOST", 5_000)
    with pytest.raises(ImportFailed, match="which nobody reads at once"):
        read_recordings(packed(b'{"messages":[' + b" " * 10_000), "gemini")


@pytest.mark.parametrize("kind", SESSIONS)
def test_fields_that_an_agent_has_not_change_nothing(kind: str) -> None:
    format, data = SESSIONS[kind]
    more = {"parent": [], "above": 7, "places": None, "lines": "x"}
    records = [json.loads(row) for row in _rows(data)]
    said = lines(*({**more, **record} if isinstance(record, dict) else record for record in records))
    assert story(read_recording(said, format)) == story(read_recording(data))


def _unlinked(*kinds: str, linked: bool = False) -> bytes:
    """Lines of Claude Code of which none names a parent, or only the last one."""
    rows = []
    for n, kind in enumerate(kinds):
        message = {"role": kind, "content": f"line {n}", **({"id": f"m{n}"} if kind == "assistant" else {})}
        parent = f"u{n - 1}" if linked and n == len(kinds) - 1 else None
        rows.append({"type": kind, "uuid": f"u{n}", "parentUuid": parent, "sessionId": "s", "message": message})
    return lines(*rows)


def test_a_file_of_claude_code_in_which_no_line_names_a_parent_is_a_list() -> None:
    (recording,) = _read(_unlinked("user", "assistant", "user", "user", "assistant"))
    assert story(recording) == ["user: line 0", "answer: line 1", "user: line 2", "user: line 3", "answer: line 4"]
    assert recording.notes == ()


def test_an_answer_begins_nothing_and_a_prompt_without_a_parent_begins_anew() -> None:
    (recording,) = _read(_unlinked("user", "assistant", "user", "assistant", "user", linked=True))
    assert story(recording) == ["user: line 2", "answer: line 3", "user: line 4"]
    assert recording.notes == ("left out: 2 lines of abandoned branches",)
