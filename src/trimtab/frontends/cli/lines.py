"""Lines from standard input, without a thread that could outlive the program.

A terminal or pipe is waited for by the event loop and then read as far as it has something; a plain file is simply read.

    bytes ─▶ a line; on a terminal, what a paste holds is one line with newlines in it ─▶ without what keys like Up and Ctrl-L leave in it
"""

import math
import os
import re
import stat

import anyio
import anyio.lowlevel

from trimtab.types.text import strip_terminal

_CHUNK = 65_536
LONGEST = 4_095
"""Bytes that a terminal takes in a line; what comes after is gone before anybody could read it. Source: termios(3), canonical mode."""
_SETTLED_S = 0.1
"""A paste comes at once, in seconds."""
MARK_PASTES, UNMARK_PASTES = "\x1b[?2004h", "\x1b[?2004l"
"""Let a terminal say where a paste begins and ends (bracketed paste), or not. Source: XTerm Control Sequences."""
_BEGIN, _END = b"\x1b[200~", b"\x1b[201~"
_KEYS = re.compile(r"\x1bO[0-9;]*[ -~]|\x1b\[\[[A-E]")
"""Keys whose sequences are longer than ECMA-48 says: SS3 (keypad, F1 to F4) and those of the Linux console. Source: console_codes(4), XTerm Control Sequences."""


class Lines:
    """Reads lines from a file descriptor. A line is decoded leniently, its end and all terminal control taken off."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._pending = b""
        self._ended = False
        self.cut = False
        """Whether the terminal may have cut the line that came last."""
        self._pastes = os.isatty(fd)
        mode = os.fstat(fd).st_mode
        self._waits = not stat.S_ISREG(mode) and not os.path.samestat(os.fstat(fd), os.stat(os.devnull))

    async def next(self) -> str | None:
        """The next line, or None at the end. A cancel loses nothing."""
        while (end := self._end_of_line()) < 0 and not self._ended:
            if self._waits:
                with anyio.move_on_after(_SETTLED_S if self._lost_its_end() else math.inf) as wait:
                    await anyio.wait_readable(self._fd)
                if wait.cancelled_caught:
                    end = len(self._pending) - 1
                    break
            else:
                await anyio.lowlevel.checkpoint()
            data = os.read(self._fd, _CHUNK)
            self._pending += data
            self._ended = not data
        if end < 0:
            end = len(self._pending)
            if not end:
                return None
        line, self._pending = self._pending[:end], self._pending[end + 1 :]
        self.cut = self._pastes and any(len(one) >= LONGEST for one in line.split(b"\n"))
        return typed_text(line.decode("utf-8", "replace"))

    def forget(self) -> None:
        """On a terminal, drop what there is of a line that hasn't ended, as it does itself at Ctrl-C: a paste whose end was taken away, say."""
        if self._pastes and self._end_of_line() < 0:
            self._pending = b""

    def _lost_its_end(self) -> bool:
        """Whether the mark where the open paste ends may have stood in what the terminal cut."""
        before = self._pending.rfind(b"\n", 0, -1)
        return self._pastes and self._pending.endswith(b"\n") and len(self._pending) - before - 2 >= LONGEST

    def _end_of_line(self) -> int:
        """Where the next line ends, which isn't in a paste; -1 when it hasn't yet."""
        at = 0
        while (end := self._pending.find(b"\n", at)) >= 0 and self._pastes:
            begin = self._pending.find(_BEGIN, at, end)
            if begin < 0:
                break
            at = self._pending.find(_END, begin)
            if at < 0:
                return -1
        return end


def typed_text(line: str) -> str:
    """What a person typed: `line` without the sequences of keys and other control characters; newlines and tabs stay."""
    return strip_terminal(_KEYS.sub("", line))
