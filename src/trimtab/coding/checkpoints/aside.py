"""Files of which no copy is kept, moved away instead of removed: a large file that a turn made comes back with `/redo`.

PATH ──rename (another disk: copy, up to 1 GiB)──▶ FOLDER/KEY, by size, time and number ──▶ back again

The one rule: a file is at its old place or here, whole, at every moment.
"""

import errno
import hashlib
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from trimtab.coding.checkpoints.states import FileState
from trimtab.context.stores.private import make_private
from trimtab.types.errors import StoreError

MOST_COPIED = 1 << 30
"""Bytes of a file that is copied to another disk; a larger one stays where it is."""
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Aside:
    """Files under `folder`. Touches the disk: use it in a thread."""

    folder: Path

    def take(self, at: int, name: str, state: FileState) -> None:
        """Move the file `name` of the open folder `at` here. Raises `OSError`, or `StoreError` when it has to stay."""
        make_private(self.folder)
        here = self._path(state)
        if os.path.lexists(here):
            raise StoreError("a file like it was moved away before and not brought back")
        try:
            os.rename(name, here, src_dir_fd=at)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            self._take_copy(at, name, here)

    def bring(self, at: int, name: str, state: FileState) -> None:
        """Move it back as `name`, over what stands there. Raises `OSError`; `StoreError` when it isn't here."""
        here = self._path(state)
        if not self.holds(state):
            raise StoreError(no_copy(state))
        try:
            os.rename(here, name, dst_dir_fd=at)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            beside = f".{secrets.token_hex(8)}.tmp"
            source = os.open(here, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            _copied(source, beside, at)
            os.rename(beside, name, src_dir_fd=at, dst_dir_fd=at)
            here.unlink()

    def holds(self, state: FileState) -> bool:
        """Whether a file in that state lies here."""
        return self._path(state).is_file()

    def _path(self, state: FileState) -> Path:
        return self.folder / hashlib.sha256(state.content.encode()).hexdigest()[:40]

    def _take_copy(self, at: int, name: str, here: Path) -> None:
        source = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
        if os.fstat(source).st_size > MOST_COPIED:
            os.close(source)
            raise StoreError(f"it is too large to be copied to {self.folder}, which is on another disk")
        into = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _copied(source, here.name, into)
        finally:
            os.close(into)
        os.unlink(name, dir_fd=at)


def no_copy(state: FileState) -> str:
    """Why a file isn't here that should be."""
    why = "it couldn't be read" if state.unread else "it is larger than 16 MiB"
    return f"no copy of how it was is kept: {why}"


def _copied(source: int, name: str, at: int) -> None:
    """Copy an open file, with mode and time, durably. Closes it."""
    try:
        facts = os.fstat(source)
        target = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=at)
        try:
            with open(target, "wb", buffering=0) as file:
                while piece := os.read(source, _PIECE):
                    file.write(piece)
                os.fchmod(target, facts.st_mode & 0o7777)
                os.utime(target, ns=(facts.st_atime_ns, facts.st_mtime_ns))
                os.fsync(target)
        except BaseException:
            with suppress(OSError):
                os.unlink(name, dir_fd=at)
            raise
    finally:
        os.close(source)
