"""What a turn changed in the project: what the tools say they wrote, and what else is different from when it began.

    turn begins ──walk──▶ size and time of every file ──turn ends──▶ the same again ──▶ any difference?

What belongs to git and to caches of tools isn't looked at: running the tests is no change.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import anyio

from trimtab.coding.changes import ChangeRecorder

_CACHES = frozenset(
    {
        *(".git", ".hg", ".svn", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"),
        *("node_modules", ".venv", "venv", ".tox", ".nox", ".cache", ".gradle", ".idea", ".vscode", ".trimtab"),
    }
)
_CACHED_FILES = frozenset({".coverage", ".DS_Store"})
MOST = 200_000
"""Files that are looked at; of a larger project everything counts as changed."""

_Mark: TypeAlias = dict[str, tuple[int, int, int]]
"""By path: size in bytes, time of the last change in ns, inode."""


@dataclass(slots=True)
class TurnChanges:
    """Looks at the files of `project` from the beginning of a turn on."""

    recorder: ChangeRecorder
    project: Path
    _before: _Mark | None = None
    _seen: int = 0
    _diffs: list[tuple[str, str]] = field(default_factory=list)

    async def begin_turn(self) -> None:
        """Remember how everything is now."""
        self._seen = len(self.recorder.written)
        self._before = await anyio.to_thread.run_sync(_mark, self.project)

    async def changed(self) -> bool:
        """Whether anything is different since."""
        if len(self.recorder.written) > self._seen:
            return True
        now = await anyio.to_thread.run_sync(_mark, self.project)
        return now is None or now != self._before

    @property
    def diffs(self) -> Sequence[tuple[str, str]]:
        """What the tools wrote in this turn, in order."""
        return self.recorder.written[self._seen :]


def _mark(project: Path) -> _Mark | None:
    """How every file is; None when there are too many."""
    found: _Mark = {}
    for folder, folders, names in os.walk(project):
        folders[:] = [name for name in folders if name not in _CACHES]
        for name in names:
            if name in _CACHED_FILES:
                continue
            path = os.path.join(folder, name)
            try:
                facts = os.lstat(path)
            except OSError:
                continue
            found[path] = (facts.st_size, facts.st_mtime_ns, facts.st_ino)
            if len(found) > MOST:
                return None
    return found
