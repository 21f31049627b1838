"""Long-term memory of one project: one append-only file that every session of the project may write.

    keep(facts) ──redact──▶ record ──lock, read what others wrote, append, fsync──▶ FILE.jsonl
    load(key) ──▶ file, if it changed since ──fold──▶ the memory, and those that have to do with it (`recall/related.py`)

A change, an addition and a deletion are records like the first one, so nothing that was remembered is destroyed. A torn line is read
around, and what follows it begins on a line of its own. Whatever is kept goes through `redact` first: a secret that a model repeats
must not outlive its session.
"""

import os
import re
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from trimtab.context.stores.disk import Disk, disk, make_folder, store_errors, sync_folder, timestamp, write_all
from trimtab.context.stores.exclusive import exclusive
from trimtab.context.stores.memory_log import Delete, Facts, Memory, Record, decode_records, fold
from trimtab.context.stores.notes import clean_key
from trimtab.types.text import scrub

_LINE = re.compile(r":\d[\d:-]*\Z")
_R = TypeVar("_R", bound=Record)
Redact = Callable[[str], str]
"""Returns a text without the secrets in it."""


class Memories:
    """The memories in `path`, made when the first one comes; None keeps them in this process alone. Safe for threads and other processes."""

    def __init__(
        self,
        path: Path | None,
        *,
        now: Callable[[], datetime],
        redact: Redact,
        folder: Path | None = None,
        disk: Disk = disk,
    ) -> None:
        self.path = path
        self.folder = folder
        """Where the files lie that memories name as their sources."""
        self.bad_lines = 0
        """Lines that could not be read, as of the last look."""
        self._now = now
        self._redact = redact
        self._disk = disk
        self._guard = threading.Lock()
        self._memories: dict[str, Memory] = {}
        self._seen: tuple[int, int] | None = None
        """Which file was read last (its inode) and how long it was."""

    def all(self) -> tuple[Memory, ...]:
        """Return every memory, by key. Raises `StoreError`."""
        with self._guard:
            self._look()
            return tuple(memory for _, memory in sorted(self._memories.items()))

    def get(self, key: str) -> Memory | None:
        """Return the memory of that key. Raises `StoreError`."""
        with self._guard:
            self._look()
            return self._memories.get(self._clean(key))

    def changed(self, memory: Memory) -> tuple[str, ...]:
        """Return those sources of a memory that are files and were written since it last changed: what it says of them may hold no more."""
        if self.folder is None or not memory.updated:
            return ()
        since = datetime.fromisoformat(memory.updated).timestamp()
        return tuple(source for source in memory.source if _written(self.folder, source) > since)

    def keep(self, facts: Facts) -> Memory:
        """Keep a record, redacted and with the present time; return the memory as it is then. Raises `StoreError`."""
        record = self._stamped(facts)
        return self._append(record)[record.key]

    def delete(self, key: str) -> bool:
        """Forget a key, and say whether it was there. Its records stay in the file. Raises `StoreError`."""
        if self.get(key) is None:
            return False
        self._append(self._stamped(Delete(key=key)))
        return True

    def _clean(self, key: str) -> str:
        return clean_key(self._redact(scrub(key)))

    def _stamped(self, record: _R) -> _R:
        """The record as it is kept: no text in it goes by unredacted, whatever fields it has."""
        values = {f.name: self._kept(getattr(record, f.name)) for f in msgspec.structs.fields(record)}
        values |= {"key": self._clean(record.key), "time": timestamp(self._now())}
        return msgspec.structs.replace(record, **values)

    def _kept(self, value: object) -> object:
        if isinstance(value, str):
            return self._redact(scrub(value))
        return tuple(self._redact(scrub(text)) for text in value) if isinstance(value, tuple) else value

    def _append(self, record: Record) -> dict[str, Memory]:
        with self._guard:
            if self.path is None:
                self._memories = fold([record], self._memories)
                return self._memories
            make_folder(self.path.parent)
            with exclusive(self.path.with_name(self.path.name + ".lock")):
                self._write(self.path, msgspec.json.encode(record) + b"\n")
                self._look()
            return self._memories

    def _write(self, path: Path, line: bytes) -> None:
        with store_errors(path):
            is_new = not path.exists()
            fd = self._disk.open(path, create=is_new)
            try:
                if not is_new and not _ends_clean(path):
                    line = b"\n" + line
                write_all(self._disk, fd, line)
            finally:
                os.close(fd)
        if is_new:
            sync_folder(path.parent)

    def _look(self) -> None:
        """Read the file again if it is another one or longer than before."""
        if self.path is None:
            return
        with store_errors(self.path):
            try:
                status = self.path.stat()
                if self._seen == (status.st_ino, status.st_size):
                    return
                data = self.path.read_bytes()
            except FileNotFoundError:
                data, status = b"", None
        records, self.bad_lines = decode_records(data)
        self._memories = fold(records, {})
        self._seen = (status.st_ino, len(data)) if status else None


def _written(folder: Path, source: str) -> float:
    """When a file was written last, in seconds since 1970; 0 for what is none. A line number behind its name doesn't count."""
    try:
        path = Path(folder, _LINE.sub("", source))
        return path.stat().st_mtime if path.is_file() else 0.0
    except (OSError, ValueError):
        return 0.0


def _ends_clean(path: Path) -> bool:
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size == 0:
            return True
        file.seek(size - 1)
        return file.read(1) == b"\n"
