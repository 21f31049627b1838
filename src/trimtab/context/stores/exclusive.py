"""A lock for as long as one small write takes, among threads and processes.

Unlike a session's lock (`lock.py`) it names no owner and outlives nobody: the kernel frees it when its process dies, and its file stays.
"""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from trimtab.context.stores.disk import store_errors
from trimtab.types.errors import StoreError

_TRY_EVERY_S = 0.01


@contextmanager
def exclusive(path: Path, *, patience_s: float = 5.0) -> Iterator[None]:
    """Hold the lock file `path`, whose folder exists. Raises `StoreError` when it can't be made or nobody lets go of it in that time."""
    fd = _opened(path)
    try:
        with suppress(OSError):
            os.fchmod(fd, 0o600)  # where the umask took more away, the next one could not open it
        _flock(fd, path, patience_s)
        yield
    finally:
        os.close(fd)


def _opened(path: Path) -> int:
    """The lock file, made where there is none; nothing that a link leads to, or that would be written to when it is opened."""
    with store_errors(path):
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
        except OSError as e:
            if e.errno != errno.ELOOP:
                raise
            fd = -1
    if fd >= 0 and stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    if fd >= 0:
        os.close(fd)
    raise StoreError(
        f"{str(path)!r} should be a file that keeps writers apart, and is {'a link' if fd < 0 else 'none'}",
        hint="remove it",
    )


def _flock(fd: int, path: Path, patience_s: float) -> None:
    for _ in range(round(patience_s / _TRY_EVERY_S)):
        try:
            with store_errors(path):
                return fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except StoreError as exc:
            if not isinstance(exc.__cause__, BlockingIOError):
                raise
            time.sleep(_TRY_EVERY_S)
    raise StoreError(f"another process keeps {str(path)!r} locked", hint="end it, or try again when it is done")
