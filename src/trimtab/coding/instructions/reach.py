"""How far up and down a project's own instructions are looked for.

    what was trusted: a repository, else the working folder ─▶ the folders between ─▶ the working folder     `Reach.folders`
        … folders below, once a file in them was touched: not those of other authors                          `Reach.below`

The one rule: nothing of a folder is looked at before it is trusted.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from trimtab.coding.project import Project
from trimtab.coding.trust.place import is_foreign


@dataclass(frozen=True, slots=True)
class Reach:
    """The folders whose instructions count, from the top one down to the working folder; none where nothing is trusted."""

    folders: tuple[Path, ...] = ()

    def below(self, path: str) -> tuple[Path, ...]:
        """The folders on the way down to the file `path` (a real path) that `folders` doesn't have; none of another author's. Touches the disk."""
        if not self.folders:
            return ()
        top, way = str(self.folders[0]), list[Path]()
        folder = os.path.dirname(path)
        while folder.startswith(top.rstrip("/") + "/"):
            way.append(Path(folder))
            folder = os.path.dirname(folder)
        new = [here for here in reversed(way) if here not in self.folders]
        return tuple(here for here in new if not is_foreign(str(here), top)) if folder == top else ()


def reach_of(project: Project) -> Reach:
    """The reach in a project."""
    if not project.trusted:
        return Reach()
    root = project.trust.root
    chain = [folder for folder in (project.cwd, *project.cwd.parents) if folder.is_relative_to(root)]
    return Reach(tuple(reversed(chain)) or (project.cwd,))
