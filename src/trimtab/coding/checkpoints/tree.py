"""The states of all files of a project, so that what a command changed is known although it doesn't say.

rg --files (ignore files obeyed) ──▶ stat each ──same as last time──▶ the state known
                                                 └─ else ──read──▶ content kept
"""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from trimtab.coding.checkpoints.states import FileState, state_of
from trimtab.coding.checkpoints.store import ContentStore
from trimtab.coding.tools.ripgrep import FILES_OF

MOST_FILES = 20_000
MOST_TOTAL = 512 << 20
"""Bytes that are read for one look; a project above either of these isn't looked at."""
_LOOK_S = 5
_CACHES = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache"})

Tree: TypeAlias = dict[str, FileState]
_Facts: TypeAlias = tuple[int, int, int, int, int]


@dataclass(slots=True)
class ProjectTree:
    """Looks at `project` (a real path). `rg`: ripgrep, where there is one. Touches the disk: use it in a thread."""

    project: Path
    store: ContentStore
    rg: str | None = None
    _known: dict[str, tuple[_Facts, FileState]] = field(default_factory=dict)
    _hopeless: bool = False

    def look(self) -> Tree | None:
        """The state of every file that no ignore file names; None when there is too much. Raises `StoreError`."""
        if self._hopeless:
            return None
        with self.store.together():
            found = self._states()
        if found is None:
            self._hopeless = True
            return None
        self._known = found
        return {path: state for path, (_, state) in found.items()}

    def _states(self) -> dict[str, tuple[_Facts, FileState]] | None:
        found: dict[str, tuple[_Facts, FileState]] = {}
        total = 0
        for path in self._paths():
            try:
                facts = os.lstat(path)
            except OSError:
                continue
            mark = (facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino, facts.st_mode)
            known = self._known.get(path)
            if known is not None and known[0] == mark:
                found[path] = known
                continue
            total += facts.st_size
            if len(found) >= MOST_FILES or total > MOST_TOTAL:
                return None
            if (state := state_of(path, self.store)) is not None:
                found[path] = (mark, state)
        return found

    def _paths(self) -> Iterator[str]:
        listed = self._listed() if self.rg else None
        if listed is not None:
            yield from listed
            yield from self._specials()  # which ripgrep passes over
            return
        for folder, folders, names in os.walk(self.project):
            folders[:] = [name for name in folders if name not in _CACHES]
            yield from (os.path.join(folder, name) for name in names)

    def _specials(self) -> Iterator[str]:
        """The pipes, sockets and devices; by their kinds in the folders' lists, so nothing is asked of a file itself."""
        pending, seen = [str(self.project)], 0
        while pending and seen <= MOST_FILES:
            try:
                with os.scandir(pending.pop()) as entries:
                    for entry in entries:
                        seen += 1
                        if entry.is_dir(follow_symlinks=False):
                            pending += [entry.path] if entry.name not in _CACHES else []
                        elif not entry.is_file(follow_symlinks=False) and not entry.is_symlink():
                            yield entry.path
            except OSError:
                continue

    def _listed(self) -> list[str] | None:
        """What ripgrep lists; None when it can't."""
        try:
            done = subprocess.run(
                (str(self.rg), *FILES_OF, str(self.project)),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=_LOOK_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]
