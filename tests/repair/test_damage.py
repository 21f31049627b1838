"""Damaged files: opened, read as far as they can be, repaired by appending, once."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.sessions import ask, header, line, now, reopened, result, say, synthetic, texts, write
from trimtab.context.stores.log import SessionLog
from trimtab.context.stores.scan import scan
from trimtab.types.codec import encode_entry
from trimtab.types.entries import MessageEntry, RepairEntry
from trimtab.types.errors import SessionError

WHOLE = (header(), line("a", None, "one"), line("b", "a", "two"), line("c", "b", "three"))


def continued(path: Path, text: str = "more") -> list[tuple[str, dict]]:
    """Go on with a session, once; return the repairs that this wrote."""
    before = path.read_bytes()
    log = SessionLog.open(path, now=now)
    log.append_messages([ask(text)])
    repairs = [(e.value.kind, e.value.detail) for e in log.archive.path() if isinstance(e.value, RepairEntry)]
    log.close()
    assert path.read_bytes().startswith(before)
    return repairs


def says(path: Path) -> list[str]:
    return texts(reopened(path).view())


def test_a_torn_last_line_costs_only_itself_and_is_noted_once(tmp_path: Path):
    path = write(tmp_path / "s.jsonl", *WHOLE)
    path.write_bytes(path.read_bytes()[:-25])
    assert says(path) == ["one", "two"]
    assert continued(path) == [("unreadable", {"lines": [4]})]
    assert says(path) == ["one", "two", "more"]
    assert continued(path, "and more") == [("unreadable", {"lines": [4]})]
    assert says(path) == ["one", "two", "more", "and more"]


def test_a_missing_last_line_end_does_not_glue_the_next_record(tmp_path: Path):
    path = write(tmp_path / "s.jsonl", *WHOLE, end=b"")
    assert continued(path) == [("no_newline", {"lines": [4]})]
    assert says(path) == ["one", "two", "three", "more"]
    assert len(continued(path)) == 1


def test_glued_records_are_both_read(tmp_path: Path):
    path = write(tmp_path / "s.jsonl", header(), line("a", None, "one"), line("b", "a", "}{") + line("c", "b", "three"))
    assert says(path) == ["one", "}{", "three"]
    assert continued(path) == [("salvaged", {"lines": [3]})]


def test_a_record_glued_to_a_torn_one_is_read(tmp_path: Path):
    path = write(
        tmp_path / "s.jsonl", header(), line("a", None, "one"), line("b", "a", "two")[:60] + line("c", "a", "three")
    )
    assert says(path) == ["one", "three"]


def test_a_broken_line_in_the_middle_is_skipped_and_the_chain_goes_on(tmp_path: Path):
    path = write(tmp_path / "s.jsonl", *WHOLE[:2], b'{"type": "message", nonsense', *WHOLE[3:])
    assert says(path) == ["one", "three"]
    assert continued(path) == [("unreadable", {"lines": [3]}), ("bad_parent", {"lines": [4]})]
    assert says(path) == ["one", "three", "more"]
    assert len(continued(path)) == 2


def test_a_part_of_a_torn_message_is_no_record(tmp_path: Path):
    torn = encode_entry(MessageEntry(id="m", parent="a", time="t", message=say("word", "call-1")))[:-9]
    path = write(tmp_path / "s.jsonl", *WHOLE[:2], torn)
    assert [e.id for e in reopened(path).archive] == ["a"]


@pytest.mark.parametrize("zeros", [b"\0" * 9, b"\0\0\n\0\0"])
def test_nul_bytes_of_a_crash_are_stepped_over(tmp_path: Path, zeros: bytes):
    path = write(tmp_path / "s.jsonl", *WHOLE)
    path.write_bytes(path.read_bytes() + zeros)
    assert says(path) == ["one", "two", "three"]
    assert [kind for kind, _ in continued(path)] == ["unreadable"]
    assert says(path)[-1] == "more"


def test_a_record_behind_nul_bytes_is_read(tmp_path: Path):
    assert says(write(tmp_path / "s.jsonl", *WHOLE[:3], b"\0\0\0" + WHOLE[3])) == ["one", "two", "three"]


def test_lines_end_at_line_feeds_only(tmp_path: Path):
    path = write(
        tmp_path / "s.jsonl", header(), line("a", None, "x\u2028y\u2029z\x85"), b"", line("b", "a", "two"), b"  "
    )
    assert says(path) == ["x\u2028y\u2029z\x85", "two"]
    assert continued(path) == []


def test_a_file_with_crlf_ends_is_read_and_not_called_damaged(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\r\n".join(WHOLE) + b"\r\n\r\n")
    assert says(path) == ["one", "two", "three"]
    assert continued(path) == []
    assert says(path) == ["one", "two", "three", "more"]


def test_a_byte_order_mark_is_tolerated(tmp_path: Path):
    path = write(tmp_path / "s.jsonl", b"\xef\xbb\xbf" + WHOLE[0], *WHOLE[1:])
    assert (says(path), reopened(path).header.id, continued(path)) == (["one", "two", "three"], "s-1", [])


@pytest.mark.parametrize("bad", [b"\xff", b"\\ud83d", b"\xed\xa0\x80"])
def test_bytes_and_surrogates_that_are_no_text_become_replacement_characters(tmp_path: Path, bad: bytes):
    path = write(tmp_path / "s.jsonl", header(), line("a", None, "on@e").replace(b"@", bad), line("b", "a", "two"))
    first, second = says(path)
    assert (first.strip("one\ufffd"), "\ufffd" in first, second) == ("", True, "two")
    assert continued(path) == [("refused", {"lines": [2]})]
    assert len(continued(path)) == 1


def test_not_a_number_is_tolerated(tmp_path: Path):
    path = write(tmp_path / "s.jsonl", header(), line("a", None, "one", extra="@").replace(b'"@"', b"NaN"))
    assert says(path) == ["one"]


def test_types_and_fields_of_a_newer_version_are_kept_and_ignored(tmp_path: Path):
    newer = b'{"type":"hologram","id":"h","parent":"b","time":"","beam":[1,2]}'
    path = write(tmp_path / "s.jsonl", *WHOLE[:3], newer, line("c", "h", "three", tint="blue"))
    assert says(path) == ["one", "two", "three"]
    assert continued(path) == []


def test_duplicate_ids_are_both_kept_and_noted_once(tmp_path: Path):
    path = write(tmp_path / "s.jsonl", header(), line("a", None, "one"), line("a", None, "other"))
    assert (len(reopened(path).archive), says(path)) == (2, ["other"])
    assert continued(path) == [("duplicate_id", {"lines": [3]})]
    assert says(path) == ["other", "more"]
    assert len(continued(path)) == 1


def test_a_cycle_opens(tmp_path: Path):
    path = write(tmp_path / "s.jsonl", header(), line("a", "b", "one"), line("b", "a", "two"))
    assert says(path) == ["one", "two"]
    assert continued(path) == [("bad_parent", {"lines": [2]})]


@pytest.mark.parametrize("first", [b"", b"garbage", b'{"type":"session","id":', b'{"type":"session"}', b"[]"])
def test_a_file_without_a_readable_header_gets_its_id_from_its_name(tmp_path: Path, first: bytes):
    path = write(tmp_path / "20260101T000000Z_abcd1234.jsonl", first, *WHOLE[1:])
    assert (reopened(path).header.id, says(path)) == ("abcd1234", ["one", "two", "three"])
    assert continued(path) == [("no_header", {"lines": [1]})]
    assert len(continued(path)) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"# Notes\n\n- milk\n",
        b"garbage",
        b"\x89PNG\r\n\x1a\n",
        b"[]\n",
        b'{"type":"session"}\n',
        b'{"type":"x","id":"1","time":"t"}\n',
        b'{"type":"session","id":"s","version":3,"timestamp":"t"}\n{"type":"message","id":"a","parentId":null}\n',
    ],
)
def test_a_file_that_was_never_a_session_is_refused_and_stays_as_it_is(tmp_path: Path, content: bytes):
    path = tmp_path / "notes.md"
    path.write_bytes(content)
    for read_only in (False, True):
        with pytest.raises(SessionError) as error:
            SessionLog.open(path, now=now, read_only=read_only)
        assert (error.value.exit_code, "is no session" in error.value.message) == (2, True)
        assert "@FILE" in error.value.hint
    assert (path.read_bytes(), os.listdir(tmp_path)) == (content, ["notes.md"])


def test_a_session_whose_header_was_being_written_goes_on(tmp_path: Path):
    path = tmp_path / "T_abcd1234.jsonl"
    path.write_bytes(header()[:40])
    assert continued(path) == [("no_header", {"lines": [1]})]
    assert says(path) == ["more"]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\0\0\0"])
def test_an_empty_file_becomes_a_session(tmp_path: Path, content: bytes):
    path = tmp_path / "T_abcd1234.jsonl"
    path.write_bytes(content)
    assert reopened(path).view() == ()
    log = SessionLog.open(path, now=now, cwd="/proj")
    log.append_messages([ask("one")])
    log.close()
    again = reopened(path)
    assert (again.header.id, again.cwd, texts(again.view())) == ("abcd1234", "/proj", ["one"])


def test_a_newer_format_is_read_and_refused_for_writing(tmp_path: Path):
    path = write(tmp_path / "s.jsonl", header(format=2), *WHOLE[1:])
    log = SessionLog.open(path, now=now)
    with pytest.raises(SessionError, match="format 2") as refusal:
        log.append_messages([ask("more")])
    log.close()
    assert (texts(log.view()), "--fork" in refusal.value.hint) == (["one", "two", "three"], True)


def test_folders_pipes_and_missing_files_are_typed_errors(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    for name in ("pipe.jsonl", "folder.jsonl", "missing.jsonl", "no/such/folder.jsonl"):
        for read_only in (True, False):
            with pytest.raises(SessionError):
                SessionLog.open(tmp_path / name, now=now, read_only=read_only)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder.jsonl", "pipe.jsonl"]


def test_calls_that_a_crash_left_open_are_interrupted_and_said_so_once(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    log = SessionLog.create(path, "/proj", now=now)
    log.append_messages([ask("go"), say("", "a", "b"), result("b")])
    log.close()
    before = path.read_bytes()
    assert reopened(path).view() == (ask("go"), say("", "a", "b"), synthetic("a"), result("b"))
    assert path.read_bytes() == before
    assert continued(path) == [("interrupted", {"calls": ["a"]})]
    assert continued(path) == [("interrupted", {"calls": ["a"]})]
    assert reopened(path).view()[:4] == (ask("go"), say("", "a", "b"), synthetic("a"), result("b"))


def test_calls_that_run_right_now_are_not_called_interrupted(tmp_path: Path):
    log = SessionLog.create(tmp_path / "s.jsonl", "/proj", now=now)
    log.append_messages([ask("go"), say("", "a", "b")])
    log.append_messages([result("b")])
    log.append_messages([result("a")])
    log.close()
    assert [e.type for e in log.archive] == ["message"] * 4


def test_a_parked_call_is_not_called_interrupted(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    log = SessionLog.create(path, "/proj", now=now)
    log.append_messages([ask("go"), say("", "a")])
    log.park("a", "may I?")
    log.close()
    assert continued(path) == []
    assert reopened(path).view()[2] == synthetic("a", "pending")


def test_a_leaf_in_the_middle_of_a_pair_opens(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    log = SessionLog.create(path, "/proj", now=now)
    ids = log.append_messages([ask("go"), say("", "a", "b"), result("a"), result("b"), say("done")])
    log.move_leaf(ids[2])
    log.close()
    assert reopened(path).view() == (ask("go"), say("", "a", "b"), result("a"), synthetic("b"))


def test_a_chain_that_begins_at_a_result_opens(tmp_path: Path):
    orphan = encode_entry(MessageEntry(id="r", parent="gone", time="t", message=result("a")))
    path = write(tmp_path / "s.jsonl", header(), orphan, line("b", "r", "two"))
    assert says(path) == ["two"]


def test_a_line_of_hostile_nesting_is_given_up_in_time():
    began = b'{"type":"a","id":"","parent":'
    assert [d.kind for d in scan(header() + b"\n" + began * 20_000 + b"\n").damage] == ["unreadable"]


CUTS = st.tuples(st.just("cut"), st.integers(0, 10_000), st.just(b""))
INSERTS = st.tuples(
    st.just("insert"),
    st.integers(0, 10_000),
    st.sampled_from(
        [b"\0\0", b"\xff", b"\n", b"\r", b"{", b'}{"', b'{"type":"session"}', b'\n{"type":"x"}\n', b"\xef\xbb\xbf"]
    ),
)
GLUES = st.tuples(st.just("glue"), st.integers(0, 12), st.just(b""))
COPIES = st.tuples(st.just("copy"), st.integers(0, 12), st.just(b""))


def damaged(data: bytes, steps: list[tuple[str, int, bytes]]) -> bytes:
    for what, where, extra in steps:
        lines = data.split(b"\n")
        match what:
            case "cut":
                data = data[: where % (len(data) + 1)]
            case "insert":
                at = where % (len(data) + 1)
                data = data[:at] + extra + data[at:]
            case "glue":
                at = where % len(lines)
                data = b"\n".join([*lines[:at], b"".join(lines[at : at + 2]), *lines[at + 2 :]])
            case _:
                at = where % len(lines)
                data = b"\n".join([*lines[: at + 1], lines[at].replace(b"text", b"txt "), *lines[at + 1 :]])
    return data


def plain_ids(data: bytes) -> set[str]:
    """Ids of the lines that any JSON parser reads."""
    ids = set()
    for piece in data.split(b"\n"):
        try:
            record = json.loads(piece)
        except ValueError:
            continue
        if isinstance(record, dict) and record.get("type") == "message" and record.get("id"):
            ids.add(record["id"])
    return ids


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(steps=st.lists(st.one_of(CUTS, INSERTS, GLUES, COPIES), min_size=1, max_size=4))
def test_whatever_happens_to_a_file_it_opens_keeps_what_is_readable_and_is_repaired_once(tmp_path: Path, steps):
    lines = [header(), *(line(f"e{n}", f"e{n - 1}" if n else None, f"text {n} }}{{") for n in range(8))]
    path = tmp_path / "T_abcd1234.jsonl"
    data = damaged(b"\n".join(lines) + b"\n", steps)
    path.write_bytes(data)
    if not scan(data).is_session:
        assert not plain_ids(data)
        return
    assert plain_ids(data) <= {entry.id for entry in reopened(path).archive}
    first = continued(path)
    readable = [m for m in says(path) if m != "more"]
    assert continued(path) == first
    assert says(path) == [*readable, "more", "more"]


@given(st.binary(max_size=300))
def test_any_bytes_can_be_scanned(data: bytes):
    found = scan(data)
    assert found.ends_clean == (not data or data.endswith(b"\n"))
