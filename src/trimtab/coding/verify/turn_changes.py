"""What a turn changed in the project: what the checkpoints kept, what the tools say they wrote, and what else is different from when it began.

    turn begins ──walk──▶ size and time of every file ──turn ends──▶ the same again ──▶ any difference?
    checkpoints of the turn, diffs of tools, names of the rest ──▶ FileChange by file, for whoever reviews

What belongs to git, to caches of tools and to Trimtab isn't looked at: running the tests is no change.
"""

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import anyio

from trimtab.coding.changed import is_changed
from trimtab.coding.changes import ChangeRecorder
from trimtab.coding.checkpoints.history import Change, history_of
from trimtab.coding.checkpoints.states import state_of
from trimtab.coding.checkpoints.undo import Rewinder
from trimtab.context.stores.log import SessionLog

_CACHES = frozenset(
    {
        *(".git", ".hg", ".svn", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"),
        *("node_modules", ".venv", "venv", ".tox", ".nox", ".cache", ".gradle", ".idea", ".vscode", ".trimtab"),
    }
)
_CACHED_FILES = frozenset({".coverage", ".DS_Store"})
MOST = 200_000
"""Files that are looked at; of a larger project everything counts as changed."""
_MOST_NAMED = 200
"""Files of which nothing but the name is known, that are told."""

_Mark: TypeAlias = dict[str, tuple[int, int, int]]
"""By path: size in bytes, time of the last change in ns, inode."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file: its diff, or a line that says why there is none; `was` and `now` its text before and after (empty: it wasn't, or isn't there), None where it isn't known."""

    path: str
    diff: str
    was: str | None = None
    now: str | None = None
    gone: bool = False


@dataclass(slots=True)
class TurnChanges:
    """Looks at the files of `root` (a real path: the repository, or the folder where one works) from the beginning of a turn on. `own`: files and folders that are Trimtab's."""

    recorder: ChangeRecorder
    root: Path
    log: SessionLog
    rewinder: Rewinder | None = None
    own: Collection[str] = ()
    _before: _Mark | None = None
    _began: bool = False
    _seen: int = 0
    _checked: _Mark | None = None

    async def begin_turn(self) -> None:
        """Remember how everything is now."""
        self._seen, self._began, self._checked = len(self.recorder.written), True, None
        self._before = await self._look()

    async def changed(self) -> bool:
        """Whether anything is different since; yes where nobody saw the turn begin."""
        if not self._began or len(self.recorder.written) > self._seen:
            return True
        now = await self._look()
        return now is None or now != self._before

    async def note_checked(self) -> None:
        """Remember how everything is now, which was checked."""
        self._checked = await self._look()

    async def checked(self) -> bool:
        """Whether everything is as it was when it was checked in this turn."""
        return self._checked is not None and self._checked == await self._look()

    async def files(self) -> tuple[FileChange, ...]:
        """What the turn changed (while none runs: the last one), by file. Raises `StoreError`."""
        return await anyio.to_thread.run_sync(self._files)

    async def _look(self) -> _Mark | None:
        return await anyio.to_thread.run_sync(_mark, self.root, frozenset(self.own))

    def _files(self) -> tuple[FileChange, ...]:
        found: dict[str, FileChange | None] = {}
        told: dict[str, list[str]] = {}
        if self.rewinder is not None:
            turns = history_of(self.log.archive).turns
            for path, change in turns[-1].changes.items() if turns else ():
                found[path] = self._of(change, self.rewinder) if is_changed(change) else None
        for path, diff in self.recorder.written[self._seen :]:
            if path not in found:
                told[path] = [*told.get(path, []), diff]
        found |= {path: FileChange(path, "\n".join(diffs)) for path, diffs in told.items()}
        now = _mark(self.root, frozenset(self.own)) if self._before is not None else None
        if now is not None and self._before is not None:
            paths = sorted(p for p in {*now, *self._before} if now.get(p) != self._before.get(p) and p not in found)
            for path in paths[:_MOST_NAMED]:
                what = "deleted" if path not in now else "changed" if path in self._before else "new"
                found[path] = FileChange(path, f"({what}; there is no diff of it)", gone=path not in now)
            if len(paths) > _MOST_NAMED:
                found["…"] = FileChange("…", f"({len(paths) - _MOST_NAMED:,} more files of which there is no diff)")
        return tuple(change for change in found.values() if change is not None)

    def _of(self, change: Change, rewinder: Rewinder) -> FileChange | None:
        now = state_of(change.path, rewinder.store)
        if not is_changed(Change(change.path, change.before, now)):
            return None
        diff = rewinder.diff_of(change) or "(other permissions, or the same content)"
        return FileChange(change.path, diff, rewinder.text_of(change.before), rewinder.text_of(now), now is None)


def _mark(root: Path, own: Collection[str]) -> _Mark | None:
    """How every file is; None when there are too many."""
    found: _Mark = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in _CACHES and os.path.join(folder, name) not in own]
        for name in names:
            path = os.path.join(folder, name)
            if name in _CACHED_FILES or path in own:
                continue
            try:
                facts = os.lstat(path)
            except OSError:
                continue
            found[path] = (facts.st_size, facts.st_mtime_ns, facts.st_ino)
            if len(found) > MOST:
                return None
    return found
