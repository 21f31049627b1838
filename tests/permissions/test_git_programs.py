"""A git command that only looks runs unasked, unless the repository's own settings name a program that it may run."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from trimtab.coding.permissions import Allow, Ask, Policy, Rules, judge, parse_rule
from trimtab.coding.permissions.git_programs import UNREADABLE, GitSettings
from trimtab.coding.permissions.workspace_paths import WorkspacePaths
from trimtab.coding.tools.environment import command_environment
from trimtab.coding.tools.paths import Workspace
from trimtab.types.messages import ToolCall

GIT = os.path.realpath(shutil.which("git") or "git")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Path:
    """A repository with one commit."""
    project = Path(os.path.realpath(tmp_path)) / "project"
    project.mkdir()
    git(project, home, "init", "-q", "-b", "main")
    (project / "a.txt").write_text("one\n")
    git(project, home, "add", "-A")
    git(project, home, "commit", "-qm", "first")
    return project


def environment(home: Path) -> dict[str, str]:
    given = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}
    return command_environment(given)


def git(folder: Path, home: Path, *arguments: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always")
    done = subprocess.run(
        ("git", *who, *arguments), cwd=folder, env=environment(home), capture_output=True, text=True, check=True
    )
    return done.stdout


def program(folder: Path, home: Path) -> str:
    return GitSettings(GIT, environment(home)).program(str(folder))


def why(project: Path, home: Path, command: str, *allow: str) -> str:
    """Why the command is asked about; empty when it runs."""
    policy = Policy("ask", str(project), str(home), Rules(tuple(map(parse_rule, allow))))
    paths = WorkspacePaths(Workspace(project, home), os.environ["PATH"], environment(home))
    decision = judge(ToolCall("c", "bash", {"command": command}, ""), policy, paths).decision
    assert isinstance(decision, Allow | Ask)
    return decision.reason if isinstance(decision, Ask) else ""


NAMED = (
    "filter.x.clean",
    "filter.a.b.process",
    "filter.x.smudge",
    "diff.external",
    "diff.x.textconv",
    "diff.x.command",
    "merge.x.driver",
    "core.fsmonitor",
    "core.pager",
    "pager.log",
    "core.alternateRefsCommand",
    "gpg.program",
    "gpg.ssh.program",
    "man.x.cmd",
    "browser.x.cmd",
    "lfs.extension.x.clean",
    "lfs.customtransfer.x.path",
    "extensions.partialClone",
    "include.path",
    "includeIf.gitdir:/.path",
    "diff.submodule",
)
LET_BE = {
    "core.hooksPath": ".husky",
    "core.fsmonitor": "true",
    "alias.st": "status",
    "core.sshCommand": "ssh -i key",
    "remote.origin.url": "https://example.org/x",
    "filter.x.smudge": "cat",
    "merge.ours.driver": "true",
    "user.name": "t",
}


def with_setting(project: Path, base: str, key: str, value: str) -> None:
    section, _, rest = key.partition(".")
    subsection, _, name = rest.rpartition(".")
    head = f'[{section} "{subsection}"]' if subsection else f"[{section}]"
    (project / ".git" / "config").write_text(f"{base}{head}\n\t{name} = {value}\n")


def test_a_setting_of_the_repository_that_names_a_program_is_named(project: Path, home: Path) -> None:
    base, found = (project / ".git" / "config").read_text(), []
    for key in NAMED:
        with_setting(project, base, key, "./evil")
        found.append(program(project, home).lower())
    assert found == [key.lower() for key in NAMED]


def test_settings_that_no_look_runs_are_let_be(project: Path, home: Path) -> None:
    base, found = (project / ".git" / "config").read_text(), {}
    for key, value in LET_BE.items():
        with_setting(project, base, key, value)
        found[key] = program(project, home)
    assert found == dict.fromkeys(LET_BE, "")


def test_what_the_person_set_for_all_repositories_is_theirs(project: Path, home: Path) -> None:
    git(project, home, "config", "--global", "filter.lfs.process", "git-lfs filter-process")
    (project / ".gitattributes").write_text("*.bin filter=lfs\n")
    assert program(project, home) == ""


def test_a_worktree_of_its_own_settings_a_file_that_names_the_repository_and_no_repository_count_as_git_finds_them(
    project: Path, home: Path, tmp_path: Path
) -> None:
    git(project, home, "config", "extensions.worktreeConfig", "true")
    git(project, home, "worktree", "add", "-q", "../tree")
    tree = project.parent / "tree"
    git(tree, home, "config", "--worktree", "diff.external", "./evil")
    assert [program(folder, home) for folder in (project, tree, home, tmp_path / "gone")] == [
        "",
        "diff.external",
        "",
        "",
    ]
    evil = tmp_path / "evil"
    evil.mkdir()
    (evil / ".git").write_text(f"gitdir: {project}/.git/worktrees/tree\n")
    assert program(evil, home) == "diff.external"


def test_settings_that_cannot_be_read_count_as_a_program(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".git" / "config").write_text("[core\n")
    assert program(project, home) == UNREADABLE
    monkeypatch.setattr("trimtab.coding.permissions.git_programs._TIMEOUT_S", 0.05)
    (project / ".git" / "config").unlink()
    os.mkfifo(project / ".git" / "config")
    assert program(project, home) == UNREADABLE


def test_a_submodule_counts_since_status_runs_git_in_it(project: Path, home: Path) -> None:
    git(project, home, "clone", "-q", ".", "lib")
    git(project, home, "-c", "advice.addEmbeddedRepo=false", "add", "lib")
    assert program(project, home) == ""
    git(project / "lib", home, "config", "filter.x.clean", "./evil")
    assert program(project, home) == "filter.x.clean of the submodule lib"
    shutil.rmtree(project / "lib")
    assert program(project, home) == ""


LOOKS = (
    "git status",
    "git --no-pager log -p -2",
    "/usr/bin/git diff",
    "timeout 5 git show",
    "sh -c 'git blame a.txt'",
    "git -C sub/.. diff",
    "cd sub && git status",
    "cd sub; ls $(git diff)",
    "sh -c 'cd sub; git diff'",
    "cd $X; git diff",
    "cd; git diff",
    "cd -; git diff",
    "pushd sub; git diff",
)


def test_each_way_to_look_is_asked_about_where_the_repository_names_a_program(project: Path, home: Path) -> None:
    (project / "sub").mkdir()
    git(project, home, "config", "diff.external", "./evil")
    assert [command for command in LOOKS if not why(project, home, command)] == []


PLAIN_LOOKS = (
    "git status",
    "git -C sub log -p",
    "cd sub && git status && cd .. && git diff",
    "sh -c 'cd sub; git diff'",
    "cd sub; ls",
    "for f in a b; do git status $f; done",
)


def test_a_plain_repository_is_looked_at_unasked(project: Path, home: Path) -> None:
    (project / "sub").mkdir()
    assert {command: why(project, home, command) for command in PLAIN_LOOKS} == dict.fromkeys(PLAIN_LOOKS, "")


def test_the_repository_that_git_finds_is_the_one_that_counts(project: Path, home: Path) -> None:
    sub = project / "sub"
    sub.mkdir()
    git(sub, home, "init", "-q")
    git(sub, home, "config", "diff.external", "./evil")
    (project / "link").symlink_to(sub)
    assert why(project, home, "git diff") == ""
    for command in ("git -C sub diff", "git -C link diff", "cd sub; git diff", "cd link && ls && git diff"):
        assert why(project, home, command).endswith("may make git run a program: diff.external")
    assert "unclear" in why(project, home, "while cd sub; do git diff; done")


def test_the_setting_is_named_and_a_rule_lets_it_run(project: Path, home: Path) -> None:
    git(project, home, "config", "filter.x.clean", "./evil")
    assert why(project, home, "git status") == (
        "'git status' may change things: the repository's own settings may make git run a program: filter.x.clean"
    )
    assert why(project, home, "git status", "bash(git status)") == ""


def test_git_is_asked_once_for_a_command(project: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(GitSettings, "program", lambda _, folder: asked.append(folder) or "")
    assert why(project, home, "git status; git diff | head; git log") == ""
    assert asked == [str(project)]
