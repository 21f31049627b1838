"""Where an importer reads: a file or bytes, plain or gzip, as lines or as one document.

A file is read once and never held as a whole unless its format is one JSON document. Damage is counted, not raised: a cut archive
ends early, a line that can't be read is skipped. The one error is `ImportFailed`.
"""

import errno
import io
import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from trimtab.sessions.lenient import REFUSALS, document, salvage
from trimtab.types.errors import SessionError

HEAD = 256 * 1024
"""Bytes that are enough to tell a format."""

_LONGEST = 1 << 26
"""Bytes of the longest first line that is looked at: a person may begin with a large paste."""
_LONGEST_LINE = 1 << 28
"""Bytes of a line that no session of anybody has: a longer one is passed over, as damage. A small archive may hold one that fills the memory."""
_MOST = 1 << 31
"""Bytes of the largest document, or session of ours, that is read into memory."""
_GZIP = b"\x1f\x8b"
_MEMBER = 16 + zlib.MAX_WBITS
_CHUNK = 1 << 18

T = TypeVar("T")


class ImportFailed(SessionError):
    """A file can't be read as a session of any agent, or not as the one that was asked for."""


class Source:
    """One file or some bytes. `bad_lines` grows while it is read."""

    def __init__(self, origin: Path | str | bytes, *, name: str = "") -> None:
        self.path = None if isinstance(origin, bytes) else Path(origin)
        self.name = name or (str(origin) if self.path is not None else "")
        self.bad_lines = 0
        self.cut = False
        """Whether an archive ended too early."""
        self._bytes = origin if isinstance(origin, bytes) else b""

    def head(self) -> bytes:
        """Return the first bytes, unpacked, and the whole first line where that is longer. Raises `ImportFailed`."""
        with self._open() as file:
            try:
                head = file.read(HEAD)
                if len(head) < HEAD or b"\n" in head:
                    return head
                rest = file.readline(_LONGEST)
            except OSError as exc:
                raise self._refusal(exc) from exc
        return head + rest if rest.endswith(b"\n") else head

    def data(self) -> bytes:
        """Return everything, unpacked. Raises `ImportFailed`."""
        with self._open() as file:
            try:
                data = file.read(_MOST + 1)
            except OSError as exc:
                raise self._refusal(exc) from exc
        if len(data) > _MOST:
            why = f"it has more than {_MOST >> 30} GB, which nobody reads at once"
            raise ImportFailed(f"can't read {self.name!r}: {why}", hint="give the path of a session file or folder")
        return data

    def records(self, kind: type[T]) -> Iterator[T]:
        """Return each line as a `kind`, a struct of optional fields that may have any type. Raises `ImportFailed`."""
        return self._read_records(self._lines(), kind)

    def values(self) -> list[Any]:
        """Return the one JSON value of a document, or the values of its lines. Raises `ImportFailed`."""
        data = self.data().lstrip(b"\xef\xbb\xbf \t\r\n")
        try:
            return [msgspec.json.decode(data)]
        except REFUSALS:
            pass
        if holds_lines(data):
            return list(self._read_records(io.BytesIO(data), dict[str, Any]))
        value, repaired = document(data)
        self.bad_lines += repaired
        return [value] if value is not None else []

    def _read_records(self, lines: Iterable[bytes], kind: type[T]) -> Iterator[T]:
        decode = msgspec.json.Decoder(kind).decode
        for line in lines:
            try:
                yield decode(line)
            except REFUSALS:
                if line.strip():
                    self.bad_lines += 1
                    yield from (msgspec.convert(found, kind) for found in salvage(line))

    def _lines(self) -> Iterator[bytes]:
        with self._open() as file:
            try:
                while line := file.readline(_LONGEST_LINE):
                    if len(line) < _LONGEST_LINE or line.endswith(b"\n"):
                        yield line
                        continue
                    self.bad_lines += 1
                    while (rest := file.readline(_LONGEST_LINE)) and not rest.endswith(b"\n"):
                        pass
            except OSError as exc:
                raise self._refusal(exc) from exc

    def _open(self) -> IO[bytes]:
        try:
            file = _regular(self.path) if self.path is not None else io.BytesIO(self._bytes)
            packed = file.read(len(_GZIP)) == _GZIP
            file.seek(0)
        except (OSError, ValueError) as exc:  # a name with a NUL in it is a ValueError
            raise self._refusal(exc) from exc
        return io.BufferedReader(_Unpacked(file, self), _CHUNK) if packed else file

    def _refusal(self, exc: OSError | ValueError) -> ImportFailed:
        why = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
        return ImportFailed(f"can't read {self.name!r}: {why}", hint="give the path of a session file or folder")


def _regular(path: Path) -> IO[bytes]:
    """Open a file. What is none (a pipe, a device, a socket) may never end, and can't be read twice: an `OSError` says what to do instead."""
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")  # else a pipe waits for a writer
    kind = os.fstat(file.fileno()).st_mode
    if stat.S_ISREG(kind):
        return file
    file.close()
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise OSError(errno.EINVAL, "it is a pipe or a device and no regular file; send it through standard input, as -")


class _Unpacked(io.RawIOBase):
    """The content of a gzip file, to its end or to where it is damaged: what was unpacked until then is given out."""

    def __init__(self, file: IO[bytes], source: Source) -> None:
        self._file = file
        self._source = source
        self._member = zlib.decompressobj(_MEMBER)
        self._over = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        room = memoryview(buffer)
        data = b""
        while not data and not self._over:
            data = self._unpack(len(room))
        room[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()

    def _unpack(self, size: int) -> bytes:
        if self._member.eof:
            rest = self._member.unused_data.lstrip(b"\0") or self._file.read(_CHUNK)
            self._over = not rest
            self._member = zlib.decompressobj(_MEMBER)
        else:
            rest = self._member.unconsumed_tail or self._file.read(_CHUNK)
            self._over = self._source.cut = not rest
        try:
            return self._member.decompress(rest, size)
        except zlib.error:
            self._over = self._source.cut = True
            return b""


def holds_lines(data: bytes) -> bool:
    """Say whether these are JSON lines rather than one document: the first line is a record, or can be made one."""
    first, found, rest = data.partition(b"\n")
    try:
        return isinstance(msgspec.json.decode(first), dict) and bool(found)
    except REFUSALS:
        return bool(found) and rest.lstrip()[:1] == b"{" and first[:1] == b"{" and bool(salvage(first))
