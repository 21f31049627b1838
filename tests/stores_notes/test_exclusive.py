"""The lock for one small write."""

import fcntl
import os
import threading
from pathlib import Path

import pytest

from trimtab.context.stores.exclusive import exclusive
from trimtab.types.errors import StoreError


def test_one_holds_it_at_a_time(tmp_path):
    inside: list[int] = []
    overlaps: list[bool] = []

    def work() -> None:
        for _ in range(20):
            with exclusive(tmp_path / "lock"):
                overlaps.append(bool(inside))
                inside.append(1)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert overlaps == [False] * 60


def test_it_is_free_again_when_something_went_wrong(tmp_path):
    with pytest.raises(KeyError), exclusive(tmp_path / "lock"):
        raise KeyError
    with exclusive(tmp_path / "lock"):
        pass


def test_who_never_lets_go_is_not_waited_for_for_ever(tmp_path):
    with open(tmp_path / "lock", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(StoreError, match="another process"), exclusive(tmp_path / "lock", patience_s=0.03):
            pass


def test_a_lock_that_can_not_be_made_is_a_store_error(tmp_path):
    with pytest.raises(StoreError), exclusive(tmp_path / "missing" / "lock"):
        pass


@pytest.mark.parametrize("kind", ["a link to a file", "a link to nothing", "a pipe", "a folder"])
def test_a_lock_is_a_file_of_its_own_and_nothing_is_done_to_what_stands_in_its_place(tmp_path: Path, kind: str) -> None:
    lock, other = tmp_path / "lock", tmp_path / "other"
    match kind:
        case "a link to a file":
            other.write_text("mine")
            other.chmod(0o644)
            lock.symlink_to(other)
        case "a link to nothing":
            lock.symlink_to(other)
        case "a pipe":
            os.mkfifo(lock)
        case _:
            lock.mkdir()
    with pytest.raises(StoreError), exclusive(lock):
        pass
    assert (other.exists(), lock.is_symlink()) == (kind == "a link to a file", "link" in kind)
    assert kind != "a link to a file" or (other.read_text(), other.stat().st_mode & 0o777) == ("mine", 0o644)
