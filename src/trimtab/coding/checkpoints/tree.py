"""The states of all files of a project, so that what a command changed is known although it doesn't say.

rg --files (ignore files obeyed) ──▶ stat each ──same as last time──▶ the state known
                                                 └─ else ──read──▶ content kept
lists of the folders ──▶ which folders there are, which are empty, which links, pipes and sockets

The one rule: two looks are compared only if both were made in the same way, or a file that merely came into view would count as made.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from trimtab.coding.checkpoints.states import FOLDER, MOST_BYTES, FileState, state_of
from trimtab.coding.checkpoints.store import ContentStore
from trimtab.coding.tools.ripgrep import FILES_OF

MOST_FILES = 20_000
MOST_TOTAL = 512 << 20
"""Bytes that are read for one look; a project above either of these isn't looked at."""
_TEMPORARY = re.compile(r"(?:^|/)\.trimtab-[0-9a-f]{16}\.tmp$")
"""What `write` and `edit` make beside a file, for a moment; a call beside them may see it."""
_MOST_ENTRIES = 100_000
"""Names in the folders' lists, ignored ones too; in a project with more, folders aren't followed."""
_LOOK_S = 5
GIT = ".git"
_CACHES = frozenset({GIT, ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache"})
_IN_CACHE = re.compile(rf"/(?:{'|'.join(map(re.escape, sorted(_CACHES)))})/")
"""What an ignore file should name and may not: ripgrep lists it."""

_Facts: TypeAlias = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Tree:
    """Every file that no ignore file names, every folder that is empty or git's own, and the folders around them, by path; numbers of files. `folders`: all that there are (caches
    aside); None when there are too many, and then none is among the states."""

    states: dict[str, FileState]
    numbers: dict[str, int]
    folders: frozenset[str] | None


@dataclass(slots=True)
class _Folders:
    """What the folders' lists say."""

    every: set[str] = field(default_factory=set)
    noted: list[str] = field(default_factory=list)
    """Empty ones, and git's own."""
    with_files: set[str] = field(default_factory=set)
    others: list[str] = field(default_factory=list)
    """Links, pipes, sockets, devices: ripgrep passes over them."""
    whole: bool = True


@dataclass(slots=True)
class ProjectTree:
    """Looks at `project` (a real path). `rg`: ripgrep, where there is one. Touches the disk: use it in a thread."""

    project: Path
    store: ContentStore
    rg: str | None = None
    hopeless: bool = False
    """There is too much to look at."""
    _known: dict[str, tuple[_Facts, FileState]] = field(default_factory=dict)

    def look(self) -> Tree | None:
        """The state of everything; None when there is too much, or it can't be listed in time. Raises `StoreError`."""
        if self.hopeless or (names := self._files()) is None:
            return None
        folders = self._folders()
        ignored = _ignored(folders.with_files, names, str(self.project))
        more = (*folders.others, *(folders.noted if folders.whole else ()))
        paths = [*names, *(path for path in more if not _is_below(path, ignored))]
        with self.store.together():
            found = self._states(paths)
        if found is None:
            self.hopeless = True
            return None
        self._known = found
        states = {path: state for path, (_, state) in found.items()}
        numbers = {path: facts[3] for path, (facts, _) in found.items()}
        if folders.whole:
            states |= dict.fromkeys(_above(states, str(self.project)), FOLDER)
        return Tree(states, numbers, frozenset(folders.every) if folders.whole else None)

    def _states(self, paths: list[str]) -> dict[str, tuple[_Facts, FileState]] | None:
        found: dict[str, tuple[_Facts, FileState]] = {}
        total = 0
        for path in paths:
            try:
                facts = os.lstat(path)
            except OSError:
                continue
            mark = (facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino, facts.st_mode)
            known = self._known.get(path)
            if known is not None and known[0] == mark:
                found[path] = known
                continue
            total += facts.st_size if facts.st_size <= MOST_BYTES else 0  # else it isn't read
            if len(found) >= MOST_FILES or total > MOST_TOTAL:
                return None
            if (state := state_of(path, self.store)) is not None:
                found[path] = (mark, state)
        return found

    def _files(self) -> list[str] | None:
        """The files: as ripgrep lists them, all of them without it; None when it can't."""
        found, below = self._listed() if self.rg else list(self._walked()), len(str(self.project).rstrip("/"))
        if found is None:
            return None
        return [name for name in found if not _TEMPORARY.search(name) and not _IN_CACHE.search(name, below)]

    def _walked(self) -> Iterator[str]:
        for folder, folders, names in os.walk(self.project):
            folders[:] = [name for name in folders if name not in _CACHES]
            yield from (os.path.join(folder, name) for name in names)

    def _folders(self) -> _Folders:
        """By the kinds in the folders' lists, so nothing is asked of a file itself."""
        found, pending, seen = _Folders({str(self.project)}), [str(self.project)], 0
        while pending:
            folder, here = pending.pop(), 0
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        here += 1
                        if entry.is_dir(follow_symlinks=False):
                            if entry.name not in _CACHES:
                                pending.append(entry.path)
                                found.every.add(entry.path)
                            elif entry.name == GIT:
                                found.noted.append(entry.path)
                        elif entry.is_file(follow_symlinks=False):
                            found.with_files.add(folder)
                        else:
                            found.others.append(entry.path)
            except OSError:
                continue
            if not here and folder != str(self.project):
                found.noted.append(folder)
            seen += here
            if seen > _MOST_ENTRIES:
                found.whole = False
                break
        return found

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


def _ignored(with_files: Iterable[str], listed: Iterable[str], project: str) -> set[str]:
    """The folders that hold files, none of which is listed: an ignore file names them, and links and folders in them are as ignored as the files are."""
    around, found = _above(listed, project) | {project}, set[str]()
    for start in with_files:
        folder = start
        while folder not in around and folder not in found:
            found.add(folder)
            folder = os.path.dirname(folder)
    return found


def _is_below(path: str, folders: set[str]) -> bool:
    if not folders:
        return False
    above = os.path.dirname(path)
    while above not in folders and len(above) > 1:
        above = os.path.dirname(above)
    return above in folders


def _above(paths: Iterable[str], project: str) -> set[str]:
    """The folders of the project that are around these paths."""
    found: set[str] = set()
    for path in paths:
        folder = os.path.dirname(path)
        while len(folder) > len(project) and folder not in found:
            found.add(folder)
            folder = os.path.dirname(folder)
    return found
