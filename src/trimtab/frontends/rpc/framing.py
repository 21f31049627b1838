"""Lines from a file descriptor: cut at \\n alone, bounded, without a thread that could outlive the program.

    bytes ──▶ up to the next \\n ──▶ a line (a \\r before it is taken off)
              longer than `most` ──▶ TooLong; the rest of that line is thrown away as it comes

The one rule: U+2028 and its like are part of a line; only \\n ends one. A last line without it counts.
"""

import os
import stat
from dataclasses import dataclass

import anyio
import anyio.lowlevel

MOST = 32 << 20
"""Bytes of one line; pictures come as base64 within it."""
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line that was thrown away. `most` is the limit in bytes."""

    most: int


def is_waited_for(fd: int) -> bool:
    """Whether an event loop can wait for `fd`: a pipe, a socket, a terminal. Plain files and the null device are always ready."""
    status = os.fstat(fd)
    return not stat.S_ISREG(status.st_mode) and not os.path.samestat(status, os.stat(os.devnull))


class LineReader:
    """Reads lines from `fd`. Holds at most one line, and `most` bytes of it."""

    def __init__(self, fd: int, *, most: int = MOST) -> None:
        self._fd = fd
        self._most = most
        self._buffer = bytearray()
        self._searched = 0
        self._skipping = False
        self._ended = False
        self._waits = is_waited_for(fd)

    async def next(self) -> bytes | TooLong | None:
        """The next line, or None at the end. A cancel loses nothing."""
        while True:
            end = self._buffer.find(b"\n", self._searched)
            if end >= 0:
                line, skipped = bytes(self._buffer[:end]), self._skipping
                del self._buffer[: end + 1]
                self._searched, self._skipping = 0, False
                if skipped or len(line) > self._most:
                    return TooLong(self._most)
                return line.removesuffix(b"\r")
            if len(self._buffer) > self._most:
                self._skipping = True
            if self._skipping:
                self._buffer.clear()
            self._searched = len(self._buffer)
            if self._ended:
                return self._last()
            await self._read()

    def _last(self) -> bytes | TooLong | None:
        rest, self._buffer = bytes(self._buffer), bytearray()
        self._searched = 0
        if self._skipping:
            self._skipping = False
            return TooLong(self._most)
        return rest.removesuffix(b"\r") if rest else None

    async def _read(self) -> None:
        if self._waits:
            await anyio.wait_readable(self._fd)
        else:
            await anyio.lowlevel.checkpoint()
        try:
            data = os.read(self._fd, _CHUNK)
        except BlockingIOError:  # another process reads the same pipe
            return
        except OSError:  # a connection that was torn down
            data = b""
        self._buffer += data
        self._ended = not data
