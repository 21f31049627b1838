"""Memos: what was written is there, whole and for good."""

import errno
import hashlib
import os
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.stores.disk import disk
from trimtab.context.stores.note_files import MemoInfo
from trimtab.context.stores.notes import MemoDict, MemoFolder, memos_beside
from trimtab.types.errors import StoreError

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LEDGER = "the ledger owns balances; the gateway calls it"


def folder(path: Path, **options) -> MemoFolder:
    """Memos in a folder, at a fixed time."""
    return MemoFolder(memos_beside(path / "s.jsonl"), now=lambda: NOW, **options)


@pytest.fixture(params=["folder", "dict"])
def memos(request, tmp_path):
    """Both kinds of store."""
    return folder(tmp_path) if request.param == "folder" else MemoDict(now=lambda: NOW)


def test_a_memo_comes_back_as_it_was_written(memos):
    info = memos.write("ledger", LEDGER, summary="who owns balances")
    digest = hashlib.sha256(LEDGER.encode()).hexdigest()
    assert info == MemoInfo("ledger", "who owns balances", 46, digest, 1, "2026-03-01T12:00:00.000Z")
    memo = memos.read("ledger")
    assert (memo.info, memo.content) == (info, LEDGER)


def test_a_later_write_is_a_version_beside_the_earlier_one(memos):
    memos.write("ledger", "one", summary="first")
    assert memos.write("ledger", "two", summary="second").version == 2
    assert (memos.read("ledger").content, memos.read("ledger", version=1).content) == ("two", "one")
    assert [info.summary for info in memos.infos()] == ["second"]


def test_the_same_again_is_no_new_version(memos):
    memos.write("ledger", LEDGER)
    assert memos.write("ledger", LEDGER).version == 1


def test_a_deleted_memo_is_off_the_list_and_its_versions_stay(memos):
    info = memos.write("ledger", LEDGER)
    memos.write("other", "x")
    assert memos.delete("ledger") == info
    assert (memos.read("ledger"), [i.key for i in memos.infos()], memos.delete("ledger")) == (None, ["other"], None)
    assert memos.read("ledger", version=1).content == LEDGER
    assert memos.write("ledger", LEDGER).version == 3
    assert memos.read("ledger").content == LEDGER


def test_what_was_never_written_is_not_there(memos):
    memos.write("ledger", LEDGER)
    assert (memos.read("x"), memos.read("ledger", version=7), memos.read("ledger", version=0)) == (None, None, None)
    assert memos.delete("x") is None


KEYS = st.text(min_size=1) | st.sampled_from(
    ["../../etc/passwd", "con", "a/b", "A", "a", "\0", "." * 300, "東京", "\ud800"]
)


@given(st.lists(st.tuples(KEYS, st.text()), max_size=6))
def test_any_text_is_a_key_and_any_text_a_content(tmp_path_factory, pairs):
    home = tmp_path_factory.mktemp("memos")
    memos, plain = folder(home), MemoDict(now=lambda: NOW)
    for key, content in pairs:
        assert memos.write(key, content, summary=key) == plain.write(key, content, summary=key)
    assert memos.infos() == plain.infos()
    for key, _ in pairs:
        assert memos.read(key) == plain.read(key)
    assert [path.name for path in home.iterdir()] == (["s.jsonl.memos"] if pairs else [])


def test_another_opening_of_the_folder_sees_the_same(tmp_path):
    folder(tmp_path).write("ledger", LEDGER, summary="s")
    assert folder(tmp_path).read("ledger").content == LEDGER


def test_a_person_can_read_the_file(tmp_path):
    folder(tmp_path).write("the Ledger", LEDGER)
    (path,) = tmp_path.rglob("*.memo")
    assert path.parent.name.startswith("the-ledger-")
    assert path.read_text().split("\n", 1)[1] == LEDGER


class BadDisk:
    """A disk that fails at one thing."""

    def __init__(self, failing: str) -> None:
        self._failing = failing

    def open(self, path: Path, *, create: bool) -> int:
        if self._failing == "open":
            raise OSError(errno.EACCES, "no permission")
        return disk.open(path, create=create)

    def write(self, fd: int, data: bytes) -> int:
        if self._failing == "write":
            os.write(fd, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "no space")
        if self._failing == "bits":
            return disk.write(fd, data[:-1] + b"?")
        return disk.write(fd, data[:7])

    def sync(self, fd: int) -> None:
        if self._failing == "sync":
            raise OSError(errno.EIO, "input/output error")
        disk.sync(fd)


