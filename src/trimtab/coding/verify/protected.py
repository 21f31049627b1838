"""Files that a check takes as the person left them, whatever a turn did to them.

    a turn begins, ends ──a look──▶ Baseline, kept with the session ──check──▶ what became of them ──▶ put back in a copy of the project

The one rule: the project itself is never touched for a check, so a kill in the middle of one leaves nothing half restored.
"""

import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from trimtab.coding.checkpoints.store import ContentStore
from trimtab.coding.verify.baseline import (
    Baseline,
    Files,
    Kept,
    baseline_in,
    differences,
    entry_of,
    fitting,
    next_baseline,
)
from trimtab.context.stores.log import SessionLog

_SKIPPED = frozenset({".git"})
_MOST_BYTES = 64 << 20
"""Of a file that is kept; of a larger one only the hash is."""
_UNREAD, _LINK = "unread", "link:"

_Facts: TypeAlias = tuple[int, int, int, int, int]


@dataclass(slots=True)
class Protected:
    """The files under `folder` that fit one of `globs`. What is known of them stands in `log`, their contents in `store`. Touches the disk: use it in a thread."""

    folder: Path
    globs: Sequence[str]
    log: SessionLog
    store: ContentStore
    _base: Baseline | None = None
    _loaded: bool = False
    _known: dict[str, tuple[_Facts, Kept]] = field(default_factory=dict)

    def begin_turn(self) -> None:
        """A turn begins: what was changed since the last one is the person's. Raises `StoreError`."""
        if self.globs:
            self._become(next_baseline(self._before(), self._look(), self.globs, opens=True))

    def resume_turn(self) -> None:
        """A turn that waited for the person goes on. Where nobody saw it begin, nothing is protected in it. Raises `StoreError`."""
        if self._before() is not None:
            self.begin_turn()

    def end_turn(self) -> None:
        """A turn has ended: what it left is the agent's. Raises `StoreError`."""
        before = self._before()
        if self.globs and before is not None and before.open:
            self._become(Baseline(before.old, self._look(), before.globs))

    def between(self) -> None:
        """No turn runs: what was changed since the last one is the person's. Raises `StoreError`."""
        if self.globs:
            self._become(next_baseline(self._before(), self._look(), self.globs, opens=False))

    def accept(self) -> tuple[str, ...]:
        """Take the files as they are from now on; return what that changes, in words. Raises `StoreError`."""
        accepted, now = self.changed(), self._look()
        if self.globs:
            self._become(Baseline(now, now, tuple(self.globs)))
        return accepted

    def changed(self) -> tuple[str, ...]:
        """What isn't as it was, in words: `tests/test_a.py was deleted`. Raises `StoreError`."""
        before = self._before()
        return differences(before.old, self._look()) if self.globs and before is not None else ()

    def fitting(self) -> Callable[[str], bool]:
        """A predicate on real paths: whether one below `folder` fits a glob."""
        fits, below = fitting(self.globs), f"{self.folder}{os.sep}"
        return lambda path: path.startswith(below) and fits(_relative(path, self.folder))

    def put_back(self, folder: Path, *, within: Path) -> None:
        """Write the files as they were into `folder`, which is in `within`, a copy of the project without them. Raises `OSError` and `StoreError`."""
        before = self._before()
        for path, file in before.old.items() if before is not None else ():
            there = folder / path
            _make_room(there, within)
            if file.content.startswith(_LINK):
                there.symlink_to(file.content.removeprefix(_LINK))
                continue
            if not file.kept:
                raise OSError(f"{path} can't be put back as it was: it is too large, or couldn't be read")
            there.write_bytes(self.store.get(file.content))
            there.chmod(file.mode)

    def _before(self) -> Baseline | None:
        if not self._loaded:
            self._base, self._loaded = baseline_in(entry.value for entry in self.log.archive), True
        return self._base

    def _become(self, after: Baseline) -> None:
        before = self._before()
        if after != before:
            self.log.append([entry_of(before, after)])
            self._base = after

    def _look(self) -> Files:
        """Files and links that fit a glob, as they are; no link is followed."""
        found = {path: known for path in self._files() if (known := self._state(path)) is not None}
        self._known = found
        return {path: kept for path, (_, kept) in found.items()}

    def _state(self, path: str) -> tuple[_Facts, Kept] | None:
        full = self.folder / path
        try:
            facts = os.lstat(full)
        except OSError:
            return None
        mark = (facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino, facts.st_mode)
        if stat.S_ISLNK(facts.st_mode):
            return mark, Kept(_LINK + os.readlink(full), 0)
        if not stat.S_ISREG(facts.st_mode):
            return None
        known = self._known.get(path)
        if known is not None and known[0] == mark:
            return known
        mode = stat.S_IMODE(facts.st_mode)
        try:
            with full.open("rb") as file:
                if facts.st_size > _MOST_BYTES:
                    return mark, Kept(hashlib.file_digest(file, "sha256").hexdigest(), mode, kept=False)
                data = file.read(_MOST_BYTES + 1)
        except OSError:
            return mark, Kept(_UNREAD, mode, kept=False)
        return mark, Kept(self.store.put(data), mode)

    def _files(self) -> Iterator[str]:
        fits = fitting(self.globs)
        for folder, folders, names in os.walk(self.folder):
            folders[:] = sorted(set(folders) - _SKIPPED)
            links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
            for name in sorted([*names, *links]):
                path = _relative(os.path.join(folder, name), self.folder)
                if fits(path):
                    yield path


def _relative(path: str, folder: Path) -> str:
    return os.path.relpath(path, folder).replace(os.sep, "/")


def _make_room(path: Path, within: Path) -> None:
    """Make the folders of `path`, also where something that is no folder, or a link that may lead out, took the place of one."""
    for above in reversed([p for p in path.parents if p.is_relative_to(within) and p != within]):
        if above.is_symlink() or (above.exists() and not above.is_dir()):
            above.unlink()
        above.mkdir(exist_ok=True)
    if path.is_symlink():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)
