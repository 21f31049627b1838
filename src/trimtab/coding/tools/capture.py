"""Output of any size in little memory: the head and the tail are kept, the whole goes to a file.

    pipe ──feed──▶ Capture ──(more than head + tail)──▶ spill file, 0600, in a private folder
                      └──finish()──▶ Captured: text for the model, exact counts, the cut

Counts are of the bytes as printed; the text is decoded with replacement marks and cleaned (`terminal.plain`). Nothing
touches the disk until the output outgrows memory or somebody asks for the file. What a result names is kept as long as
the session that holds the result: beside its file; for one without a file, in a temp folder of its own, which the system clears.
"""

import errno
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from trimtab.coding.tools.terminal import plain
from trimtab.context.stores.private import make_private
from trimtab.types.tools import Cut

MAX_FILE_BYTES = 1 << 30
_FLUSH_BYTES = 1 << 20
_TRIES = 100


@dataclass(slots=True)
class PrivateFolder:
    """A folder (mode 0700) made when first needed, and again when it is gone: `path` if given, else a fresh one under the system's temp folder.

    Commands may write in that one, so files are made in the folder that was opened, never by a path that somebody may have turned elsewhere.
    """

    path: Path | None = None
    _ready: bool = False
    _own: bool = False
    """Whether it is one of those under the temp folder."""
    _known: tuple[int, int] | None = None
    """Device and inode of the one that was made."""

    def ensure(self) -> Path:
        """Return the folder, made if need be. Raises `OSError`."""
        with self._opened():
            assert self.path is not None
            return self.path

    def create(self, prefix: str, suffix: str) -> tuple[int, Path]:
        """Make a file with a name that nobody can guess; return its descriptor, which appends, and its path. Raises `OSError`."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        with self._opened() as folder:
            assert self.path is not None
            for _ in range(_TRIES):
                name = f"{prefix}{secrets.token_hex(4)}{suffix}"
                with suppress(FileExistsError):
                    return os.open(name, flags, 0o600, dir_fd=folder), self.path / name
        raise OSError(errno.EEXIST, "no name is free")

    def put(self, name: str, data: bytes) -> Path:
        """Write `data` to the file `name`, durably, in place of what has that name; return its path. Raises `OSError`."""
        fd, made = self.create(".", ".new")
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with self._opened() as folder:
            os.replace(made.name, name, src_dir_fd=folder, dst_dir_fd=folder)
        return made.with_name(name)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """The folder that was made."""
        if self.path is None or (self._own and not self.path.exists()):
            self.path, self._own, self._known = Path(tempfile.mkdtemp(prefix="trimtab-")), True, None
        elif not self._ready or not os.path.lexists(self.path):
            make_private(self.path)
            self._known = None
        self._ready = True
        folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            status = os.fstat(folder)
            found = (status.st_dev, status.st_ino)
            if self._known not in (None, found):
                raise OSError(errno.ESTALE, "another folder stands in the place of the one that was made")
            self._known = found
            yield folder
        finally:
            os.close(folder)

    def close(self) -> None:
        """Remove the folder when it is empty. A file in it may be named in a result that somebody still reads."""
        if self._ready and self.path is not None:
            with suppress(OSError):
                self.path.rmdir()


@dataclass(frozen=True, slots=True)
class Captured:
    """What was printed: `text` for the model, exact `lines` and `bytes` of the whole, and where the whole is."""

    text: str
    lines: int
    bytes: int
    cut: Cut | None
    file: str | None


@dataclass(slots=True)
class Capture:
    """Takes output in pieces. `feed` and `finish` may write a file: call them off the event loop when `wants_disk`."""

    folder: PrivateFolder
    head_bytes: int
    tail_bytes: int
    at_once: bool = False
    """Whether all of it goes to the file from the first byte on."""
    _memory: bytearray = field(default_factory=bytearray)
    _tail: bytearray = field(default_factory=bytearray)
    _unwritten: bytearray = field(default_factory=bytearray)
    _file: BinaryIO | None = None
    _path: Path | None = None
    _failed: str = ""
    _written: int = 0
    _bytes: int = 0
    _newlines: int = 0
    _last: int = 0x0A

    def wants_disk(self, more: int) -> bool:
        """Tell whether feeding `more` bytes would write to disk."""
        if self.at_once:
            return True
        spilling = self._bytes + more > self.head_bytes + self.tail_bytes
        return spilling and (self._file is None or len(self._unwritten) + more >= _FLUSH_BYTES)

    def feed(self, data: bytes) -> None:
        """Take more output."""
        if not data:
            return
        self._newlines += data.count(b"\n")
        self._last = data[-1]
        self._bytes += len(data)
        if self._bytes <= self.head_bytes + self.tail_bytes:
            self._memory += data
            if self.at_once:
                self._unwritten += data
                self._flush()
            return
        if self._tail:
            self._unwritten += data
            self._tail += data
            del self._tail[: -self.tail_bytes]
        else:
            whole = self._memory + data
            self._unwritten += data if self.at_once else whole
            self._memory, self._tail = whole[: self.head_bytes], whole[self.head_bytes :][-self.tail_bytes :]
        if self._file is None or self.at_once or len(self._unwritten) >= _FLUSH_BYTES:
            self._flush()

    def to_file(self) -> Path | None:
        """Write what there is to the file (also when it is small) and return its path; None when that failed."""
        if self._file is None and not self._tail and not self.at_once:
            self._unwritten += self._memory
        self._flush()
        return self._path

    @property
    def failure(self) -> str:
        """Why the file can't be written; empty while it can, or isn't needed."""
        return self._failed

    @property
    def handle(self) -> int | None:
        """The descriptor of the file, while it is open and can be written."""
        return None if self._file is None or self._failed or self._file.closed else self._file.fileno()

    def close(self) -> None:
        """Close the file; what is captured stays readable."""
        if self._file is not None:
            if self._unwritten:
                self._flush()
            self._file.close()

    def discard(self) -> None:
        """Close the file and remove it: nobody will be told of it."""
        self.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def finish(self) -> Captured:
        """Close the file and return what was printed."""
        self.close()
        return self.so_far()

    def so_far(self) -> Captured:
        """What was printed until now."""
        lines = self._newlines + (self._last != 0x0A)
        file = str(self._path) if self._path and not self._failed else None
        if not self._tail:
            return Captured(_text(self._memory), lines, self._bytes, None, file)
        where = file or f"(could not be kept: {self._failed})"
        if self._written < self._bytes and file:
            where = f"{file} (its first {self._written:,} bytes)"
        return self._cut_text(lines, where, file)

    def _cut_text(self, lines: int, where: str, file: str | None) -> Captured:
        head, tail = bytes(self._memory), bytes(self._tail)
        head_end, tail_start = head.rfind(b"\n") + 1, tail.find(b"\n") + 1
        if head_end and 0 < tail_start < len(tail):
            head, tail = head[:head_end], tail[tail_start:]
            first_tail = lines - (tail.count(b"\n") + (not tail.endswith(b"\n"))) + 1
            shown = ((1, head.count(b"\n")), (first_tail, lines))
            gap = f"{first_tail - shown[0][1] - 1:,} of {lines:,} lines"
            cut = Cut("lines", shown, total=lines, where=file, next="read that file with offset and limit")
        else:
            head, tail = _whole_characters(head), _whole_characters(tail)
            shown = ((1, len(head)), (self._bytes - len(tail) + 1, self._bytes))
            gap = f"{self._bytes - len(head) - len(tail):,} of {self._bytes:,} bytes"
            cut = Cut("bytes", shown, total=self._bytes, where=file, next="search that file with grep")
        text = f"{_text(head).rstrip(chr(10))}\n[… {gap} left out; the whole: {where} …]\n{_text(tail)}"
        return Captured(text, lines, self._bytes, cut, file)

    def _flush(self) -> None:
        if self._file is None and not self._failed:
            self._open()
        if self._file is not None and not self._failed:
            try:
                self._file.write(self._unwritten[: MAX_FILE_BYTES - self._written])
                self._file.flush()
                self._written = min(MAX_FILE_BYTES, self._written + len(self._unwritten))
            except OSError as exc:
                self._failed = exc.strerror or str(exc)
        self._unwritten.clear()

    def _open(self) -> None:
        try:
            handle, self._path = self.folder.create("output-", ".txt")
            self._file = open(handle, "wb")  # noqa: SIM115 - closed by `close`
        except OSError as exc:
            self._failed = exc.strerror or str(exc)


def _text(data: bytes | bytearray) -> str:
    return plain(data.decode("utf-8", "replace"))


def _whole_characters(data: bytes) -> bytes:
    """Leave out the pieces of UTF-8 characters that a cut in the middle left at either end."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            size = 1 if byte < 0xC0 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[start : len(data) - back] if size > back else data[start:]
    return data[start:]
