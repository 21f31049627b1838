"""How far up and down a project's own instructions are looked for.

    root of the project (a repository's, else the working folder; never above the home folder) ──┐ as far as folders are trusted
    … the folders between …                                                                       │ `Reach.folders`
    the working folder ───────────────────────────────────────────────────────────────────────────┘
    … folders below, once a file in them was touched ── `Reach.below`: not those of other authors

The one rule: nothing of a folder is looked at before it is trusted.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from trimtab.coding.project import Project
from trimtab.coding.trust import stored_answer
from trimtab.types.errors import ConfigError

FOREIGN = frozenset({"node_modules", "site-packages", ".git"})
"""Folders that hold what others wrote: their instructions are for those who work on that."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The folders whose instructions count, from the top one down to the working folder; none where nothing is trusted.

    `untold` is the nearest folder above them that belongs to the project and isn't trusted.
    """

    folders: tuple[Path, ...] = ()
    untold: Path | None = None

    def below(self, path: str) -> tuple[Path, ...]:
        """The folders on the way down to the file `path` (a real path) that `folders` doesn't have; none where the way leads out or to what others wrote."""
        if not self.folders:
            return ()
        top, way = str(self.folders[0]), list[Path]()
        folder = os.path.dirname(path)
        while folder.startswith(top.rstrip("/") + "/"):
            way.append(Path(folder))
            folder = os.path.dirname(folder)
        if folder != top:
            return ()
        new: list[Path] = []
        for here in reversed(way):
            if here in self.folders:
                continue
            if here.name in FOREIGN or os.path.lexists(here / ".git"):
                break
            new.append(here)
        return tuple(new)


def reach_of(project: Project) -> Reach:
    """The reach in a project. Raises nothing; touches the disk."""
    if not project.trusted:
        return Reach()
    chain = project_folders(project)
    trusted = [project.cwd]
    for folder in reversed(chain[:-1]):
        if not _is_trusted(folder, project):
            return Reach(tuple(reversed(trusted)), folder)
        trusted.append(folder)
    return Reach(tuple(reversed(trusted)))


def project_folders(project: Project) -> tuple[Path, ...]:
    """The folders from the project's root to the working folder: a repository's root, but none above the home folder, else the working folder alone."""
    home = project.env.get("HOME")
    ceiling = os.path.realpath(home) if home else None
    chain: list[Path] = []
    for folder in (project.cwd, *project.cwd.parents):
        chain.append(folder)
        if os.path.lexists(folder / ".git"):
            return tuple(reversed(chain))
        if str(folder) == ceiling:
            break
    return (project.cwd,)


def _is_trusted(folder: Path, project: Project) -> bool:
    """Whether a folder above the working one is trusted itself. Who trusts for one run means the project, and not this folder of it."""
    if (project.asked.trust or project.env.get("TRIMTAB_TRUST")) == "once":
        return True
    try:
        return stored_answer(folder, project.home.trust_file) is True
    except ConfigError:
        return False  # what is wrong with the store was said when the project was opened
