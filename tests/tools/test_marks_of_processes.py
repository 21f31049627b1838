"""A process is known by what its environment says, also in the instant in which it becomes another program."""

from pathlib import Path

import pytest

from trimtab.coding.tools import process_tree
from trimtab.coding.tools.process_tree import MARKER

VARIABLES = f"A=1\0{MARKER}=0123\0".encode()


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file with the environment of process 7, empty, in a folder that stands for `/proc`."""
    monkeypatch.setattr(process_tree, "_PROC", tmp_path)
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "exe").symlink_to("/bin/sh")
    (tmp_path / "7" / "environ").write_bytes(b"")
    return tmp_path / "7" / "environ"


def test_an_environment_that_is_empty_for_an_instant_is_read_again(
    environ: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_tree.time, "sleep", lambda _: environ.write_bytes(VARIABLES))
    assert process_tree._marks(7) == {"0123"}


def test_one_that_stays_empty_marks_nothing(environ: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(process_tree.time, "sleep", slept.append)
    assert process_tree._marks(7) == frozenset()
    assert sum(slept) < 0.01


def test_for_what_has_no_program_nobody_waits(environ: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (environ.parent / "exe").unlink()
    monkeypatch.setattr(process_tree.time, "sleep", lambda _: pytest.fail("it waits"))
    assert process_tree._marks(7) == frozenset()
