"""Files of a trusted project that lead out of it, or into a repository of somebody else's."""

import os
from pathlib import Path

import pytest

from trimtab.coding.project import open_project
from trimtab.coding.trust.decide import decide
from trimtab.coding.trust.own import is_own, own_path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a file in it, and another folder beside it."""
    (tmp_path / "project" / "sub").mkdir(parents=True)
    (tmp_path / "project" / "sub" / "a.md").write_text("a")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "config.toml").write_text("max_steps = 3\n")
    return tmp_path / "project"


def test_what_lies_in_the_project_is_its_own_links_within_it_too(root: Path) -> None:
    (root / "AGENTS.md").symlink_to("sub/a.md")
    (root / "link").symlink_to("sub")
    assert all(is_own(root, root / name) for name in (".", "sub", "sub/a.md", "AGENTS.md", "link/a.md"))


@pytest.mark.parametrize(
    "target", ["../outside/config.toml", "/etc/passwd", "nowhere", "loop", "../project-2/x", "/dev/null"]
)
def test_a_link_out_of_it_or_to_nothing_is_not(root: Path, target: str) -> None:
    (root.parent / "project-2").mkdir()
    (root.parent / "project-2" / "x").write_text("")
    (root / "loop").symlink_to("loop")
    (root / "AGENTS.md").symlink_to(target)
    assert not is_own(root, root / "AGENTS.md")


def test_a_pipe_is_not(root: Path) -> None:
    os.mkfifo(root / "AGENTS.md")
    assert not is_own(root, root / "AGENTS.md")


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_a_repository_inside_it_is_not(root: Path, kind: str) -> None:
    if kind == "folder":
        (root / "sub" / ".git").mkdir()
    else:
        (root / "sub" / ".git").write_text("gitdir: ../.git/modules/sub\n")
    (root / "AGENTS.md").symlink_to("sub/a.md")
    assert not any(is_own(root, root / name) for name in ("sub", "sub/a.md", "AGENTS.md"))


def test_a_link_into_another_trusted_place_is_followed_and_told(root: Path, tmp_path: Path) -> None:
    store, outside = tmp_path / "trust.json", tmp_path / "outside"
    link = root / "AGENTS.md"
    link.symlink_to(outside / "config.toml")
    path, notice = own_path(root, link, store)
    assert path is None
    assert notice == (
        f"AGENTS.md of {root} isn't used: it leads out of the project, at {outside}/config.toml, and that isn't trusted "
        f"(trimtab trust set {outside} folder trusts it)"
    )
    decide(outside, store, answer="folder")
    assert own_path(root, link, store) == (
        outside / "config.toml",
        f"AGENTS.md of {root} leads to {outside}/config.toml, which is trusted too",
    )
    assert own_path(root, root / "none", store) == (None, "")


@pytest.mark.parametrize("link", ["the folder", "the file", "a pipe"])
def test_settings_that_are_no_file_of_the_project_are_not_used_though_it_is_trusted(
    root: Path, tmp_path: Path, link: str
) -> None:
    env = {"TRIMTAB_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    if link == "the folder":
        (root / ".trimtab").symlink_to(tmp_path / "outside")
    else:
        (root / ".trimtab").mkdir()
        if link == "the file":
            (root / ".trimtab" / "config.toml").symlink_to(tmp_path / "outside" / "config.toml")
        else:
            os.mkfifo(root / ".trimtab" / "config.toml")
    project = open_project(root, trust="folder", env=env)
    assert project.trusted
    assert project.settings.max_steps is None
    (notice,) = project.notices
    assert "config.toml" in notice
    assert "isn't used" in notice
    if link != "a pipe":
        open_project(tmp_path / "outside", trust="folder", env=env)
        assert open_project(root, env=env).settings.max_steps == 3
