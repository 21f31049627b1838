"""Files of the lab: how each of them is read, and how those that are replaced are written.

    a name ──bytes_of──▶ what it holds, or an `OSError` that says why not: a pipe or a device is not waited for, and nothing without end is read
    bytes ──replace──▶ the file, whole or as it was; nothing is left beside it

Whoever reads adds which file it was and what to do about it. What is in there may be anything: `REFUSALS` is what `msgspec` raises for what it can't read.
"""

import errno
import os
import stat
from pathlib import Path

from trimtab.sessions.lenient import REFUSALS as REFUSALS

MOST = 1 << 31
"""Bytes of the largest file that is read."""


def bytes_of(path: Path, *, most: int = MOST) -> bytes:
    """Return the bytes of a file. Raises `FileNotFoundError` where there is none, and `OSError` for what is no regular file, or larger than `most` bytes."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # else a pipe waits for a writer
    except ValueError as problem:  # a name with a NUL in it
        raise OSError(errno.EINVAL, str(problem)) from problem
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(errno.EINVAL, "it is no regular file")
    with os.fdopen(number, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes")
    return data


def replace(path: Path, data: bytes) -> None:
    """Write a file as a whole, or not at all. Raises `OSError`."""
    new = path.with_name(f".{path.name}.new")
    new.unlink(missing_ok=True)  # of a run that was killed, or no file at all
    try:
        with new.open("xb") as file:
            file.write(data)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
