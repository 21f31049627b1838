"""Where a check runs: in the project, or in a copy of the whole of it, at the same place within.

    root/pkg ──copy, links led along, protected files left out──▶ TMP/root/pkg ──▶ commands, with the project's path read as the copy's

The one rule: nothing in the copy leads back to the project by its own path.
"""

import os
import re
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_ENDS = r"(?![^\s/'\"`;:|&()<>,])"
"""A path is named whole only where one of these, or nothing, follows."""
_ESCAPED = re.compile(r"([^\w@%+=:,./-])")


@dataclass(frozen=True, slots=True)
class Place:
    """`cwd`: where commands run. `root`: the repository around it, or itself. `names`: other paths by which the person knows `cwd`."""

    root: Path
    cwd: Path
    names: tuple[str, ...] = ()

    def copied_to(self, folder: Path, *, left_out: Callable[[str], bool]) -> "Place":
        """Copy all of `root` into `folder` but the files of which `left_out` says so. Raises `OSError`."""
        root = folder / (self.root.name or "project")
        links: list[str] = []

        def ignored(within: str, names: list[str]) -> set[str]:
            return {name for name in names if _left(os.path.join(within, name), str(folder), left_out, links)}

        shutil.copytree(self.root, root, symlinks=True, ignore=ignored)
        for link in links:
            os.symlink(self._led(link, root), root / os.path.relpath(link, self.root))
        return Place(root, root / os.path.relpath(self.cwd, self.root))

    def command_in(self, copy: "Place", command: str) -> str:
        """The command as it runs in `copy`: paths of the project in it are those of the copy."""
        for was, now in self._renamed(copy):
            for form in (str, _escaped):
                pattern = rf"(?<![\w.-]){re.escape(form(was))}{_ENDS}"
                command = re.sub(pattern, form(now).replace("\\", r"\\"), command)
        return command

    def still_names(self, copy: "Place", command: str) -> bool:
        """Whether a command that `command_in` gave names the project by its own path after all."""
        return any(
            form(was) in command.replace(form(now), "") for was, now in self._renamed(copy) for form in (str, _escaped)
        )

    def _renamed(self, copy: "Place") -> list[tuple[str, str]]:
        """Paths of the project and what they are in the copy, the longest first: one may lie in the other."""
        depth = len(self.cwd.relative_to(self.root).parts)
        pairs = {str(self.root): str(copy.root), str(self.cwd): str(copy.cwd)}
        for name in self.names:
            pairs[name] = str(copy.cwd)
            if depth and Path(name).parts[-depth:] == self.cwd.parts[-depth:]:
                pairs[str(Path(*Path(name).parts[:-depth]))] = str(copy.root)
        return sorted(((was, now) for was, now in pairs.items() if was != os.sep), key=lambda pair: -len(pair[0]))

    def _led(self, link: str, root: Path) -> str:
        """Where the copy of a link leads: what is in the project, to the copy; all else, where it is."""
        target = os.readlink(link)
        whole = os.path.normpath(os.path.join(os.path.dirname(link), target))
        inside = whole == str(self.root) or whole.startswith(f"{self.root}{os.sep}")
        if not inside:
            return whole
        return os.path.join(root, os.path.relpath(whole, self.root)) if os.path.isabs(target) else target


def _left(path: str, folder: str, left_out: Callable[[str], bool], links: list[str]) -> bool:
    """Whether a name isn't copied: what is no file, folder or link can't be, and the copy itself lies there when the temp folder is in the project."""
    if path == folder:
        return True
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return True
    if stat.S_ISDIR(mode):
        return False
    if stat.S_ISLNK(mode):
        if not left_out(path):
            links.append(path)
        return True
    return not stat.S_ISREG(mode) or left_out(path)


def _escaped(path: str) -> str:
    return _ESCAPED.sub(r"\\\1", path)
