"""Long-term memory: records in one file that many sessions write."""

import errno
import os
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.stores.disk import disk
from trimtab.context.stores.memories import Memories
from trimtab.context.stores.memory_log import Append, Delete, Memorize, Memory, Record, Update, decode_records, fold
from trimtab.types.errors import StoreError

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Clock:
    """A second later each time."""

    def __init__(self) -> None:
        self._now = NOON

    def __call__(self) -> datetime:
        self._now += timedelta(seconds=1)
        return self._now


def memories(path: Path | None, **options) -> Memories:
    """Memories whose secrets are called hunter2."""
    redact = options.pop("redact", lambda text: text.replace("hunter2", "[secret]"))
    return Memories(path, now=Clock(), redact=redact, **options)


@pytest.fixture(params=["file", "none"])
def store(request, tmp_path):
    """With and without a file."""
    return memories(tmp_path / "memory.jsonl" if request.param == "file" else None)


GATEWAY = Memorize(key="gateway", summary="on port 4711", content="nginx", entities=("nginx",), source=("r7",))


def test_a_memory_comes_back_with_all_that_was_said(store):
    kept = store.keep(GATEWAY)
    time = "2026-03-01T12:00:01.000Z"
    assert kept == Memory("gateway", "on port 4711", "nginx", ("nginx",), (), (), ("r7",), created=time, updated=time)
    assert (store.get("gateway"), store.all()) == (kept, (kept,))


def test_an_update_replaces_what_it_gives(store):
    store.keep(GATEWAY)
    kept = store.keep(Update(key="gateway", content="caddy", entities=()))
    assert (kept.summary, kept.content, kept.entities, kept.source) == ("on port 4711", "caddy", (), ("r7",))
    assert kept.created < kept.updated


def test_an_addition_keeps_what_was_there(store):
    store.keep(GATEWAY)
    kept = store.keep(Append(key="gateway", content="behind a tunnel", entities=("tunnel", "nginx")))
    assert (kept.content, kept.entities) == ("nginx\nbehind a tunnel", ("nginx", "tunnel"))


def test_memorizing_again_begins_anew_but_for_the_time_it_began(store):
    first = store.keep(GATEWAY)
    kept = store.keep(Memorize(key="gateway", summary="gone"))
    assert kept == Memory("gateway", "gone", created=first.created, updated=kept.updated)


def test_a_deleted_memory_is_gone_and_its_records_stay(tmp_path):
    store = memories(tmp_path / "memory.jsonl")
    store.keep(GATEWAY)
    assert (store.delete("gateway"), store.delete("gateway"), store.all()) == (True, False, ())
    assert b"nginx" in (tmp_path / "memory.jsonl").read_bytes()


def test_a_key_is_one_line_without_blanks_around_it(store):
    assert store.keep(Memorize(key="  the \n gateway ", summary="s")).key == "the gateway"
    assert store.get("the gateway") is not None


def test_no_text_of_a_record_is_kept_with_its_secrets(tmp_path):
    store = memories(tmp_path / "memory.jsonl")
    text, texts = "a hunter2 b", ("x hunter2",)
    store.keep(
        Memorize(key=text, summary=text, content=text, entities=texts, episodes=texts, relations=texts, source=texts)
    )
    store.keep(Update(key=text, content=text))
    store.keep(Append(key=text, content=text))
    assert store.delete(text)
    assert b"hunter2" not in (tmp_path / "memory.jsonl").read_bytes()


def test_what_another_session_wrote_is_seen_at_the_next_look(tmp_path):
    one, two = memories(tmp_path / "memory.jsonl"), memories(tmp_path / "memory.jsonl")
    one.keep(GATEWAY)
    assert two.get("gateway").summary == "on port 4711"
    two.keep(Update(key="gateway", summary="moved"))
    assert one.get("gateway").summary == "moved"


def test_sessions_that_write_at_once_lose_nothing(tmp_path):
    def work(name: str) -> None:
        store = memories(tmp_path / "memory.jsonl")
        for n in range(10):
            store.keep(Append(key="shared", summary="s", entities=(f"{name}{n}",)))

    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = memories(tmp_path / "memory.jsonl")
    assert (len(store.get("shared").entities), store.bad_lines) == (30, 0)


WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from trimtab.context.stores.memories import Memories
from trimtab.context.stores.memory_log import Append
store = Memories(Path(sys.argv[1]), now=lambda: datetime(2026, 3, 1, tzinfo=UTC), redact=str)
for n in range(20):
    store.keep(Append(key="shared", summary="s", entities=(f"{sys.argv[2]}{n}",)))
