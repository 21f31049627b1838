"""Files that a check takes as they were before the turn."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from trimtab.coding.verify.protected import Protected

GLOBS = ("tests/**",)


def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name, text in {"src/a.py": "a = 1\n", "tests/test_a.py": "one\n", "tests/deep/test_b.py": "two\n"}.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (root / "tests/test_a.py").chmod(0o755)
    return root


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Protected]:
    protected = Protected(project(tmp_path), GLOBS)
    protected.take()
    yield protected
    protected.close()


def tree(root: Path) -> dict[str, str]:
    return {
        str(p.relative_to(root)): p.read_text() for p in sorted(root.rglob("*")) if p.is_file() and not p.is_symlink()
    }


def test_nothing_changed_is_nothing_to_tell(kept: Protected) -> None:
    (kept.project / "src/a.py").write_text("a = 2\n")
    assert kept.changed() == ()


def test_what_was_changed_deleted_or_added_is_told(kept: Protected) -> None:
    (kept.project / "tests/test_a.py").write_text("skipped\n")
    (kept.project / "tests/deep/test_b.py").unlink()
    (kept.project / "tests/conftest.py").write_text("collect_ignore = ['test_a.py']\n")
    assert kept.changed() == (
        "tests/conftest.py was added",
        "tests/deep/test_b.py was deleted",
        "tests/test_a.py was changed",
    )


def test_the_copy_has_them_as_they_were_and_all_else_as_it_is(kept: Protected, tmp_path: Path) -> None:
    (kept.project / "src/a.py").write_text("a = 2\n")
    (kept.project / "tests/test_a.py").write_text("skipped\n")
    (kept.project / "tests/deep/test_b.py").unlink()
    (kept.project / "tests/conftest.py").write_text("ignore\n")
    place = kept.copy_into(_made(tmp_path / "check"))
    assert tree(place) == {"src/a.py": "a = 2\n", "tests/test_a.py": "one\n", "tests/deep/test_b.py": "two\n"}
    assert os.access(place / "tests/test_a.py", os.X_OK)
    assert tree(kept.project)["tests/test_a.py"] == "skipped\n"


@pytest.mark.parametrize("what", ["a file", "a link out", "a link to nowhere"])
def test_whatever_took_the_place_of_their_folder_gives_way_in_the_copy(
    kept: Protected, tmp_path: Path, what: str
) -> None:
    outside = _made(tmp_path / "outside")
    (outside / "test_a.py").write_text("theirs\n")
    deep = kept.project / "tests"
    for file in sorted(deep.rglob("*"), reverse=True):
        file.unlink() if file.is_file() else file.rmdir()
    deep.rmdir()
    if what == "a file":
        deep.write_text("no folder\n")
    else:
        deep.symlink_to(outside if what == "a link out" else tmp_path / "nowhere")
    place = kept.copy_into(_made(tmp_path / "check"))
    assert tree(place)["tests/test_a.py"] == "one\n"
    assert (outside / "test_a.py").read_text() == "theirs\n"


def test_a_pipe_in_the_project_holds_nothing_up(kept: Protected, tmp_path: Path) -> None:
    os.mkfifo(kept.project / "tests" / "pipe")
    os.mkfifo(kept.project / "pipe")
    assert kept.changed() == ()
    assert not (kept.copy_into(_made(tmp_path / "check")) / "pipe").exists()


def test_what_was_kept_is_gone_once_it_is_closed(kept: Protected) -> None:
    assert kept._folder is not None
    folder = Path(kept._folder.name)
    kept.close()
    assert not folder.exists()
    assert kept.changed() == ("tests/deep/test_b.py was added", "tests/test_a.py was added")


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
