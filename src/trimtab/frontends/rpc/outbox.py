"""What goes to the client, in order, without a thread: written as far as the client takes it.

    put ──▶ bytes that wait ──as the client reads──▶ fd
    room ◀── fewer than `high` wait              broken ◀── nobody will ever read

Answers are put at once; whoever could put without end (events, requests for more answers) waits for room first, so what waits is bounded by what was asked for.
"""

import os
import select
from collections.abc import Mapping
from typing import Any

import anyio
import anyio.lowlevel
import msgspec

from trimtab.frontends.rpc.framing import is_waited_for
from trimtab.types.text import scrub_deep

HIGH = 1 << 20
"""Bytes that may wait before events do."""
_PIECE = select.PIPE_BUF
"""A descriptor that is ready takes as much without blocking."""
_encoder = msgspec.json.Encoder()


def record_line(record: Mapping[str, Any]) -> bytes:
    """One record as a line; what isn't Unicode (a file's name) as U+FFFD."""
    try:
        return _encoder.encode(record) + b"\n"
    except UnicodeEncodeError:
        return _encoder.encode(scrub_deep(msgspec.to_builtins(record))) + b"\n"


class Outbox:
    """Writes to `fd`. `run` in a task; it returns once the box is closed and empty, or nobody reads."""

    def __init__(self, fd: int, *, high: int = HIGH) -> None:
        self._fd = fd
        self._high = high
        self._waiting = bytearray()
        self._waits = is_waited_for(fd)
        self._filled = anyio.Event()
        self._drained = anyio.Event()
        self._closed = False
        self.broken = anyio.Event()
        """Set when nobody reads any more."""
        self.written = 0
        """Bytes so far."""

    @property
    def size(self) -> int:
        """Bytes that wait."""
        return len(self._waiting)

    def put(self, record: Mapping[str, Any]) -> None:
        """Add a record. Never waits; nothing is kept for a client that is gone."""
        if not self.broken.is_set() and not self._closed:
            self._waiting += record_line(record)
            self._filled.set()

    async def room(self, high: int | None = None) -> None:
        """Wait until fewer than `high` bytes wait, or nobody reads."""
        most = self._high if high is None else high
        while len(self._waiting) > most and not self.broken.is_set():
            self._drained = anyio.Event()
            await self._drained.wait()

    def close(self) -> None:
        """Take nothing more; what waits is still written."""
        self._closed = True
        self._filled.set()

    async def run(self) -> None:
        """Write until closed and empty, or nobody reads."""
        while not self.broken.is_set():
            if not self._waiting:
                if self._closed:
                    return
                self._filled = anyio.Event()
                await self._filled.wait()
                continue
            await self._write()
            self._drained.set()

    async def _write(self) -> None:
        if self._waits:
            await anyio.wait_writable(self._fd)
        else:
            await anyio.lowlevel.checkpoint()
        try:
            count = os.write(self._fd, self._waiting[:_PIECE])
        except BlockingIOError:
            return
        except OSError:
            self.give_up()
            return
        del self._waiting[:count]
        self.written += count

    def look(self) -> None:
        """See whether somebody is there who could read."""
        if not self._waits:
            return
        poll = select.poll()
        poll.register(self._fd, 0)
        if any(found & (select.POLLERR | select.POLLHUP | select.POLLNVAL) for _, found in poll.poll(0)):
            self.give_up()

    def give_up(self) -> None:
        """Nobody will ever read: keep nothing, and take nothing."""
        self._waiting.clear()
        self.broken.set()
        self._drained.set()
        self._filled.set()
