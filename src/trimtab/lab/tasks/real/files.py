"""Reading the files of published benchmarks: JSON, or JSON lines, packed or not. A line that can't be read is left out; a file that can't be, or is another one, is told.

FOLDER ──read_once──▶ what a family knows of its files, or `UsageError`
"""

import errno
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from trimtab.lab.files import bytes_of
from trimtab.types.errors import UsageError

T = TypeVar("T")
_MOST = 1 << 30
"""Bytes of the longest published file, unpacked: the longest that there is has a tenth of it."""
_NEXT = "Put the published files there, or take these away: a family without its files is left out."


def text_of(path: Path) -> str:
    """Return the text of a file, unpacked where its name ends in `.gz`. Raises `UsageError` for one that can't be read."""
    try:
        data = bytes_of(path)
        return (_unpacked(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")
    except (OSError, EOFError, zlib.error) as problem:
        raise UsageError(f"{str(path)!r} can't be read: {problem}", hint=_NEXT) from problem


def _unpacked(data: bytes) -> bytes:
    """What a gzip file holds, as far as a file may be long."""
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        found = file.read(_MOST + 1)
    if len(found) > _MOST:
        raise OSError(errno.EFBIG, f"it holds more than {_MOST:,} bytes")
    return found


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON lines."""
    for line in text_of(path).splitlines():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row


def read_once(read: Callable[[Path], T]) -> Callable[[Path], T]:
    """Wrap what reads the files of a family in a folder: it is called once for each folder, and files that aren't in the shape it reads are told as `UsageError`."""

    @cache
    def reading(folder: Path) -> T:
        try:
            return read(folder)
        except (LookupError, TypeError, AttributeError, ValueError, RecursionError) as problem:
            family = read.__module__.rpartition(".")[2]
            found = f"{type(problem).__name__}: {problem}"
            raise UsageError(
                f"files of {family!r} in {str(folder)!r} aren't in their published shape ({found})", hint=_NEXT
            ) from problem

    return reading


def folded(text: str) -> str:
    """Return a text with every run of whitespace as one blank: evidence is often quoted with other line ends than its source has."""
    return " ".join(text.split())
