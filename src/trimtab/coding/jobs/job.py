"""One job: a command that runs beside the conversation, what it printed, and how it ended.

pipe ──Pump──▶ Capture, the whole in a file at once       kept, or left by a command: a keeper process writes the file, and its end is read back
"""

import errno
import math
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened
from trimtab.coding.tools.capture import Capture
from trimtab.coding.tools.process import Group
from trimtab.coding.tools.terminal import plain

_SHOWN = 120
"""Characters of a command that a line names."""
_END = 20 * 1024
"""Bytes of the end of a file that are read back."""


@dataclass(slots=True)
class Job:
    """A command in the background. `began` in seconds since 1970; `ending` is empty while it runs; `by` says who started it, where that wasn't the session's own model.

    `kept`: it goes on when the session ends. `capture` takes what it prints while that is here; otherwise it goes to `file`.
    """

    id: str
    command: str
    group: Group
    began: float
    now: Callable[[], float]
    by: str = ""
    kept: bool = False
    capture: Capture | None = None
    file: Path | None = None
    record: Path | None = None
    ending: str = ""
    failed: bool = False
    took_s: float = 0.0
    ended: anyio.Event = field(default_factory=anyio.Event)
    news: anyio.Event = field(default_factory=anyio.Event)
    """Set, and replaced by another, when it prints, and when it ends."""
    printed_once: bool = False
    """Whether it printed anything while `capture` took it."""
    asked: str = ""
    """Who asked for its end, in words; the model isn't told of an end that it asked for."""

    @property
    def running(self) -> bool:
        """Whether it does."""
        return not self.ended.is_set()

    @property
    def name(self) -> str:
        """Its id and its command, as they may stand in a line."""
        who = f"{one_line(self.by)}: " if self.by else ""
        return f"{self.id} ({who}{shortened(one_line(self.command), _SHOWN)})"

    def state(self, now: float) -> str:
        """In words, at `now` in seconds since 1970."""
        if self.running:
            kept = ", kept" if self.kept else ""
            return f"runs, {told_s(now - self.began)}{kept}"
        return f"{self.ending}, after {told_s(self.took_s)}"

    def state_now(self) -> str:
        """In words, now."""
        return self.state(self.now())

    def see(self, data: bytes) -> None:
        """It printed."""
        self.printed_once = True
        self._stir()

    def end(self) -> None:
        """It runs no more."""
        self.ended.set()
        self._stir()

    def _stir(self) -> None:
        news, self.news = self.news, anyio.Event()
        news.set()

    def printed(self) -> tuple[str, str | None]:
        """What it printed, head and tail where that is long, and the file with all of it. Reads the disk."""
        if self.capture is not None:
            captured = self.capture.so_far()
            return captured.text, captured.file
        return (_end_of(self.file), str(self.file)) if self.file is not None else ("", None)

    def last_lines(self, number: int) -> str:
        """The last lines that it printed, and where the rest is. Reads the disk."""
        text, file = self.printed()
        lines = text.removesuffix("\n").split("\n") if text else []
        rest = f"[all of it: {file}]" if file and (len(lines) > number or "[… " in text) else ""
        return "\n".join([*([rest] if rest else []), *lines[-number:]])


def told_s(seconds: float) -> str:
    """A time in words."""
    whole = max(math.floor(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def open_output(file: Path) -> int:
    """Open a file of output to read. Raises `OSError`, also for what a command put in its place: a link to what it may not read is none."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_nlink > 1:
        os.close(descriptor)
        raise OSError(errno.EPERM, "it is no file of output", str(file))
    return descriptor


def _end_of(file: Path) -> str:
    """The end of a file's text, from the start of a line on."""
    try:
        with open(open_output(file), "rb") as opened:
            size = os.fstat(opened.fileno()).st_size
            opened.seek(max(size - _END, 0))
            data = opened.read(_END)
    except OSError:
        return ""
    cut = size > _END
    start = data.find(b"\n") + 1 if cut else 0
    head = f"[… {size - len(data) + start:,} bytes before this …]\n" if cut else ""
    return head + plain(data[start:].decode("utf-8", "replace"))
