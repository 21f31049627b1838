"""A decision is about one very folder at one real path: renamed, replaced, nested and twofold folders."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.cli import SOURCES
from trimtab.coding.trust.decide import decide, stored_answer
from trimtab.coding.trust.own import is_own
from trimtab.coding.trust.place import Identity, place_of, project_root, spelled_alike

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git isn't installed")


def make(folder: Path) -> Path:
    """A folder that brings something."""
    (folder / ".trimtab").mkdir(parents=True)
    return folder


def git(*args: str, cwd: Path) -> None:
    """Run git with nothing of this machine's settings."""
    env = {"PATH": os.environ["PATH"], "HOME": str(cwd), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    who = ["-c", "user.name=x", "-c", "user.email=x@example.invalid", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *who, *args], cwd=cwd, env=env, check=True, capture_output=True, timeout=30)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Where the answers are."""
    return tmp_path / "home" / "trust.json"


def test_a_folder_that_takes_the_place_of_a_trusted_one_asks_again_and_says_why(tmp_path: Path, store: Path) -> None:
    project = make(tmp_path / "project")
    decide(project, store, answer="folder")
    project.rename(tmp_path / "away")
    decision = decide(make(project), store, answer=None)
    assert (decision.trusted, decision.open) == (False, True)
    assert decision.reason == "another folder is in the place of the one that you decided about"
    assert decision.reason in decision.notice


def test_a_folder_made_anew_at_the_same_path_is_another_one_though_its_inode_is_the_same(
    tmp_path: Path, store: Path
) -> None:
    project = make(tmp_path / "project")
    before = place_of(project).identity
    if before is None or before.born is None:
        pytest.skip("this file system doesn't tell when a folder was made")
    decide(project, store, answer="folder")
    shutil.rmtree(project)
    make(project)
    assert not decide(project, store, answer=None).trusted


def test_what_was_answered_with_never_is_asked_about_again_when_another_folder_is_there(
    tmp_path: Path, store: Path
) -> None:
    project = make(tmp_path / "project")
    decide(project, store, answer="never")
    project.rename(tmp_path / "away")
    assert decide(make(project), store, answer=None).open


def test_a_renamed_folder_asks_again_and_says_where_it_was_trusted(tmp_path: Path, store: Path) -> None:
    project = make(tmp_path / "project")
    decide(project, store, answer="folder")
    moved = project.rename(tmp_path / "renamed")
    decision = decide(moved, store, answer=None)
    assert not decision.trusted
    assert decision.reason == f"it was trusted as {project}, and another path is asked about again"
    moved.rename(project)
    assert decide(project, store, answer=None).trusted


def test_changes_inside_a_folder_leave_it_the_same_folder(tmp_path: Path, store: Path) -> None:
    project = make(tmp_path / "project")
    decide(project, store, answer="folder")
    (project / ".trimtab" / "config.toml").write_text("max_steps = 1\n")
    (project / "more").mkdir()
    os.utime(project, (0, 0))
    project.chmod(0o700)
    assert decide(project, store, answer=None).trusted


def test_a_link_to_a_trusted_folder_is_that_folder_and_a_link_put_in_its_place_is_another(
    tmp_path: Path, store: Path
) -> None:
    project, evil = make(tmp_path / "project"), make(tmp_path / "evil")
    link = tmp_path / "link"
    link.symlink_to(project)
    decide(link, store, answer="folder")
    assert decide(project, store, answer=None).trusted
    project.rename(tmp_path / "away")
    project.symlink_to(evil)
    assert not decide(project, store, answer=None).trusted
    assert not decide(link, store, answer=None).trusted


def test_a_parent_that_was_replaced_trusts_nothing_in_it(tmp_path: Path, store: Path) -> None:
    project = make(tmp_path / "work" / "project")
    decide(project, store, answer="parent")
    (tmp_path / "work").rename(tmp_path / "away")
    decision = decide(make(project), store, answer=None)
    assert not decision.trusted
    assert decision.reason == f"{tmp_path / 'work'}, in which all was trusted, is another folder now"


def test_a_folder_inside_a_repository_is_that_repository(tmp_path: Path, store: Path) -> None:
    root = make(tmp_path / "repository")
    (root / ".git").mkdir()
    inner = root / "src" / "deep"
    inner.mkdir(parents=True)
    decide(inner, store, answer="folder")
    assert stored_answer(root, store) is True
    assert stored_answer(root / "src", store) is True
    (root / "src" / ".git").write_text("gitdir: elsewhere\n")
    assert stored_answer(inner, store) is None


def test_a_folder_outside_of_any_repository_is_trusted_alone(tmp_path: Path, store: Path) -> None:
    inner = make(make(tmp_path / "plain") / "inner")
    decide(tmp_path / "plain", store, answer="folder")
    assert stored_answer(inner, store) is None


@pytest.mark.parametrize("depth", ["", "sub/deeper"])
def test_a_folder_below_a_nested_repository_is_not_covered_by_a_trusted_parent(
    tmp_path: Path, store: Path, depth: str
) -> None:
    decide(make(tmp_path / "work" / "mine"), store, answer="parent")
    nested = make(tmp_path / "work" / "evil")
    (nested / ".git").symlink_to("nowhere")
    inner = make(nested / depth / "x")
    decision = decide(inner, store, answer=None, home=str(tmp_path))
    assert decision.root == nested
    assert decision.reason == f"a repository of its own or something installed, though it lies in {tmp_path / 'work'}"


@pytest.mark.parametrize("name", ["node_modules/x", "lib/site-packages/x/y", ".git/hooks"])
def test_what_was_installed_into_a_trusted_repository_decides_for_itself(
    tmp_path: Path, store: Path, name: str
) -> None:
    root = make(tmp_path / "work" / "mine")
    (root / ".git").mkdir()
    installed = make(root / name)
    for answer in ("folder", "parent"):
        decide(root, store, answer=answer)  # type: ignore[arg-type]
        assert stored_answer(installed, store) is None
    assert not is_own(root, installed)
    assert project_root(installed) == installed


def test_what_was_refused_inside_a_trusted_parent_is_refused_with_all_below_it(tmp_path: Path, store: Path) -> None:
    decide(make(tmp_path / "work" / "mine"), store, answer="parent")
    inner = make(tmp_path / "work" / "theirs" / "inner")
    assert stored_answer(inner, store) is True
    decide(tmp_path / "work" / "theirs", store, answer="never")
    assert stored_answer(inner, store) is None


@needs_git
def test_a_worktree_of_a_trusted_repository_decides_for_itself(tmp_path: Path, store: Path) -> None:
    main = make(tmp_path / "work" / "main")
    git("init", "-q", cwd=main)
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=main)
    git("worktree", "add", "-q", str(tmp_path / "work" / "tree"), cwd=main)
    git("worktree", "add", "-q", str(main / "inside"), cwd=main)
    decide(main, store, answer="parent")
    decide(main, store, answer="folder")
    assert stored_answer(main, store) is True
    for tree in (tmp_path / "work" / "tree", main / "inside"):
        assert stored_answer(make(tree), store) is None


@needs_git
def test_a_submodule_of_a_trusted_repository_decides_for_itself(tmp_path: Path, store: Path) -> None:
    other, main = tmp_path / "other", make(tmp_path / "main")
    other.mkdir()
    for folder in (other, main):
        git("init", "-q", cwd=folder)
        git("commit", "-q", "--allow-empty", "-m", "x", cwd=folder)
    git("submodule", "--quiet", "add", str(other), "module", cwd=main)
    decide(main, store, answer="folder")
    assert stored_answer(make(main / "module"), store) is None


def test_a_repository_that_is_the_home_folder_takes_in_no_folder_below_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    inner = tmp_path / "downloads"
    inner.mkdir()
    assert project_root(inner, home=str(tmp_path)) == inner
    assert project_root(inner, home=str(tmp_path / "downloads")) == inner
    assert project_root(tmp_path, home=str(tmp_path)) == tmp_path
    assert project_root(inner) == tmp_path


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_git_folder_that_somebody_else_put_above_makes_no_repository_of_it(tmp_path: Path) -> None:
    inner = tmp_path / "mine"
    inner.mkdir()
    (tmp_path / ".git").mkdir()
    os.chown(tmp_path / ".git", 12345, 12345)
    assert project_root(inner) == inner


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (Identity(7, 1), Identity(7, 1), True),
        (Identity(7, 1), Identity(7, 2), False),
        (Identity(7, 1), Identity(8, 1), False),
        (Identity(7, None), Identity(7, 1), True),
        (Identity(7, None), Identity(8, None), False),
    ],
)
def test_a_folder_is_known_by_all_that_is_known_of_it(one: Identity, other: Identity, same: bool) -> None:
    assert one.is_same(other) is same


def test_paths_that_differ_in_case_are_one_only_where_they_lead_to_one_folder(tmp_path: Path, store: Path) -> None:
    assert spelled_alike("/Users/Me/Caf\u00e9", "/users/me/cafe\u0301")
    assert not spelled_alike("/users/me/a", "/users/me/b")
    decide(make(tmp_path / "Project"), store, answer="folder")
    if not (tmp_path / "project").exists():
        make(tmp_path / "project")
        assert stored_answer(tmp_path / "project", store) is None
    else:
        assert stored_answer(tmp_path / "project", store) is True


_TWICE = """
import subprocess, sys
from pathlib import Path
from trimtab.coding.trust.decide import decide
root = Path(sys.argv[1])
project, twice, store = root / "project", root / "twice", root / "trust.json"
decide(project, store, answer="folder")
subprocess.run(["mount", "--bind", project, twice], check=True)
again = decide(twice, store, answer=None)
subprocess.run(["mount", "--bind", root / "evil", project], check=True)
over = decide(project, store, answer=None)
print(again.trusted, again.reason, over.trusted, over.reason, sep="|")
"""


@pytest.mark.skipif(
    shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode != 0,
    reason="this system makes no mount namespaces",
)
def test_a_folder_mounted_elsewhere_asks_again_and_so_does_one_mounted_over_a_trusted_one(tmp_path: Path) -> None:
    project = make(tmp_path / "project")
    make(tmp_path / "evil")
    (tmp_path / "twice").mkdir()
    done = subprocess.run(
        ["unshare", "-rm", sys.executable, "-c", _TWICE, str(tmp_path)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": SOURCES},
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    again, why_again, over, why_over = done.stdout.strip().split("|")
    assert (again, over) == ("False", "False")
    assert why_again == f"it is trusted as {project}, and another path is asked about again"
    assert why_over == "another folder is in the place of the one that you decided about"
