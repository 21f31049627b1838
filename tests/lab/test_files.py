"""How the lab reads and writes files."""

import os
from pathlib import Path

import pytest

from trimtab.lab.files import bytes_of, replace


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"what")
    assert bytes_of(tmp_path / "a", most=4) == b"what"


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "device", "folder"):
        with pytest.raises(OSError, match="it is no regular file"):
            bytes_of(tmp_path / name)


def test_what_is_larger_than_it_may_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"what")
    with pytest.raises(OSError, match="more than 3 bytes"):
        bytes_of(tmp_path / "a", most=3)


@pytest.mark.parametrize("name", ["no\0name", "a" * 5_000, "none"])
def test_a_name_of_no_file_is_told_as_the_system_would(tmp_path: Path, name: str) -> None:
    with pytest.raises(OSError) as told:  # noqa: PT011 - each has its own words
        bytes_of(tmp_path / name)
    assert told.value.strerror


def test_a_file_is_replaced_as_a_whole_whatever_lay_where_it_is_made(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".a.new")
    replace(tmp_path / "a", b"what")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"what"


def test_a_file_that_cannot_be_replaced_stays_as_it_was_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    with pytest.raises(OSError):  # noqa: PT011 - whatever the system says
        replace(tmp_path / "a", b"what")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
