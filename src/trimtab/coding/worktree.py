"""A git worktree of its own for a run: the person's checkout stays as it is.

    NAME ──▶ PROJECT-worktrees/NAME beside the repository, on the branch trimtab/NAME ──▶ where the run works

One that is there already is used again, if it is a worktree of this repository.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from trimtab.coding.permissions.git_programs import GitSettings
from trimtab.coding.trust import stored_answer
from trimtab.config.home import environment, find_home
from trimtab.types.errors import UsageError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_BRANCH = "trimtab/"
_WITHIN_S = 120


@dataclass(frozen=True, slots=True)
class Worktree:
    """Where to work, whether the folder it was made from is trusted, and what a person is told."""

    folder: Path
    trusted: bool
    notice: str


def make_worktree(cwd: Path, name: str, *, trusted: bool | None = None) -> Worktree:
    """Make the worktree `name` of the repository that `cwd` is in, from its HEAD, or find it; the same folder of the project in it is where one works.

    `trusted`: what holds for this run whatever was answered before. Raises `UsageError` when there is no repository, git says no, or git would run
    programs that a folder names which nobody trusts.
    """
    if not _NAME.fullmatch(name) or name.endswith((".", ".lock")) or ".." in name:
        raise UsageError(
            f"{name!r} is no name for a worktree", hint="Use letters, digits, . _ and -, as in --worktree fix-login."
        )
    here = os.path.realpath(cwd)
    top = _git(here, "rev-parse", "--show-toplevel")
    common = os.path.realpath(os.path.join(here, _git(here, "rev-parse", "--git-common-dir")))
    main = Path(common).parent if os.path.basename(common) == ".git" else Path(top)
    folder = main.with_name(f"{main.name}-worktrees") / name
    inside = os.path.relpath(here, top)
    known = stored_answer(cwd, find_home(environment()).trust_file) is True
    if folder.exists():
        there = _git(str(folder), "rev-parse", "--git-common-dir")
        if os.path.realpath(folder / there) != common:
            raise UsageError(
                f"{folder} is there and is no worktree of {main}", hint="Use another name, or move it away."
            )
        notice = f"working in {folder}, which was there"
    else:
        if not (known if trusted is None else trusted):
            _require_no_programs(here)
        branch = _BRANCH + name
        there_is = _ask(here, "show-ref", "--verify", "--quiet", f"refs/heads/{branch}").returncode == 0
        new = () if there_is else ("-b", branch)
        _git(here, "worktree", "add", *new, str(folder), *((branch,) if there_is else ()))
        notice = f"working in {folder}, a new worktree on branch {branch}; `git worktree remove {folder}` takes it away{_left_behind(here, top)}"
    place = folder / inside
    return Worktree(place if place.is_dir() else folder, known, notice)


def _left_behind(here: str, top: str) -> str:
    """What of the checkout isn't in the worktree, for the notice."""
    changed = len(_ask(here, "status", "--porcelain").stdout.splitlines())
    return f"; what isn't committed in {top} (changed or new: {changed}) stays there" if changed else ""


def _require_no_programs(folder: str) -> None:
    """Raise `UsageError` where files are checked out by programs that the repository's own settings name."""
    git = shutil.which("git")
    if git and (setting := GitSettings(git).program(folder)):
        raise UsageError(
            f"no worktree is made: the repository's own settings may make git run a program: {setting}",
            hint="Trust the folder first (trimtab trust), or make the worktree yourself: git worktree add.",
        )


def _git(cwd: str, *arguments: str) -> str:
    """What git prints. Raises `UsageError` with its words."""
    done = _ask(cwd, *arguments)
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit {done.returncode}"]
        raise UsageError(
            f"git {arguments[0]} failed: {said[-1]}", hint="--worktree needs a git repository with a commit."
        )
    return done.stdout.removesuffix("\n")


def _ask(cwd: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    safe = (
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.fsmonitor=false",
    )  # a hook of the project's is code of the project's
    try:
        return subprocess.run(
            ("git", "-C", cwd, *safe, *arguments),
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=_WITHIN_S,
            check=False,
        )
    except FileNotFoundError:
        raise UsageError("git was not found", hint="Install git, or leave --worktree out.") from None
    except subprocess.TimeoutExpired:
        raise UsageError(
            f"git {arguments[0]} took more than {_WITHIN_S} s", hint="Try it by hand: git worktree add."
        ) from None
