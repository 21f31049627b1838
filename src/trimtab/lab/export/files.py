"""Files of rows: JSON Lines, written row by row and read row by row, so that no file has to fit into memory.

rows ──write_rows──▶ FILE.part ──all of them there──▶ FILE (`.gz` is packed)          FILE ──read_rows──▶ rows, or what is wrong: line, field, why
"""

import gzip
import io
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, cast

import msgspec

from trimtab.lab.export.row import SnapshotRow, why_wrong
from trimtab.types.errors import TrimtabError

_DECODER = msgspec.json.Decoder(SnapshotRow)
_HINT = "every line is one row; docs/gpu-training.md describes its fields"


class BadRow(TrimtabError):
    """A line that is no row. `line` counts from 1; `field` is the path of the field that is wrong, empty where the whole line is."""

    def __init__(self, file: str, line: int, field: str, why: str) -> None:
        where = f"{file}, line {line}" + (f", {field}" if field else "")
        super().__init__(f"{where}: {why}", hint=_HINT)
        self.line, self.field = line, field


class RowFile:
    """A file that rows are written into, one after the other, as they are made. It appears under its name when it is closed without an error; until then, and after one, what was there stays.

    Equal rows give equal bytes, packed ones (`.gz`) too. A context manager; `count` is how many rows there are.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.count = path, 0
        self._part = path.with_name(path.name + ".part")
        self._encoder = msgspec.json.Encoder(order="deterministic")
        self._stack = ExitStack()
        self._file: IO[bytes] | None = None

    def __enter__(self) -> "RowFile":
        self._file = _opened(self._stack, self._part, packed=self.path.suffix == ".gz")
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._stack.close()
        if kind is None:
            os.replace(self._part, self.path)
        else:
            self._part.unlink(missing_ok=True)

    def write(self, row: SnapshotRow) -> None:
        """Write a row. Raises `BadRow` for one that contradicts itself."""
        if self._file is None:
            raise RuntimeError("open the file first: with RowFile(path) as file")
        if (problem := why_wrong(row)) is not None:
            raise BadRow(self.path.name, self.count + 1, *problem)
        self._file.write(self._encoder.encode(row) + b"\n")
        self.count += 1


def write_rows(path: Path, rows: Iterable[SnapshotRow]) -> int:
    """Write rows and return how many there were. Raises `BadRow`; then the file is as it was."""
    with RowFile(path) as file:
        for row in rows:
            file.write(row)
    return file.count


def read_rows(path: Path) -> Iterator[SnapshotRow]:
    """Yield the rows of a file, each when it is asked for. Empty lines are overlooked. Raises `BadRow`."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        for number, line in enumerate(cast(IO[bytes], file), 1):
            if line.strip():
                yield _row(path.name, number, line)


def _opened(stack: ExitStack, path: Path, *, packed: bool) -> IO[bytes]:
    raw = stack.enter_context(path.open("wb"))
    if not packed:
        return stack.enter_context(io.BufferedWriter(cast(io.RawIOBase, raw)))
    # Without a name and a time in its head, equal rows give equal bytes here too.
    return cast(IO[bytes], stack.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)))


def _row(file: str, number: int, line: bytes) -> SnapshotRow:
    try:
        row = _DECODER.decode(line)
    except msgspec.ValidationError as problem:
        why, _, place = str(problem).partition(" - at `$")
        raise BadRow(file, number, place.rstrip("`").lstrip("."), why) from problem
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise BadRow(file, number, "", f"is no JSON: {problem}") from problem
    if (wrong := why_wrong(row)) is not None:
        raise BadRow(file, number, *wrong)
    return row
