"""The last of what a server printed or logged, for a person who asks why it failed."""

from collections import deque
from dataclasses import dataclass, field

from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened

_LINES = 40
_WIDTH = 300
_OPEN = 4_096


@dataclass(slots=True)
class Tail:
    """Keeps some lines, whatever comes."""

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
        if line := one_line(text).strip():
            self._lines.append(shortened(line, _WIDTH))

    def lines(self) -> tuple[str, ...]:
        """What there is, the oldest first."""
        rest = one_line(self._open.decode("utf-8", "replace")).strip()
        return (*self._lines, *([shortened(rest, _WIDTH)] if rest else ()))
