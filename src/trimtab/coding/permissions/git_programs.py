"""Which setting of a repository makes git run a program when it only looks: what a hostile project brings in its `.git/config`.

    folder ──git config --list──▶ settings with their scope ──those of the repository──▶ does one name a program? ──▶ its name
           ──index──▶ submodules that are there ──the same again──▶

Git itself reads the settings, with the environment that commands get, so worktrees, `.git` files and included files count as they do for the command; to read
them it runs nothing. The one rule: what can't be read counts as a program. Sources: git-config(1), gitattributes(5), gitformat-index(5).
"""

import mmap
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_PROGRAMS = re.compile(
    r"filter\..*\.(?:clean|smudge|process)"  # converters of what is in the folder: status, diff, blame
    r"|diff\.external|diff\..*\.(?:command|textconv)|merge\..*\.driver"  # diff, log -p, show, blame; log --remerge-diff
    r"|diff\.submodule"  # runs git in submodules of any age
    r"|core\.(?:fsmonitor|pager|alternaterefscommand)|pager\..*"
    r"|gpg\.program|gpg\..*\.program"  # log --show-signature, and formats that name one
    r"|man\..*\.(?:cmd|path)|browser\..*\.(?:cmd|path)|help\.browser|web\.browser"  # any command with --help
    r"|lfs\.extension\..*|lfs\.customtransfer\..*|lfs\.(?:.*\.)?standalonetransferagent"
    r"|include\.path|includeif\..*\.path",  # a file that may name programs later, and may be edited unasked
    re.DOTALL,
)
_HARMLESS = frozenset({None, "", "true", "false", "cat"})
"""Values that name no program of the repository's."""
_PARTIAL = re.compile(r"remote\..*\.promisor|extensions\.partialclone", re.DOTALL)
"""What isn't there is fetched when it is looked at, with all programs and hooks of a fetch."""
_OWN = frozenset({"local", "worktree"})
_GITLINK = b"\x00\x00\xe0\x00"
"""The mode of a submodule, as an index holds it (octal 160000)."""
_TIMEOUT_S = 5.0
_MOST_BYTES = 64 << 20
_MOST_SUBMODULES = 200
UNREADABLE = "its settings can't be read"


class _Unreadable(Exception):
    """Git doesn't say, or says too much."""


@dataclass(frozen=True, slots=True)
class GitSettings:
    """Asks `git` (its real path), which gets `environment` (None: that of this process). Touches the disk: use it in a thread."""

    git: str
    environment: Mapping[str, str] | None = None

    def program(self, folder: str) -> str:
        """What in the repository that git finds from `folder`, or in a submodule of it, can make git run a program; empty when nothing does."""
        try:
            return self._program(folder, [_MOST_SUBMODULES])
        except (_Unreadable, OSError, subprocess.TimeoutExpired):
            return UNREADABLE

    def _program(self, folder: str, left: list[int]) -> str:
        if not os.path.isdir(folder):
            return ""  # git finds nothing there
        for scope, key, value in _settings(self._ask(folder, "config", "--list", "--show-scope", "--null")):
            if scope in _OWN and _may_run(key, value):
                return key
        for submodule in self._submodules(folder):
            left[0] -= 1
            if left[0] < 0:
                raise _Unreadable
            if found := self._program(submodule, left):
                return found if found == UNREADABLE else f"{found} of the submodule {os.path.basename(submodule)}"
        return ""

    def _submodules(self, folder: str) -> Iterator[str]:
        """The submodules that are there, by the index: status and diff run git in each."""
        told = self._ask(folder, "rev-parse", "--show-toplevel", "--git-path", "index", "--shared-index-path", fails="")
        lines = told.splitlines()
        if not lines:
            return  # no repository, or one without files
        if len(lines) not in (2, 3) or told.count("\n") != len(lines):
            raise _Unreadable
        top, *indexes = lines
        if not any(_has_gitlink(os.path.join(folder, index)) for index in indexes):
            return
        for row in self._ask(folder, "ls-files", "--stage", "-z", "--full-name", ":/").split("\0"):
            facts, _, name = row.partition("\t")
            if facts.startswith("160000 ") and os.path.lexists(os.path.join(top, name, ".git")):
                yield os.path.join(top, name)

    def _ask(self, folder: str, *arguments: str, fails: str | None = None) -> str:
        """What git prints; `fails` when it ends with an error (None: that can't be)."""
        with subprocess.Popen(
            (self.git, "-C", folder, "-c", "core.fsmonitor=false", *arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self.environment,
        ) as process:
            try:
                data, _ = process.communicate(timeout=_TIMEOUT_S)
            finally:
                process.kill()
        if process.returncode != 0 and fails is not None:
            return fails
        if process.returncode != 0 or len(data) > _MOST_BYTES:
            raise _Unreadable
        return os.fsdecode(data)


def _may_run(key: str, value: str | None) -> bool:
    return _PARTIAL.fullmatch(key) is not None or (value not in _HARMLESS and _PROGRAMS.fullmatch(key) is not None)


def _settings(listed: str) -> Iterator[tuple[str, str, str | None]]:
    """Scope, key and value (None: there is none) of `git config --list --show-scope --null`."""
    fields = listed.split("\0")
    for scope, setting in zip(fields[::2], fields[1::2], strict=False):
        key, has_value, value = setting.partition("\n")
        yield scope, key, value if has_value else None


def _has_gitlink(index: str) -> bool:
    """Whether an index may hold a submodule: by a look for four bytes, so one of 100,000 files costs no time."""
    path = Path(index)
    if not path.is_file() or not path.stat().st_size:
        return False
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(_GITLINK) >= 0
