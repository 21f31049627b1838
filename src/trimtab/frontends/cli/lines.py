"""Lines from standard input, without a thread that could outlive the program.

A terminal or pipe is waited for by the event loop and then read as far as it has something; a plain file is simply read.

    bytes ─▶ a line; on a terminal, what a paste holds is one line with newlines in it ─▶ without what keys like Up and Ctrl-L leave in it
"""

import os
import re
import stat

import anyio
import anyio.lowlevel

from trimtab.types.text import strip_terminal

_CHUNK = 65_536
_KEYS = re.compile(r"\x1bO[0-9;]*[ -~]|\x1b\[\[[A-E]")
"""Keys whose sequences are longer than ECMA-48 says: SS3 (keypad, F1 to F4) and those of the Linux console. Source: console_codes(4), XTerm Control Sequences."""


class Lines:
    """Reads lines from a file descriptor. A line is decoded leniently, its end and all terminal control taken off."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._pending = b""
        self._ended = False
        mode = os.fstat(fd).st_mode
        self._waits = not stat.S_ISREG(mode) and not os.path.samestat(os.fstat(fd), os.stat(os.devnull))

    async def next(self) -> str | None:
        """The next line, or None at the end. A cancel loses nothing."""
        while b"\n" not in self._pending and not self._ended:
            if self._waits:
                await anyio.wait_readable(self._fd)
            else:
                await anyio.lowlevel.checkpoint()
            data = os.read(self._fd, _CHUNK)
            self._pending += data
            self._ended = not data
        line, newline, self._pending = self._pending.partition(b"\n")
        if not newline and not line:
            return None
        return typed_text(line.decode("utf-8", "replace"))


def typed_text(line: str) -> str:
    """What a person typed: `line` without the sequences of keys and other control characters; newlines and tabs stay."""
    return strip_terminal(_KEYS.sub("", line))
