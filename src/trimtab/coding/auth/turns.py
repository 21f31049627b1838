"""One after the other, among tasks and processes: who renews a token holds a lock file while it asks.

Waiting for a file lock is polling (nobody announces one); the kernel frees it when its process dies. The file stays and holds nothing.
"""

import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from trimtab.context.stores.private import make_private

_TRY_EVERY_S = 0.05


@asynccontextmanager
async def my_turn(path: Path, *, patience_s: float) -> AsyncIterator[None]:
    """Hold the lock file `path`. Raises `OSError` when it can't be made, `TimeoutError` when nobody lets go of it in that time."""
    make_private(path.parent)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with anyio.fail_after(patience_s):
            while not _taken(fd):  # noqa: ASYNC110 - nobody announces that a lock is free
                await anyio.sleep(_TRY_EVERY_S)
        yield
    finally:
        os.close(fd)


def _taken(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
