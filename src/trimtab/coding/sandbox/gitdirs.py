"""Where git keeps the repository of a folder, so that `git commit` works there and nothing else of git's is opened up.

    folder ──up──▶ .git: a folder, or a file that names one ──▶ checked that it is meant ──▶ Repository

A file `.git` is the project's own text and could name any folder. So it counts only when git's side agrees: a worktree's folder names the file back, and a
submodule's lies in `.git/modules` of a folder around it.
"""

import os.path
from dataclasses import dataclass

_POINTER = "gitdir:"
_MAX_BYTES = 4_096


@dataclass(frozen=True, slots=True)
class Repository:
    """`entry` is the `.git` that was found; `own` is where this working tree's HEAD and index are, `common` where objects and refs are. All real."""

    entry: str
    own: str
    common: str

    @property
    def programs(self) -> tuple[str, ...]:
        """What can make git run programs: its settings and hooks, and a `.git` that is a file."""
        settings = {
            os.path.join(folder, name)
            for folder in (self.own, self.common)
            for name in ("hooks", "config", "config.worktree")
        }
        pointer = () if os.path.isdir(self.entry) else (self.entry,)
        return (*pointer, *sorted(settings))


def find_repository(folder: str) -> Repository | None:
    """Look in the real `folder` and upwards; None when there is no repository, or none that can be believed."""
    while True:
        entry = os.path.join(folder, ".git")
        if os.path.lexists(entry):
            return _read(entry)
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _read(entry: str) -> Repository | None:
    if os.path.islink(entry):
        return None
    if os.path.isdir(entry):
        return Repository(entry, entry, entry) if _is_git_folder(entry) else None
    text = _line(entry)
    if not text.startswith(_POINTER):
        return None
    own = os.path.realpath(os.path.join(os.path.dirname(entry), text.removeprefix(_POINTER).strip()))
    shared = _line(os.path.join(own, "commondir"))
    common = os.path.realpath(os.path.join(own, shared)) if shared else own
    meant = _names_back(own, common, entry) if shared else _is_submodule(own, entry)
    return Repository(entry, own, common) if meant and _is_git_folder(common) else None


def _names_back(own: str, common: str, entry: str) -> bool:
    """A worktree's folder lies in `worktrees` of the repository and says which `.git` is its own."""
    named = _line(os.path.join(own, "gitdir"))
    return (
        bool(named)
        and os.path.realpath(os.path.join(own, named)) == entry
        and os.path.dirname(own) == os.path.join(common, "worktrees")
    )


def _is_submodule(own: str, entry: str) -> bool:
    folder = os.path.dirname(os.path.dirname(entry))
    while not own.startswith(os.path.join(folder, ".git", "modules") + "/"):
        parent = os.path.dirname(folder)
        if parent == folder:
            return False
        folder = parent
    return True


def _is_git_folder(path: str) -> bool:
    return os.path.isfile(os.path.join(path, "HEAD")) and all(
        os.path.isdir(os.path.join(path, name)) for name in ("objects", "refs")
    )


def _line(path: str) -> str:
    """The first line of a small regular file; empty when there is none, or when it can't be a path."""
    try:
        if not os.path.isfile(path):
            return ""
        with open(path, "rb") as file:
            line = file.read(_MAX_BYTES).split(b"\n")[0].strip()
        return "" if b"\0" in line else os.fsdecode(line)
    except OSError:
        return ""
