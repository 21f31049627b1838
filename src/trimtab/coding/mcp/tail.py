"""The last of what a server printed or logged, for a person who asks why it failed.

Taking a line costs next to nothing, however many come; it is made harmless when it is read.
"""

from collections import deque
from dataclasses import dataclass, field

from trimtab.coding.telling.hidden import without_invisible
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened
from trimtab.context.summary.redact import redact

_LINES = 40
_WIDTH = 300
_OPEN = 4_096


@dataclass(slots=True)
class Tail:
    """Keeps some lines, whatever comes, without `secrets` and what looks like one."""

    secrets: tuple[str, ...] = ()
    _lines: deque[str] = field(default_factory=lambda: deque(maxlen=_LINES))
    _open: bytes = b""

    def feed(self, data: bytes) -> None:
        """Take what was printed."""
        *whole, rest = (self._open + data[-_LINES * _OPEN :]).split(b"\n")
        self._open = rest[-_OPEN:]
        for line in whole[-_LINES:]:
            self.say(line[:_OPEN].decode("utf-8", "replace"))

    def say(self, text: str) -> None:
        """Take a line."""
        self._lines.append(text[:_OPEN])

    def lines(self) -> tuple[str, ...]:
        """What there is, the oldest first."""
        rest = self._open.decode("utf-8", "replace")
        return tuple(line for line in map(self._harmless, (*self._lines, rest)) if line)

    def _harmless(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, "(set)")
        return shortened(redact(one_line(without_invisible(text)).strip()), _WIDTH)
