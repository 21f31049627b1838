"""What a call names, on this disk: real paths, programs, and what of a project could stand behind them.

text of a call, Workspace, environment of commands ──▶ answers that `decide` asks for (its port is `policy.Paths`)
"""

import os
import shutil
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from trimtab.coding.permissions.git_programs import GitSettings
from trimtab.coding.permissions.places import real_path
from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.tools.paths import Workspace, identity

_MOST_VERSIONS = 1 << 20
"""Bytes of a file of versions that are read."""


@dataclass(frozen=True, slots=True)
class WorkspacePaths:
    """Real paths of what a call names in this workspace (a `policy.Paths`). `search` is the PATH of commands, `environment` all that they get (None: what this process has)."""

    workspace: Workspace
    search: str = os.defpath
    environment: Mapping[str, str] | None = None
    _git: dict[str, str] = field(default_factory=dict, compare=False)

    def of_tool(self, text: str, tool: str) -> str | None:
        """As the tool finds it: `edit` takes a file that is there under a like name."""
        free = replace(self.workspace, closed=None)
        find = free.place if tool == "write" else free.locate
        try:
            return identity(find(text))
        except (ToolFailure, OSError):
            return None

    def of_shell(self, text: str) -> str | None:
        """As a redirection finds it: letter by letter."""
        return None if "\0" in text else real_path(str(self.workspace.cwd / text))

    def of_program(self, name: str) -> str | None:
        """As a shell finds it in the working folder."""
        found = self._found(name)
        return found and os.path.realpath(found)

    def _found(self, name: str) -> str | None:
        folders = (str(self.workspace.cwd / folder) for folder in self.search.split(os.pathsep))
        return None if "\0" in name or not name else shutil.which(name, path=os.pathsep.join(folders))

    def has_version_by_path(self, name: str) -> bool:
        """By what asdf and mise read: `python path:./bin` in a `.tool-versions` above."""
        found = self._found(name)
        if found is None or os.path.basename(os.path.dirname(found)) != "shims":
            return False
        cwd = self.workspace.cwd
        return any(_names_a_path(folder / ".tool-versions") for folder in (cwd, *cwd.parents))

    def python_path(self) -> tuple[str, ...]:
        """As Python finds them from the working folder."""
        given = (self.environment or {}).get("PYTHONPATH", "")
        folders = given.split(os.pathsep) if given else []
        return tuple(os.path.realpath(self.workspace.cwd / folder) for folder in folders)

    def is_in_git_folder(self, path: str) -> bool:
        """As git knows them: by HEAD and objects (the repository), or HEAD and commondir (a worktree's part)."""
        return any(
            (above / "HEAD").is_file() and ((above / "objects").is_dir() or (above / "commondir").is_file())
            for above in Path(path).parents
        )

    def has_other_names(self, path: str) -> bool:
        """By the number of its links."""
        try:
            facts = os.lstat(path)
        except (OSError, ValueError):
            return False
        return stat.S_ISREG(facts.st_mode) and facts.st_nlink > 1

    def git_program(self, folder: str) -> str:
        """By asking git, once for a folder."""
        if folder not in self._git:
            git = self.of_program("git")
            place = str(self.workspace.cwd / folder)
            self._git[folder] = GitSettings(git, self.environment).program(place) if git else ""
        return self._git[folder]


def _names_a_path(file: Path) -> bool:
    """Whether a file of versions names a folder for one; one that can't be read may."""
    try:
        if not file.is_file():
            return False
        with file.open("rb") as text:
            return b"path:" in text.read(_MOST_VERSIONS)
    except OSError:
        return True
