"""The lock for one small write."""

import fcntl
import threading

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
