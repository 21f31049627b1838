"""The last of what a server printed or logged, for a person who asks why it failed.

Taking a line costs next to nothing, however many come; it is made harmless when it is read.
"""

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from trimtab.coding.telling.hidden import without_invisible
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened
from trimtab.context.summary.redact import redact

_LINES = 40
_WIDTH = 2_000
_OPEN = 4_096
_SHOWN = 10
_TELLING = re.compile(
    r"\b(?:error|exception|fatal|panic(?:ked)?|cannot|can't|could not|couldn't|unable|not found|no such|no matching|not (?:set|defined|installed)|denied|refused|invalid|missing|required)\b|\w(?:Error|Exception)\b",
    re.I,
)
_BESIDE_THE_POINT = re.compile(
    r"^\s*at\s|^Node\.js v\d|complete log of this run|^npm (?:error|ERR!)\s*(?:code|errno|syscall)?\s*$"
)
_LABEL = re.compile(r"^npm (?:error|ERR!) ")
"""What npm writes before each line, also before those that say nothing of what went wrong."""


@dataclass(slots=True)
class Tail:
    """Keeps some lines, whatever comes, without `secrets` and what looks like one."""

    secrets: tuple[str, ...] = ()
    code: int | None = None
    """How the last process ended, where that is known: its exit code, or less than 0 for a signal."""
    _lines: deque[str] = field(default_factory=lambda: deque(maxlen=_LINES))
    _open: bytes = b""
    _since: int = 0
    """Lines since the last start."""

    def begin(self) -> None:
        """The server is started anew."""
        self.code, self._since = None, 0
        if self._open:
            self.say(self._open.decode("utf-8", "replace"))
            self._open, self._since = b"", 0

    def feed(self, data: bytes) -> None:
        """Take what was printed."""
        *whole, rest = (self._open + data[-_LINES * _OPEN :]).split(b"\n")
        self._open = rest[-_OPEN:]
        for line in whole[-_LINES:]:
            self.say(line[:_OPEN].decode("utf-8", "replace"))

    def say(self, text: str) -> None:
        """Take a line."""
        self._lines.append(text[:_OPEN])
        self._since += 1

    def lines(self) -> tuple[str, ...]:
        """What there is, the oldest first."""
        return self._made(self._lines)

    def last(self) -> tuple[str, ...]:
        """The end of it since the last start, for who wants to know why it failed."""
        since = [*self._lines][max(0, len(self._lines) - self._since) :]
        return self._made(since)[-_SHOWN:]

    def telling(self) -> str:
        """The line that says most likely why it failed: the last that speaks of an error, else the last; empty where there is none."""
        lines = [line for line in self.last() if not _BESIDE_THE_POINT.search(line)]
        speaking = [line for line in lines if _TELLING.search(_LABEL.sub("", line))]
        return (speaking or lines or [""])[-1]

    def _made(self, lines: Iterable[str]) -> tuple[str, ...]:
        rest = self._open.decode("utf-8", "replace")
        return tuple(line for line in map(self._harmless, (*lines, rest)) if line)

    def _harmless(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, "(set)")
        return shortened(redact(one_line(without_invisible(text)).strip()), _WIDTH)
