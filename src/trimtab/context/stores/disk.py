"""The few things done to a disk, and how their failures read.

`Disk` is a port so that tests can let a write fail half-way; `disk` is the real one. Every `OSError` that a user can do something
about leaves as a `StoreError` or `SessionError` that names the path and the next step.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from trimtab.context.stores.private import make_private
from trimtab.types.errors import SessionError, StoreError

_HINTS = {
    errno.ENOSPC: "the disk is full: free some space, or set TRIMTAB_HOME to a folder on another disk",
    errno.EDQUOT: "the disk quota is used up: free some space, or set TRIMTAB_HOME to a folder on another disk",
    errno.EROFS: "the file system is read-only: set TRIMTAB_HOME to a folder you may write, or use --no-session",
    errno.EACCES: "no permission: set TRIMTAB_HOME to a folder you may write, or use --no-session",
    errno.EPERM: "no permission: set TRIMTAB_HOME to a folder you may write, or use --no-session",
    errno.EIO: "the disk reports an error: check it, and copy what matters to another one",
}


class Disk(Protocol):
    """An append-only way to a file."""

    def open(self, path: Path, *, create: bool) -> int:
        """Open for appending and return a descriptor; `create` makes a new file and fails if there is one."""
        ...

    def write(self, fd: int, data: bytes) -> int:
        """Write some of `data`, return how many bytes."""
        ...

    def sync(self, fd: int) -> None:
        """Return when everything written is on the medium."""
        ...


class _RealDisk:
    def open(self, path: Path, *, create: bool) -> int:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | (os.O_CREAT | os.O_EXCL if create else 0)
        return os.open(path, flags, 0o600)

    def write(self, fd: int, data: bytes) -> int:
        return os.write(fd, data)

    def sync(self, fd: int) -> None:
        os.fsync(fd)


disk: Disk = _RealDisk()


def write_all(disk: Disk, fd: int, data: bytes) -> None:
    """Write `data` to its last byte and return when it is on the medium."""
    view = memoryview(data)
    while view:
        view = view[disk.write(fd, bytes(view)) :]
    disk.sync(fd)


def timestamp(moment: datetime) -> str:
    """Return RFC 3339 in UTC with milliseconds, as every entry has it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def store_error(path: Path, exc: OSError) -> StoreError:
    """Return what a user should read about a disk that refused."""
    hint = _HINTS.get(exc.errno or 0, "check the disk, or use --no-session to work without a file")
    return StoreError(f"can't write {str(path)!r}: {exc.strerror or exc}", hint=hint)


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Turn an `OSError` into a `StoreError` about `path`."""
    try:
        yield
    except OSError as exc:
        raise store_error(path, exc) from exc


def require_file(path: Path) -> None:
    """Raise `SessionError` unless `path` is a regular file."""
    try:
        mode = path.stat().st_mode
    except OSError as exc:
        hint = "`trimtab sessions list` (in a talk: /resume) shows what there is"
        raise SessionError(f"can't read session {str(path)!r}: {exc.strerror or exc}", hint=hint) from exc
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise SessionError(f"{str(path)!r} is {kind}", hint="give the path of a session file (.jsonl)")


def read_session_bytes(path: Path) -> bytes:
    """Return the bytes of a session file. Raises `SessionError` for a folder, a pipe, a missing or unreadable file."""
    require_file(path)
    try:
        return path.read_bytes()
    except OSError as exc:
        hint = "check who may read it"
        raise SessionError(f"can't read session {str(path)!r}: {exc.strerror or exc}", hint=hint) from exc


def make_folder(folder: Path) -> None:
    """Make a folder, readable only by its owner, with its parents. Raises `StoreError`."""
    with store_errors(folder):
        make_private(folder)


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable, where the platform can."""
    with suppress(OSError):
        fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
