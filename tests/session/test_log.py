"""An open session: appending, views, branches, group commit, disks that refuse."""

import errno
import json
import os
import threading
from pathlib import Path

import pytest

from support.sessions import MOMENT, RefusingDisk, ask, now, reopened, result, say, texts
from trimtab.context.stores.log import SessionLog, create_or_memory
from trimtab.types.entries import CustomEntry
from trimtab.types.errors import SessionError, StoreError, UsageError
from trimtab.types.messages import Text, User


def lines_of(path: Path) -> list[dict]:
    return [json.loads(raw) for raw in path.read_bytes().split(b"\n") if raw]


def test_a_new_session_begins_with_its_header_and_each_entry_names_its_parent(tmp_path: Path):
    log = SessionLog.create(tmp_path / "new" / "s.jsonl", "/proj", now=now, session_id="id-1")
    first, second = log.append_messages([ask("hi"), say("hello")])
    log.close()
    time = "2026-05-04T03:02:01.987Z"
    assert lines_of(tmp_path / "new" / "s.jsonl") == [
        {"type": "session", "id": "id-1", "cwd": "/proj", "created": time, "format": 1},
        {
            "type": "message",
            "id": first,
            "parent": None,
            "time": time,
            "message": {"role": "user", "parts": [{"type": "text", "text": "hi"}]},
        },
        {
            "type": "message",
            "id": second,
            "parent": first,
            "time": time,
            "message": {"role": "assistant", "parts": [{"type": "text", "text": "hello"}], "stop_reason": "stop"},
        },
    ]


def test_what_was_appended_is_there_after_reopening(tmp_path: Path):
    log = SessionLog.create(tmp_path / "s.jsonl", "/proj", now=now)
    log.append_messages([ask("go"), say("", "a"), result("a"), say("done")])
    log.set_model("p", "m")
    log.set_thinking("high")
    log.set_title("A title")
    log.set_cwd("/moved")
    log.label(log.archive.path()[0].id, "start")
    log.close()
    again = reopened(tmp_path / "s.jsonl")
    assert again.view() == log.view() == (ask("go"), say("", "a"), result("a"), say("done"))
    assert (again.archive.model, again.archive.thinking, again.archive.title) == (("p", "m"), "high", "A title")
    assert (again.cwd, again.archive.matches("start"), again.damage) == ("/moved", (log.archive.path()[0].id,), ())


def test_moving_the_leaf_shows_the_other_branch_here_and_after_reopening(tmp_path: Path):
    log = SessionLog.create(tmp_path / "s.jsonl", "/proj", now=now)
    first, *_ = log.append_messages([ask("one"), ask("two")])
    log.move_leaf(first)
    log.append_messages([ask("three")])
    assert texts(log.view()) == texts(reopened(tmp_path / "s.jsonl").view()) == ["one", "three"]
    log.move_leaf(None)
    assert log.view() == reopened(tmp_path / "s.jsonl").view() == ()
    log.close()


def test_unknown_entries_are_refused_as_leaf_and_for_labels(tmp_path: Path):
    log = SessionLog.in_memory("/proj", now=now)
    with pytest.raises(UsageError):
        log.move_leaf("nope")
    with pytest.raises(UsageError):
        log.label("nope", "x")


def test_a_parked_call_is_found_again_and_its_late_answer_follows_the_new_prompt(tmp_path: Path):
    log = SessionLog.create(tmp_path / "s.jsonl", "/proj", now=now)
    log.append_messages([ask("go"), say("", "a")])
    log.park("a", "may I?")
    log.close()
    again = SessionLog.open(tmp_path / "s.jsonl", now=now)
    assert [(p.call_id, p.question) for p in again.parked] == [("a", "may I?")]
    again.append_messages([ask("meanwhile")])
    sent = again.view()
    again.append_messages([result("a", "yes")])
    again.close()
    assert again.view()[:-1] == sent
    assert again.view()[-1] == User((Text("The pending call a (read) was answered:"), Text("yes")), origin="answer")
    assert again.parked == ()