"""


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    path = str(tmp_path / "memory.jsonl")
    env = {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, path, name], env=env) for name in "ab"]
    assert [writer.wait() for writer in writers] == [0, 0]
    store = memories(tmp_path / "memory.jsonl")
    assert (len(store.get("shared").entities), store.bad_lines) == (40, 0)


def test_a_file_that_was_taken_away_is_begun_again(tmp_path):
    store = memories(tmp_path / "memory.jsonl")
    store.keep(GATEWAY)
    (tmp_path / "memory.jsonl").unlink()
    assert store.all() == ()
    store.keep(Memorize(key="new", summary="s"))
    assert [memory.key for memory in store.all()] == ["new"]


class FullDisk:
    """Takes half of what it is given, then is full."""

    def open(self, path: Path, *, create: bool) -> int:
        return disk.open(path, create=create)

    def write(self, fd: int, data: bytes) -> int:
        disk.write(fd, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "no space")

    def sync(self, fd: int) -> None:
        disk.sync(fd)


def test_a_full_disk_is_told_and_costs_nothing_that_was_there(tmp_path):
    path = tmp_path / "memory.jsonl"
    memories(path).keep(GATEWAY)
    with pytest.raises(StoreError, match="no space"):
        memories(path, disk=FullDisk()).keep(Memorize(key="other", summary="s"))
    store = memories(path)
    assert [memory.key for memory in store.all()] == ["gateway"]
    store.keep(Memorize(key="third", summary="s"))
    assert ([memory.key for memory in store.all()], store.bad_lines) == (["gateway", "third"], 1)


def test_a_file_that_can_not_be_read_is_a_store_error(tmp_path):
    (tmp_path / "memory.jsonl").mkdir()
    with pytest.raises(StoreError):
        memories(tmp_path / "memory.jsonl").all()


def test_lines_of_no_known_shape_are_read_around(tmp_path):
    path = tmp_path / "memory.jsonl"
    path.write_bytes(
        b'\xff\n{"op": "teleport", "key": "x"}\n\0\0\n\n{"op": "memorize", "key": "k", "summary": "s", "new": 1}\n[]'
    )
    store = memories(path)
    assert ([memory.key for memory in store.all()], store.bad_lines) == (["k"], 3)


TEXT = st.text(max_size=8)
NAMES = st.none() | st.lists(TEXT, max_size=2).map(tuple)
KEY = st.sampled_from(["a", "b"])
FACTS = {"summary": st.none() | TEXT, "content": st.none() | TEXT, "entities": NAMES, "source": NAMES}
RECORD = st.one_of(
    *(st.builds(kind, key=KEY, **FACTS) for kind in (Memorize, Update, Append)), st.builds(Delete, key=KEY)
)


@given(st.lists(RECORD, max_size=5), st.data())
def test_a_file_cut_at_any_byte_holds_all_records_before_the_cut_and_takes_more(tmp_path_factory, records, data):
    path = tmp_path_factory.mktemp("memory") / "memory.jsonl"
    lines = [msgspec.json.encode(record) for record in records]
    whole = b"".join(line + b"\n" for line in lines)
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    ends = [len(b"\n".join(lines[: n + 1])) for n in range(len(lines))]
    kept: list[Record] = [record for record, end in zip(records, ends, strict=True) if end <= cut]
    store = memories(path)
    assert store.all() == tuple(memory for _, memory in sorted(fold(kept, {}).items()))
    store.keep(Memorize(key="z", summary="later"))
    assert store.all()[:-1] == tuple(memory for _, memory in sorted(fold(kept, {}).items()))
    assert path.read_bytes().startswith(whole[:cut])


@given(st.lists(RECORD, max_size=6), st.integers(0, 6))
def test_folding_in_two_steps_is_folding_in_one(records, at):
    assert fold(records[at:], fold(records[:at], {})) == fold(records, {})


@given(st.lists(RECORD, max_size=6))
def test_records_read_back_are_those_that_were_written(records):
    data = b"".join(msgspec.json.encode(record) + b"\n" for record in records)
    assert decode_records(data) == (records, 0)


def test_a_memory_tells_which_of_its_files_were_written_since(tmp_path: Path):
    store = memories(tmp_path / "memory.jsonl", folder=tmp_path)
    sources = ("old.py", "new.py:12-40", "r7", "src", "nul\0byte", str(tmp_path / "new.py"))
    for name, written in (("old.py", NOON), ("new.py", NOON + timedelta(minutes=1))):
        (tmp_path / name).write_text("x")
        os.utime(tmp_path / name, (written.timestamp(), written.timestamp()))
    (tmp_path / "src").mkdir()
    kept = store.keep(Memorize(key="parser", summary="reads rows", source=sources))
    assert store.changed(kept) == ("new.py:12-40", str(tmp_path / "new.py"))
    later = memories(tmp_path / "memory.jsonl")
    assert later.changed(kept) == ()
