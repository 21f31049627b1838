"""Files that a check takes as they were before the turn, whatever the turn did to them.

    turn begins ──globs──▶ copies of the files that fit ──turn ends──▶ what became of them ──▶ a copy of the project with the old ones put back

The one rule: the project itself is never touched for a check, so a kill in the middle of one leaves nothing half restored.
"""

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trimtab.coding.tools.glob import compile_glob

_SKIPPED = frozenset({".git"})


@dataclass(frozen=True, slots=True)
class _Kept:
    """One file as it was: content hash, mode, and the copy of its bytes."""

    sha256: str
    mode: int
    copy: Path


@dataclass(slots=True)
class Protected:
    """The files under `project` that fit one of `globs`, as they were when `take` ran. Touches the disk: use it in a thread."""

    project: Path
    globs: Sequence[str]
    _folder: tempfile.TemporaryDirectory[str] | None = None
    _kept: dict[str, _Kept] = field(default_factory=dict)

    def take(self) -> None:
        """Keep the files as they are now, instead of what was kept before. Raises `OSError`."""
        self.close()
        if not self.globs:
            return
        self._folder = tempfile.TemporaryDirectory(prefix="trimtab-protected-")
        for number, path in enumerate(self._files()):
            copy = Path(self._folder.name) / str(number)
            shutil.copyfile(self.project / path, copy)
            mode = stat.S_IMODE(os.stat(self.project / path).st_mode)
            self._kept[path] = _Kept(_hash(copy), mode, copy)

    def changed(self) -> tuple[str, ...]:
        """What isn't as it was, in words: `tests/test_a.py was deleted`."""
        now = set(self._files()) if self.globs else set()
        words = {
            **{path: "was deleted" for path in self._kept if path not in now},
            **{path: "was added" for path in now if path not in self._kept},
            **{p: "was changed" for p, k in self._kept.items() if p in now and _hash(self.project / p) != k.sha256},
        }
        return tuple(f"{path} {what}" for path, what in sorted(words.items()))

    def copy_into(self, folder: Path) -> Path:
        """Copy the project into `folder`, with these files as they were, and return where it is. Raises `OSError`."""
        copy = folder / (self.project.name or "project")
        shutil.copytree(self.project, copy, symlinks=True, ignore_dangling_symlinks=True, ignore=_special_files)
        added = [path for path in Protected(copy, self.globs)._files() if path not in self._kept]
        for path in added:
            (copy / path).unlink()
        for path, kept in self._kept.items():
            there = copy / path
            _make_room(there, copy)
            shutil.copyfile(kept.copy, there)
            there.chmod(kept.mode)
        return copy

    def close(self) -> None:
        """Forget what was kept."""
        self._kept.clear()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _files(self) -> Iterator[str]:
        """Regular files that fit a glob, relative, with `/`; links aren't followed."""
        fits = [compile_glob(glob) for glob in self.globs]
        for folder, folders, names in os.walk(self.project):
            folders[:] = sorted(set(folders) - _SKIPPED)
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), self.project).replace(os.sep, "/")
                if any(fit(path) for fit in fits) and _is_regular(self.project / path):
                    yield path


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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


def _special_files(folder: str, names: list[str]) -> set[str]:
    """Those of `names` that are no file, folder or link: they can't be copied."""
    special: set[str] = set()
    for name in names:
        try:
            mode = os.lstat(os.path.join(folder, name)).st_mode
        except OSError:
            special.add(name)
            continue
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
            special.add(name)
    return special
