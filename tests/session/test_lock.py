"""One writer: the lock beside a session file."""

import fcntl
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from support.sessions import MOMENT, ask, now, texts
from trimtab.context.stores.lock import Owner, SessionLock, this_process
from trimtab.context.stores.log import SessionLog
from trimtab.types.entries import RepairEntry
from trimtab.types.errors import SessionLocked

HERE = this_process(now)
WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from trimtab.context.stores.log import SessionLog
from trimtab.types.errors import SessionLocked
from trimtab.types.messages import user
try:
    log = SessionLog.open(Path(sys.argv[1]), now=lambda: datetime.now(UTC))
except SessionLocked as exc:
    print("locked", exc.exit_code, exc.hint, flush=True)
else:
    print("open", *log.append_messages([user(sys.argv[2])]), flush=True)
sys.stdin.read()
"""


def started(path: Path, *names: str) -> list[subprocess.Popen[str]]:
    return [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in names
    ]


def session(tmp_path: Path) -> Path:
    SessionLog.create(tmp_path / "s.jsonl", "/proj", now=now).close()
    return tmp_path / "s.jsonl"


def leave_record(path: Path, **changes: object) -> None:
    record = {"pid": HERE.pid, "boot_id": HERE.boot_id, "host": HERE.host, "started": HERE.started}
    path.with_name(path.name + ".lock").write_text(json.dumps({**record, **changes}))


def takeovers(log: SessionLog) -> list[dict]:
    values = [entry.value for entry in log.archive.path()]
    return [v.detail for v in values if isinstance(v, RepairEntry) and v.kind == "lock_taken_over"]


def test_of_three_processes_one_writes_and_two_are_told_so(tmp_path: Path):
    path = session(tmp_path)
    processes = started(path, "one", "two", "three")
    answers = [process.stdout.readline().split() for process in processes if process.stdout]
    for process in processes:
        process.communicate()
    log = SessionLog.open(path, now=now, read_only=True)
    assert sorted(answer[0] for answer in answers) == ["locked", "locked", "open"]
    assert all(answer[1] == "2" and "--fork" in answer for answer in answers if answer[0] == "locked")
    assert [e.id for e in log.archive.path()] == [answer[1] for answer in answers if answer[0] == "open"]
    assert len(texts(log.view())) == 1


def test_a_killed_writer_is_taken_over_and_that_is_noted_once(tmp_path: Path):
    path = session(tmp_path)
    (process,) = started(path, "one")
    assert process.stdout
    assert process.stdout.readline().startswith("open")
    process.kill()
    process.communicate()
    for text in ("two", "three"):
        log = SessionLog.open(path, now=now)
        log.append_messages([ask(text)])
        log.close()
    assert [detail["pid"] for detail in takeovers(log)] == [process.pid]
    assert (texts(log.view()), [p.name for p in tmp_path.iterdir()]) == (["one", "two", "three"], ["s.jsonl"])


def test_a_lock_that_a_dying_processs_child_still_shares_is_waited_for(tmp_path: Path):
    path = session(tmp_path)
    (dead,) = started(path, "x")
    assert dead.stdout
    assert dead.stdout.readline().startswith("open")
    dead.kill()
    dead.communicate()
    held = os.open(path.with_name(path.name + ".lock"), os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    threading.Timer(0.1, os.close, [held]).start()
    log = SessionLog.open(path, now=now)
    log.append_messages([ask("on")])
    log.close()
    assert takeovers(log)[0]["pid"] == dead.pid


def test_a_record_from_before_a_reboot_is_taken_over(tmp_path: Path):
    path = session(tmp_path)
    leave_record(path, boot_id="another")
    log = SessionLog.open(path, now=now)
    log.append_messages([ask("one")])
    log.close()
    assert [detail["boot_id"] for detail in takeovers(log)] == ["another"]


def test_another_machine_is_believed_until_a_person_says_otherwise(tmp_path: Path):
    path = session(tmp_path)
    leave_record(path, host="elsewhere", pid=1)
    with pytest.raises(SessionLocked, match="process 1 on elsewhere") as refusal:
        SessionLog.open(path, now=now)
    assert "--takeover" in refusal.value.hint
    log = SessionLog.open(path, now=now, takeover=True)
    log.append_messages([ask("one")])
    log.close()
    assert [detail["host"] for detail in takeovers(log)] == ["elsewhere"]


def test_a_second_writer_is_refused_even_with_takeover_while_the_first_lives(tmp_path: Path):
    path = session(tmp_path)
    first = SessionLock.acquire(path, HERE)
    with pytest.raises(SessionLocked):
        SessionLock.acquire(path, HERE, takeover=True)
    first.release()
    first.release()
    SessionLock.acquire(path, HERE).release()


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\0", b"[1]"])
def test_an_unreadable_record_is_nobody_s(tmp_path: Path, content: bytes):
    path = session(tmp_path)
    path.with_name("s.jsonl.lock").write_bytes(content)
    lock = SessionLock.acquire(path, HERE)
    lock.release()
    assert lock.stale is None


def test_the_record_says_who_writes(tmp_path: Path):
    lock = SessionLock.acquire(session(tmp_path), HERE)
    assert json.loads(lock.path.read_bytes()) == {
        "pid": os.getpid(),
        "boot_id": HERE.boot_id,
        "host": os.uname().nodename,
        "started": "2026-05-04T03:02:01.987Z",
    }
    assert Owner(HERE.pid, HERE.boot_id, HERE.host, HERE.started) == this_process(lambda: MOMENT)
    lock.release()


def test_a_lock_whose_file_was_unlinked_meanwhile_is_taken_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = session(tmp_path)
    real_open = os.open
    opened: list[int] = []

    def open_then_lose(name, flags, mode=0o777):
        fd = real_open(name, flags, mode)
        if not opened:
            os.unlink(name)
        opened.append(fd)
        return fd

    monkeypatch.setattr(os, "open", open_then_lose)
    lock = SessionLock.acquire(path, HERE)
    monkeypatch.undo()
    assert len(opened) == 2
    with pytest.raises(SessionLocked):
        SessionLock.acquire(path, HERE)
    lock.release()
    assert not lock.path.exists()
