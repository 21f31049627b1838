"""Opening and saving regular files without ever blocking and without ever losing the old content.

`open_regular` refuses folders, pipes, sockets and devices before it opens them. `save` writes a temporary file beside the
target, syncs it and renames it: a reader sees the old or the new content, and a full disk leaves the old. Symbolic links are
followed and kept; mode and owner are kept. The exception: a file with several hard links, or in a folder where no file may be
made, is written in place after its room on disk is reserved, since a rename would tear the links apart.
"""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

from trimtab.coding.tools.failures import ToolFailure, os_failure
from trimtab.coding.tools.paths import missing, shown_name

_KINDS = (
    (stat.S_ISDIR, "a folder; use ls"),
    (stat.S_ISFIFO, "a named pipe, not a regular file"),
    (stat.S_ISCHR, "a character device, not a regular file"),
    (stat.S_ISBLK, "a block device, not a regular file"),
    (stat.S_ISSOCK, "a socket, not a regular file"),
)
_RENAME_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV}


@contextmanager
def open_regular(path: Path, shown: str) -> Iterator[tuple[FileIO, os.stat_result]]:
    """Open a regular file for reading, with its status. Raises `ToolFailure` for anything else; never blocks."""
    regular(path, shown)
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    try:
        with open(os.open(path, flags), "rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            _refuse_odd(status, shown)
            yield file, status
    except OSError as error:
        raise ToolFailure(os_failure(error, shown)) from error


def regular(path: Path, shown: str) -> os.stat_result:
    """Return the status of a regular file, links followed. Raises `ToolFailure` when it is missing or something else."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        if path.is_symlink():
            raise ToolFailure(
                f"{shown}: a symbolic link to {shown_name(os.readlink(path))}, which isn't there"
            ) from None
        raise missing(path, shown) from None
    except OSError as error:
        raise ToolFailure(os_failure(error, shown)) from error
    _refuse_odd(status, shown)
    return status


def writable(path: Path, shown: str) -> os.stat_result | None:
    """Return the status of the file to be written, None when it is new. Raises `ToolFailure` when it can't be written."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ToolFailure(os_failure(error, shown)) from error
    _refuse_odd(status, shown)
    if not os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise ToolFailure(f"{shown}: the file is write-protected; change its mode first if it is meant to be changed")
    return status


def save(path: Path, data: bytes, *, shown: str, before: os.stat_result | None) -> None:
    """Put `data` into the file, durably. `before` is its status when its old content was read, None for a new file.

    Raises `ToolFailure` when the file has changed since `before`, or can't be written; the old content is then intact.
    """
    target = Path(os.path.realpath(path))
    try:
        if before is None:
            target.parent.mkdir(parents=True, exist_ok=True)
        _same(target, before, shown)
        if before is not None and before.st_nlink > 1:
            _write_in_place(target, data)
            return
        try:
            _swap_in(target, data, before)
        except OSError as error:
            if before is None or error.errno not in _RENAME_REFUSED:
                raise
            _write_in_place(target, data)
    except OSError as error:
        raise ToolFailure(os_failure(error, shown)) from error


def _same(target: Path, before: os.stat_result | None, shown: str) -> None:
    try:
        now = os.stat(target)
    except FileNotFoundError:
        now = None
    if _version(now) != _version(before):
        raise ToolFailure(f"{shown}: changed on disk at this very moment; nothing was written. Try again")


def _version(status: os.stat_result | None) -> tuple[int, int, int] | None:
    return (status.st_ino, status.st_size, status.st_mtime_ns) if status else None


def _swap_in(target: Path, data: bytes, before: os.stat_result | None) -> None:
    temporary = target.with_name(f".trimtab-{secrets.token_hex(8)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        try:
            _write_all(descriptor, data)
            if before is not None:
                if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                    os.fchown(descriptor, before.st_uid, before.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(target.parent)


def _write_in_place(target: Path, data: bytes) -> None:
    descriptor = os.open(target, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        size = os.fstat(descriptor).st_size
        if len(data) > size and hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(descriptor, 0, len(data))
            except OSError:
                os.ftruncate(descriptor, size)
                raise
        _write_all(descriptor, data)
        os.ftruncate(descriptor, len(data))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # some file systems can't sync a folder; the content itself is synced
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _refuse_odd(status: os.stat_result, shown: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = next((words for test, words in _KINDS if test(status.st_mode)), "not a regular file")
        raise ToolFailure(f"{shown} is {kind}")
