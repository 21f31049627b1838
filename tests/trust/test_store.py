"""`trust.json`: what is stored, by several at once, and what isn't believed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.cli import SOURCES
from trimtab.coding.trust.decide import decide, stored_answer
from trimtab.coding.trust.known import forget, read_known
from trimtab.coding.trust.standing import Stored, all_stored
from trimtab.types.errors import ConfigError


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder that brings something."""
    (tmp_path / "project" / ".trimtab").mkdir(parents=True)
    return tmp_path / "project"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Where the answers are."""
    return tmp_path / "home" / "trust.json"


def test_it_is_the_owners_alone_whatever_the_umask_and_nothing_is_left_beside_it(project: Path, store: Path) -> None:
    before = os.umask(0)
    try:
        decide(project, store, answer="folder")
    finally:
        os.umask(before)
    assert store.stat().st_mode & 0o777 == 0o600
    assert store.parent.stat().st_mode & 0o777 == 0o700
    assert sorted(p.name for p in store.parent.iterdir()) == [".trust.json.lock", "trust.json"]


_WRITER = """
import sys
from pathlib import Path
from trimtab.coding.trust.decide import decide
for n in range(5):
    folder = Path(sys.argv[1], f"{sys.argv[3]}-{n}")
    folder.mkdir()
    decide(folder, Path(sys.argv[2]), answer="folder")
"""


def test_twelve_processes_at_once_lose_no_answer(tmp_path: Path, store: Path) -> None:
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": SOURCES}
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(tmp_path), str(store), str(n)], env=env) for n in range(12)
    ]
    assert [writer.wait(50) for writer in writers] == [0] * 12
    assert {row.path for row in all_stored(store)} == {str(tmp_path / f"{w}-{n}") for w in range(12) for n in range(5)}


def test_what_an_older_version_wrote_is_read_and_what_nobody_understands_is_kept(project: Path, store: Path) -> None:
    store.parent.mkdir()
    old = {
        "folders": {str(project): "folder", "/future": "some-day", "/list": ["folder"]},
        "hosts": {"a": 1},
        "note": "mine",
        "empty": {},
    }
    store.write_text(json.dumps(old))
    store.chmod(0o600)
    assert stored_answer(project, store) is True
    assert set(read_known(store).folders) == {str(project)}
    decide(project.parent, store, answer="never")
    data = json.loads(store.read_text())
    assert (data["hosts"], data["note"], data["empty"]) == ({"a": 1}, "mine", {})
    assert data["folders"] == {**old["folders"], str(project.parent): "never"}  # type: ignore[dict-item]


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"[]",
        b"\xff",
        b'{"folders": []}',
        b'{"places": 1}',
        b"null",
        b"[" * 100_000,
        b"",
    ],
)
def test_a_damaged_file_is_an_error_trusts_nothing_and_is_left_as_it_is(
    project: Path, store: Path, content: bytes
) -> None:
    store.parent.mkdir()
    store.write_bytes(content)
    store.chmod(0o600)
    for answer in (None, "folder", "once"):
        with pytest.raises(ConfigError, match=r"trust\.json can't be read.*nothing is trusted"):
            decide(project, store, answer=answer)  # type: ignore[arg-type]
    assert store.read_bytes() == content


def test_a_pipe_in_its_place_blocks_nobody(project: Path, store: Path) -> None:
    store.parent.mkdir()
    os.mkfifo(store)
    with pytest.raises(ConfigError, match="no regular file"):
        decide(project, store, answer=None)


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_one_that_others_may_write_is_not_believed_and_the_remedy_is_named(
    project: Path, store: Path, mode: int
) -> None:
    decide(project, store, answer="folder")
    store.chmod(mode)
    with pytest.raises(ConfigError, match="other users may write it") as refused:
        decide(project, store, answer=None)
    assert refused.value.hint.endswith(f"chmod 600 {store}")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_one_that_belongs_to_somebody_else_is_not_believed(
    project: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide(project, store, answer="folder")
    os.chown(store, 12345, 12345)
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    with pytest.raises(ConfigError, match="it belongs to another user"):
        decide(project, store, answer=None)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert stored_answer(project, store) is True


def test_a_link_to_a_file_elsewhere_stays_one(project: Path, store: Path, tmp_path: Path) -> None:
    store.parent.mkdir()
    store.symlink_to(tmp_path / "dotfiles.json")
    decide(project, store, answer="folder")
    assert store.is_symlink()
    assert stored_answer(project, store) is True


def test_a_name_that_is_no_text_is_stored_and_found_again(tmp_path: Path, store: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/na\xffme\x1b[2J\n"))
    folder.mkdir()
    decide(folder, store, answer="folder")
    assert stored_answer(folder, store) is True
    assert all_stored(store) == (Stored(str(folder), "folder", "as it was"),)


def test_what_became_of_each_folder_is_told_and_an_answer_can_be_forgotten(tmp_path: Path, store: Path) -> None:
    kept, gone, other = (tmp_path / name for name in ("a-kept", "b-gone", "c-other"))
    for folder in (kept, gone, other):
        folder.mkdir()
        decide(folder, store, answer="folder")
    gone.rename(tmp_path / "elsewhere")
    other.rename(tmp_path / "away")
    other.mkdir()
    assert [row.now for row in all_stored(store)] == ["as it was", "gone", "another folder"]
    assert forget(store, str(gone))
    assert not forget(store, str(gone))
    assert [row.path for row in all_stored(store)] == [str(kept), str(other)]
