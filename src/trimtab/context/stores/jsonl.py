"""One session file, opened: what it holds, and appending to it.

    create ──▶ header line, fsync, folder fsync
    open ────▶ read once, scan, keep a descriptor for appending
    append ──▶ [line end if the last write or the file ended without one] + lines, one write, one fsync

The one rule: bytes that are in the file stay as they are. After a write that failed half-way, or behind a torn last line, the next
append begins with a line end, so what was cut can't damage what follows.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Self

import msgspec

from trimtab.context.stores.disk import (
    Disk,
    disk,
    read_session_bytes,
    store_error,
    store_errors,
    sync_folder,
    write_all,
)
from trimtab.context.stores.scan import Scan, scan
from trimtab.types.codec import encode_entry
from trimtab.types.entries import FORMAT, Header
from trimtab.types.errors import SessionError, StoreError

_ID_IN_NAME = re.compile(r"(?:.*_)?([A-Za-z0-9-]{4,64})")
_CHILD = re.compile(r"child\d+\.jsonl")
_LONGEST_HEADER = 64 * 1024


class SessionFile:
    """A session file that is open. Use `create`, `open` or `read`; not safe for two threads at once."""

    def __init__(self, path: Path, header: Header, found: Scan, *, fd: int | None, disk: Disk, size: int = 0) -> None:
        self.path = path
        self.header = header
        self.found = found
        self._fd = fd
        self._disk = disk
        self._size = size
        self._fresh_line = found.ends_clean
        self._needs_header = found.empty

    @classmethod
    def create(cls, path: Path, header: Header, *, lines: Iterable[bytes] = (), disk: Disk = disk) -> Self:
        """Make a new file with a header and perhaps lines; durable on return.

        Raises `SessionError` when the path is taken, `StoreError` when the disk refuses (no file is left then).
        """
        try:
            fd = disk.open(path, create=True)
        except FileExistsError as exc:
            raise SessionError(f"{str(path)!r} exists already", hint="resume it with --resume") from exc
        except OSError as exc:
            raise store_error(path, exc) from exc
        file = cls(path, header, Scan(header=header), fd=fd, disk=disk)
        try:
            file.append([encode_entry(header), *lines])
        except BaseException:
            file.close()
            path.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)
        return file

    @classmethod
    def open(cls, path: Path, *, disk: Disk = disk) -> Self:
        """Open a file to go on with it; the caller holds its lock. Raises `SessionError` or `StoreError`."""
        file = cls.read(path)
        if file.header.format > FORMAT:
            return file
        with store_errors(path):
            file._fd = disk.open(path, create=False)
        file._disk = disk
        return file

    @classmethod
    def read(cls, path: Path) -> Self:
        """Open a file to look at it. Raises `SessionError`, also for a file that was never a session."""
        data = read_session_bytes(path)
        found = scan(data)
        if not found.is_session:
            raise SessionError(
                f"{str(path)!r} is no session: it has neither a session header nor an entry that can be read",
                hint="it was left as it is; name a session file of Trimtab or one that isn't there yet, hand over a text as @FILE, and look at a session of another agent with trimtab replay",
            )
        header = found.header or Header(id=id_from_name(path), cwd="", created="", format=FORMAT)
        return cls(path, header, found, fd=None, disk=disk, size=len(data))

    @property
    def writable(self) -> bool:
        """Whether `append` can work."""
        return self._fd is not None

    def append(self, lines: Iterable[bytes]) -> None:
        """Append lines with one write and one fsync; they are durable on return.

        Raises `StoreError` when the disk refuses (some of the bytes may be in the file; the next append copes) or the file is gone or shorter than it was,
        and `SessionError` for a file that can't be written.
        """
        if self._fd is None:
            raise self._refusal()
        self._require_whole()
        head = [encode_entry(self.header)] if self._needs_header else []
        data = b"".join(line + b"\n" for line in (*head, *lines))
        if not self._fresh_line:
            data = b"\n" + data
        self._fresh_line = False
        with store_errors(self.path):
            write_all(self._disk, self._fd, data)
        self._fresh_line = True
        self._needs_header = False
        self._size += len(data)

    def close(self) -> None:
        """Close the descriptor. Closing twice is fine."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _require_whole(self) -> None:
        """A file that was deleted under our feet takes bytes and loses them; one that was cut has lost what they go on from."""
        if self._fd is None:
            return
        now = os.fstat(self._fd)
        if now.st_nlink and now.st_size >= self._size:
            return
        what = f"cut to {now.st_size:,} bytes" if now.st_nlink else "deleted"
        raise StoreError(
            f"{str(self.path)!r} was {what} while it was open",
            hint="start a new session, or go on with --no-session",
        )

    def _refusal(self) -> SessionError:
        if self.header.format > FORMAT:
            return SessionError(
                f"{str(self.path)!r} has format {self.header.format}, newer than {FORMAT}: it is open for reading only",
                hint="update trimtab, or go on in a copy with --fork",
            )
        return SessionError(f"{str(self.path)!r} is open for reading only", hint="resume it to write")


def id_from_name(path: Path) -> str:
    """Return the session id in a file name (`TIME_ID.jsonl`, or the name itself). One that works for another is `ID.childN` there; its own id stands in its header."""
    name, _, more = path.name.partition(".")
    match = _ID_IN_NAME.fullmatch(name)
    if match is None:
        return path.stem
    return f"{match[1]}.{more.removesuffix('.jsonl')}" if _CHILD.fullmatch(more) else match[1]


def id_in_header(path: Path) -> str:
    """Return the id that a session file says it has; empty where it can't be read."""
    try:
        if not path.is_file():
            return ""
        with open(path, "rb") as file:
            return msgspec.json.decode(file.readline(_LONGEST_HEADER), type=Header).id
    except (OSError, msgspec.MsgspecError, ValueError):
        return ""
