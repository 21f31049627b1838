"""Saving: the old content or the new, nothing between, and never over somebody else's change."""

import os
from pathlib import Path

import pytest

from trimtab.coding.tools.disk import open_regular, save
from trimtab.coding.tools.failures import ToolFailure


def test_a_file_that_changed_since_it_was_read_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("read")
    with open_regular(path, "f") as (_, before):
        pass
    path.write_text("changed by an editor")
    with pytest.raises(ToolFailure, match="changed on disk at this very moment"):
        save(path, b"mine", shown="f", before=before)
    assert path.read_text() == "changed by an editor"


def test_a_file_that_appeared_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("theirs")
    with pytest.raises(ToolFailure, match="nothing was written"):
        save(tmp_path / "f", b"mine", shown="f", before=None)
    assert (tmp_path / "f").read_text() == "theirs"


def test_a_save_leaves_no_other_file_behind(tmp_path: Path) -> None:
    save(tmp_path / "f", b"one", shown="f", before=None)
    save(tmp_path / "f", b"two", shown="f", before=(tmp_path / "f").stat())
    assert os.listdir(tmp_path) == ["f"]
    assert (tmp_path / "f").read_bytes() == b"two"


def test_a_reader_keeps_the_old_content_while_a_new_one_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    with path.open("rb") as reader:
        save(path, b"new", shown="f", before=path.stat())
        assert reader.read() == b"old"


def test_a_shorter_content_leaves_no_rest_in_a_file_with_two_links(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"a long content")
    os.link(path, tmp_path / "g")
    save(path, b"short", shown="f", before=path.stat())
    assert (tmp_path / "g").read_bytes() == b"short"


def test_the_owner_is_kept_when_root_saves(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give files away")
    path = tmp_path / "f"
    path.write_bytes(b"old")
    os.chown(path, 65_534, 65_534)
    save(path, b"new", shown="f", before=path.stat())
    assert (path.stat().st_uid, path.stat().st_gid) == (65_534, 65_534)
