"""The file that a dump or an export goes to: never one that is being read, and whole or not there.

lines ──▶ a new file beside it ──done──▶ takes its place          a device or pipe is written as it is
                                └─no lines: what was there stays
"""

import os
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from trimtab.types.errors import UsageError

Write = Callable[[bytes], object]


@contextmanager
def dump_file(name: str | None, inputs: Sequence[Path], *, option: str = "--dump ") -> Iterator[Write | None]:
    """Give the function that writes to the file `name`, which `option` named; None where none is wanted. What stood in the file is replaced once all is written, if anything is.

    Raises `UsageError` when the file is one of `inputs`, or when it can't be written.
    """
    if name is None:
        yield None
        return
    path = Path(os.path.realpath(name))
    for given in inputs:
        if _same(path, given):
            raise UsageError(f"{option}{name} is one of the files that are read", hint="Name another file.")
    try:
        file, made = _opened(path)
        try:
            with file:
                yield lambda line: _written(file, line, name)
        except BaseException:
            if made is not None:
                with suppress(OSError):
                    made.unlink()
            raise
        if made is not None and (made.stat().st_size or not path.exists()):
            made.replace(path)
        elif made is not None:
            made.unlink()
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}", hint="Name a file that can be written.") from error


def _opened(path: Path) -> tuple[BinaryIO, Path | None]:
    """The file to write, and its name where it takes the place of `path` at the end."""
    try:
        regular = stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        regular = True
    if not regular:
        return path.open("wb"), None
    handle, made = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    return os.fdopen(handle, "wb"), Path(made)


def _written(file: BinaryIO, line: bytes, name: str) -> None:
    try:
        file.write(line)
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}", hint="Name a file that can be written.") from error


def _same(path: Path, given: Path) -> bool:
    try:
        return path.samefile(given)
    except OSError:
        return False