def test_a_group_of_results_shares_one_write_and_one_fsync(tmp_path: Path):
    disk = RefusingDisk()
    log = SessionLog.create(tmp_path / "s.jsonl", "/proj", now=now, disk=disk)
    log.append_messages([say("", "a", "b", "c")])
    before = (disk.writes, disk.syncs)
    log.append_messages([result("a"), result("b"), result("c")])
    log.close()
    assert (disk.writes, disk.syncs) == (before[0] + 1, before[1] + 1)


def test_callers_that_come_during_a_write_share_the_next_fsync(tmp_path: Path):
    class SlowDisk(RefusingDisk):
        entered = threading.Event()
        released = threading.Event()

        def sync(self, fd: int) -> None:
            super().sync(fd)
            if self.syncs == 2:
                self.entered.set()
                assert self.released.wait(10)

    disk = SlowDisk()
    log = SessionLog.create(tmp_path / "s.jsonl", "/proj", now=now, disk=disk)
    ids: list[str] = []
    threads = [threading.Thread(target=lambda n=n: ids.extend(log.append_messages([ask(str(n))]))) for n in range(9)]
    threads[0].start()
    assert disk.entered.wait(10)
    assert log.view() == ()
    for thread in threads[1:]:
        thread.start()
    while len(log._commits._queue) < 8:
        pass
    disk.released.set()
    for thread in threads:
        thread.join(10)
    log.close()
    assert disk.syncs == 3
    assert sorted(texts(log.view())) == [str(n) for n in range(9)]
    assert {e.id for e in reopened(tmp_path / "s.jsonl").archive.path()} == set(ids)


def test_nothing_is_in_the_tree_before_it_is_durable(tmp_path: Path):
    disk = RefusingDisk()
    log = SessionLog.create(tmp_path / "s.jsonl", "/proj", now=now, disk=disk)
    disk.sync_error = errno.EIO
    with pytest.raises(StoreError, match="can't write") as refusal:
        log.append_messages([ask("lost?")])
    log.close()
    assert (log.view(), "disk" in refusal.value.hint) == ((), True)


@pytest.mark.parametrize("room", [0, 1, 40, 150])
def test_a_write_that_fails_half_way_damages_nothing_that_follows(tmp_path: Path, room: int):
    disk = RefusingDisk()
    log = SessionLog.create(tmp_path / "s.jsonl", "/proj", now=now, disk=disk)
    log.append_messages([ask("one")])
    disk.room = room
    with pytest.raises(StoreError, match="No space") as refusal:
        log.append_messages([ask("two, which is long enough not to fit" * 4)])
    disk.room = 1 << 30
    log.append_messages([ask("three")])
    log.close()
    assert "free some space" in refusal.value.hint
    assert texts(log.view()) == texts(reopened(tmp_path / "s.jsonl").view()) == ["one", "three"]


def test_a_file_that_was_deleted_while_open_is_an_error_not_a_loss_in_silence(tmp_path: Path):
    log = SessionLog.create(tmp_path / "s.jsonl", "/proj", now=now)
    (tmp_path / "s.jsonl").unlink()
    with pytest.raises(StoreError, match="deleted"):
        log.append_messages([ask("x")])
    log.close()


@pytest.mark.parametrize("again", [False, True], ids=["made", "opened"])
@pytest.mark.parametrize("left", [0, 40])
def test_a_file_that_was_cut_while_open_is_an_error_not_a_loss_in_silence(tmp_path: Path, left: int, again: bool):
    path = tmp_path / "s.jsonl"
    log = SessionLog.create(path, "/proj", now=now)
    log.append_messages([ask("one")])
    if again:
        log.close()
        log = SessionLog.open(path, now=now)
    os.truncate(path, left)
    with pytest.raises(StoreError, match=f"was cut to {left} bytes while it was open"):
        log.append_messages([ask("two")])
    log.close()
    assert path.stat().st_size == left