@pytest.mark.parametrize("failing", ["open", "write", "bits", "sync"])
def test_a_write_that_fails_says_so_and_changes_nothing(tmp_path, failing):
    good = folder(tmp_path)
    good.write("ledger", LEDGER)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(StoreError):
        folder(tmp_path, disk=BadDisk(failing)).write("ledger", "something else")
    with pytest.raises(StoreError):
        folder(tmp_path, disk=BadDisk(failing)).delete("ledger")
    assert (good.read("ledger").content, sorted(tmp_path.rglob("*"))) == (LEDGER, before)


def test_a_disk_that_writes_little_by_little_is_enough(tmp_path):
    folder(tmp_path, disk=BadDisk("nothing")).write("ledger", LEDGER)
    assert folder(tmp_path).read("ledger").content == LEDGER


def test_a_folder_that_can_not_be_made_is_a_store_error(tmp_path):
    (tmp_path / "s.jsonl.memos").write_text("a file")
    with pytest.raises(StoreError):
        folder(tmp_path).write("ledger", LEDGER)
    assert (folder(tmp_path).infos(), folder(tmp_path).read("ledger")) == ((), None)


def test_a_file_cut_anywhere_is_called_damaged_and_all_else_stays(tmp_path):
    memos = folder(tmp_path)
    memos.write("other", "untouched")
    memos.write("ledger", "first", summary="old")
    memos.write("ledger", LEDGER, summary="new")
    (path,) = tmp_path.rglob("000002.memo")
    data = path.read_bytes()
    for cut in range(len(data)):
        path.write_bytes(data[:cut])
        with pytest.raises(StoreError, match="damaged"):
            memos.read("ledger")
        assert memos.read("ledger", version=1).content == "first"
        assert [info.key for info in memos.infos()] == ["ledger", "other"]
        assert memos.read("other").content == "untouched"
    assert memos.write("ledger", LEDGER, summary="new").version == 3
    assert memos.read("ledger").content == LEDGER


def test_a_flipped_bit_in_the_content_is_found(tmp_path):
    memos = folder(tmp_path)
    memos.write("ledger", LEDGER)
    (path,) = tmp_path.rglob("*.memo")
    path.write_bytes(path.read_bytes().replace(b"ledger owns", b"gutter owns"))
    with pytest.raises(StoreError):
        memos.read("ledger")


def test_a_fork_reads_the_memos_of_its_parent_and_writes_its_own(tmp_path):
    parent = folder(tmp_path)
    parent.write("ledger", "one", summary="s")
    parent.write("ledger", "two", summary="s")
    parent.write("gone", "x")
    fork = folder(tmp_path / "fork", others=[parent.folder])
    assert (fork.read("ledger").content, [info.key for info in fork.infos()]) == ("two", ["gone", "ledger"])
    assert fork.write("ledger", "three").version == 3
    assert fork.delete("gone").key == "gone"
    parent.write("ledger", "elsewhere")
    assert (fork.read("ledger").content, fork.read("ledger", version=1).content) == ("three", "one")
    assert ([info.key for info in fork.infos()], fork.read("gone")) == (["ledger"], None)
    assert (parent.read("ledger").content, parent.read("gone").content) == ("elsewhere", "x")


def test_a_folder_that_can_not_be_looked_into_is_told_not_taken_for_empty(tmp_path):
    memos = folder(tmp_path)
    memos.write("ledger", LEDGER)
    place = next(memos.folder.iterdir())
    for path in place.iterdir():
        path.unlink()
    place.rmdir()
    place.symlink_to(place)
    with pytest.raises(StoreError):
        memos.read("ledger")


def test_writers_side_by_side_lose_nothing(tmp_path):
    def work(name: str) -> None:
        for n in range(10):
            folder(tmp_path).write("shared", f"{name}{n}")

    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    memos = folder(tmp_path)
    contents = [memos.read("shared", version=n).content for n in range(1, 31)]
    assert sorted(contents) == sorted(f"{name}{n}" for name in "abc" for n in range(10))
