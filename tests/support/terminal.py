"""A command on a real (pseudo-)terminal of 80 columns."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from types import TracebackType

from support.cli import Cli, Outcome

PATIENCE_S = 20


_BEGIN = "import fcntl, runpy, signal, sys, termios; signal.signal(signal.SIGHUP, signal.SIG_DFL); fcntl.ioctl(0, termios.TIOCSCTTY, 0); runpy.run_module('trimtab', run_name='__main__')"
"""Makes the terminal the one that Ctrl-C comes from, whose end is heard whoever shut it out here, then is the command."""


class Terminal:
    """A command on a terminal. `screen` is what it has shown so far."""

    def __init__(self, cli: Cli, *args: str) -> None:
        self._fd, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BEGIN, *args],
            cwd=cli.project,
            env=cli.environment(),
            stdin=inner,
            stdout=inner,
            stderr=inner,
            start_new_session=True,
        )
        os.close(inner)
        self._shown = b""
        self._seen = ""

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if kind is not None:
            self._process.kill()
        self._process.wait()
        os.close(self._fd)

    @property
    def screen(self) -> str:
        return self._shown.decode("utf-8", "replace").replace("\r", "")

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def wait_for(self, pattern: str) -> None:
        """Read until `pattern` is shown."""
        limit = time.monotonic() + PATIENCE_S
        while not (found := list(re.finditer(pattern, self.screen))):
            assert time.monotonic() < limit, f"no {pattern!r} in {self.screen}"
            assert self._read(), f"no {pattern!r} in {self.screen}"
        self._seen = self.screen[: found[-1].end()]

    def until(self, words: str) -> None:
        """Read until these words are shown."""
        self.wait_for(re.escape(words))

    def forget(self) -> None:
        """Take what was shown up to the words that were waited for last for seen; what came behind them in one piece is still to be read."""
        self._shown = self.screen.removeprefix(self._seen).encode()
        self._seen = ""

    @property
    def echoes(self) -> bool:
        """Whether what is typed is shown."""
        return bool(termios.tcgetattr(self._fd)[3] & termios.ECHO)

    def interrupt(self, *numbers: int) -> None:
        """Send signals, one right behind the other."""
        for number in numbers:
            self._process.send_signal(number)

    def hang_up(self) -> int:
        """Close the terminal, as a window that is closed or a line that breaks; return the exit code."""
        os.close(self._fd)
        self._fd = os.open(os.devnull, os.O_RDONLY)
        return self._process.wait(PATIENCE_S)

    def end(self) -> Outcome:
        """Read to the end."""
        while self._read():
            pass
        return Outcome(self._process.wait(PATIENCE_S), self._shown, "")

    def _read(self) -> bool:
        if select.select([self._fd], [], [], PATIENCE_S)[0]:
            try:
                data = os.read(self._fd, 65_536)
            except OSError:  # Linux says so when the other end is gone
                return False
            self._shown += data
            return bool(data)
        return False