def test_what_another_program_adds_to_an_open_file_stays_and_is_read_around(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    log = SessionLog.create(path, "/proj", now=now)
    log.append_messages([ask("one")])
    with path.open("ab") as file:
        file.write(b"garbage \xff\n")
    log.append_messages([ask("two")])
    log.close()
    assert texts(reopened(path).view()) == ["one", "two"]


def test_an_error_reaches_every_caller_of_the_group_and_the_session_goes_on(tmp_path: Path):
    disk = RefusingDisk(room=200)
    log = SessionLog.create(tmp_path / "s.jsonl", "/proj", now=now, disk=disk)
    failures: list[str] = []

    def append(text: str) -> None:
        try:
            log.append_messages([ask(text * 100)])
        except StoreError as exc:
            failures.append(exc.message)

    threads = [threading.Thread(target=append, args=(c,)) for c in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    log.close()
    assert (len(failures), log.view()) == (3, ())


def test_a_disk_that_is_full_at_the_start_leaves_a_session_in_memory_a_notice_and_no_file(tmp_path: Path):
    log, notice = create_or_memory(tmp_path / "s.jsonl", "/proj", now=now, disk=RefusingDisk(room=10))
    log.append_messages([ask("hi")])
    assert (texts(log.view()), log.path, list(tmp_path.iterdir())) == (["hi"], None, [])
    assert notice is not None
    assert "in memory only" in notice
    assert "disk is full" in notice


def test_a_home_that_is_a_file_leaves_a_session_in_memory(tmp_path: Path):
    (tmp_path / "home").write_text("not a folder")
    log, notice = create_or_memory(tmp_path / "home" / "sessions" / "s.jsonl", "/proj", now=now)
    assert (log.path, notice is not None) == (None, True)


def test_a_session_in_memory_does_everything_a_session_on_disk_does():
    log = SessionLog.in_memory("/proj", now=now)
    first, _ = log.append_messages([ask("go"), say("", "a")])
    log.park("a", "may I?")
    log.set_title("t")
    log.label(first, "x")
    log.move_leaf(first)
    log.append([CustomEntry(id="", parent=None, time="", kind="note", data={"x": 1})])
    log.close()
    assert (texts(log.view()), log.archive.labels, log.cwd) == (["go"], {first: "x"}, "/proj")


def test_large_text_stays_whole_in_memory():
    log = SessionLog.in_memory("/proj", now=now)
    log.append_messages([ask("x" * 200_000)])
    log.move_leaf(None)
    log.move_leaf(log.archive.children(None)[0])
    assert log.view() == (ask("x" * 200_000),)


def test_creating_over_a_file_is_refused(tmp_path: Path):
    (tmp_path / "s.jsonl").write_text("mine")
    with pytest.raises(SessionError, match="exists already"):
        SessionLog.create(tmp_path / "s.jsonl", "/proj", now=now)
    assert [p.read_text() for p in tmp_path.iterdir()] == ["mine"]


def test_a_reader_takes_no_lock_writes_nothing_and_refuses_to_append(tmp_path: Path):
    log = SessionLog.create(tmp_path / "s.jsonl", "/proj", now=now)
    log.append_messages([ask("one")])
    reader = reopened(tmp_path / "s.jsonl")
    with pytest.raises(SessionError, match="reading only"):
        reader.append_messages([ask("two")])
    log.close()
    assert texts(reader.view()) == ["one"]


def test_a_lone_surrogate_that_slipped_through_is_scrubbed_not_fatal(tmp_path: Path):
    log = SessionLog.create(tmp_path / "s.jsonl", "/proj", now=now)
    log.append_messages([ask("a\ud83db")])
    log.close()
    assert log.view() == reopened(tmp_path / "s.jsonl").view() == (ask("a\ufffdb"),)


def test_times_are_utc_with_milliseconds(tmp_path: Path):
    log = SessionLog.in_memory("/proj", now=lambda: MOMENT.astimezone())
    log.append_messages([ask("x")])
    assert log.archive.path()[0].time == "2026-05-04T03:02:01.987Z"


@pytest.mark.parametrize("size", [10, 20_000])
def test_one_more_message_decodes_nothing_and_walks_nothing(tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch):
    log = SessionLog.in_memory("/proj", now=now)
    log.append_messages([ask("x")] * size)
    log.view()
    monkeypatch.setattr(type(log.archive), "_walk", lambda *_: pytest.fail("walked the path"))
    log.append_messages([ask("y")])
    assert (len(log.view()), len(log.archive.path())) == (size + 1, size + 1)
