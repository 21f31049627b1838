"""The summaries of documents that sessions of one project made, in a file that all of them share.

    keep(summaries) ──lock, read what others wrote, merge, bound──▶ a new file beside it, synced ──rename──▶ FILE

A file that can't be read counts as empty: every summary can be made again. It is bounded in number and bytes, and the oldest give way; a
document that reads otherwise now takes the place of what was kept of it. Texts come redacted: a secret must not outlive its session.
"""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from trimtab.context.stores.disk import make_folder, store_errors, sync_folder
from trimtab.context.stores.exclusive import exclusive
from trimtab.context.summary.cache import KeptSummary, replaces

MOST = 300
"""Summaries that are kept."""
MOST_BYTES = 2_000_000
"""Bytes of all of them."""
_MOST_READ = 4 * MOST_BYTES
_decoder = msgspec.json.Decoder(KeptSummary)


class SummaryFile:
    """The summaries in `path`, one JSON object a line. Safe for other processes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self) -> tuple[KeptSummary, ...]:
        """Return what is kept, oldest first; nothing where there is no such file, and no line that isn't one."""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe of that name must not be waited for
            with os.fdopen(handle, "rb") as file:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    return ()
                data = file.read(_MOST_READ + 1)
        except OSError:
            return ()
        if len(data) > _MOST_READ:
            return ()
        found: list[KeptSummary] = []
        for line in data.splitlines():
            with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                found.append(_decoder.decode(line))
        return tuple(found)

    def keep(self, summaries: Iterable[KeptSummary]) -> None:
        """Add summaries. Raises `StoreError`, and then the file is as it was."""
        fresh = tuple(summaries)
        if not fresh:
            return
        make_folder(self.path.parent)
        with exclusive(self.path.with_name(self.path.name + ".lock")):
            self._write(_bounded(_merged(self.load(), fresh)))

    def _write(self, lines: list[bytes]) -> None:
        temporary = self.path.with_name(self.path.name + ".new")
        with store_errors(self.path):
            temporary.unlink(missing_ok=True)
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(b"".join(lines))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path)
        sync_folder(self.path.parent)


def _merged(kept: tuple[KeptSummary, ...], fresh: tuple[KeptSummary, ...]) -> list[KeptSummary]:
    known = {one.key: one for one in kept}
    for one in fresh:
        for old in [key for key, other in known.items() if key == one.key or replaces(one, other)]:
            del known[old]
        known[one.key] = one
    return list(known.values())


def _bounded(kept: list[KeptSummary]) -> list[bytes]:
    """The newest lines that keep to both bounds, oldest first."""
    lines: list[bytes] = []
    size = 0
    for one in reversed(kept[-MOST:]):
        line = msgspec.json.encode(one) + b"\n"
        size += len(line)
        if size > MOST_BYTES:
            break
        lines.append(line)
    return lines[::-1]
