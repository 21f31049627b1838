"""Which folder of git's a project's commands may write: its own, and none that only its text names."""

import os
import subprocess
from pathlib import Path

import pytest

from trimtab.coding.sandbox.gitdirs import Repository, find_repository

AS = ("-c", "user.name=a", "-c", "user.email=b", "-c", "protocol.file.allow=always")


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *AS, *words], check=True, stdin=subprocess.DEVNULL, capture_output=True)


@pytest.fixture
def main(tmp_path: Path) -> Path:
    """A repository with one commit."""
    folder = Path(os.path.realpath(tmp_path)) / "main"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    return folder


def test_it_is_found_from_a_folder_inside(main: Path) -> None:
    (main / "a/b").mkdir(parents=True)
    own = str(main / ".git")
    assert find_repository(str(main / "a/b")) == Repository(own, own, own)


def test_a_worktree_has_its_own_folder_and_shares_the_rest(main: Path) -> None:
    git(main, "worktree", "add", "-q", "../tree")
    tree, common = main.parent / "tree", str(main / ".git")
    found = find_repository(str(tree))
    assert found == Repository(str(tree / ".git"), f"{common}/worktrees/tree", common)
    assert {str(tree / ".git"), f"{common}/hooks", f"{common}/config"} <= set(found.programs)


def test_a_submodule_is_found_in_the_repository_around_it(main: Path) -> None:
    around = main.parent / "around"
    around.mkdir()
    git(around, "init", "-q")
    git(around, "submodule", "add", "-q", str(main), "sub")
    own = str(around / ".git/modules/sub")
    assert find_repository(str(around / "sub")) == Repository(str(around / "sub/.git"), own, own)


def test_a_folder_that_no_repository_is_meant_by_is_not_opened(main: Path) -> None:
    git(main, "worktree", "add", "-q", "../tree")
    evil = main.parent / "evil"
    evil.mkdir()
    for text in (
        f"gitdir: {main}/.git",
        f"gitdir: {main}/.git/worktrees/tree",
        "gitdir: /",
        "gitdir: ../main/.git/objects",
        "gitdir:",
        "gitdir: \x00\x1b[2J",
        "nonsense",
        "",
        "gitdir: " + "a/" * 5_000,
    ):
        (evil / ".git").write_text(text)
        assert find_repository(str(evil)) is None, text


def test_a_repository_that_points_back_but_is_none_is_not_opened(tmp_path: Path) -> None:
    home, evil = tmp_path / "home", tmp_path / "evil"
    (home / "worktrees/x").mkdir(parents=True)
    evil.mkdir()
    (evil / ".git").write_text(f"gitdir: {home}/worktrees/x\n")
    (home / "worktrees/x/gitdir").write_text(f"{evil}/.git\n")
    (home / "worktrees/x/commondir").write_text("../..\n")
    assert find_repository(str(evil)) is None


@pytest.mark.parametrize("kind", ["link", "pipe", "empty", "loop"])
def test_an_odd_entry_is_no_repository(main: Path, kind: str) -> None:
    odd = main.parent / "odd"
    odd.mkdir()
    entry = odd / ".git"
    match kind:
        case "link":
            entry.symlink_to(main / ".git")
        case "pipe":
            os.mkfifo(entry)
        case "loop":
            entry.symlink_to(entry)
        case _:
            entry.mkdir()
    assert find_repository(str(odd)) is None
