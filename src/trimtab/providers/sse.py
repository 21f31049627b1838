"""Server-sent events from bytes: pure, incremental, linear in the size of the body.

Lines end with LF, CR or CR LF and nothing else; U+2028, U+2029 and U+0085 are text (an iterator over `str` lines gets this wrong).
Everything works on bytes, so a cut inside a character or inside CR LF can't matter. Source: WHATWG HTML, 9.2 "Server-sent events".

Two deviations, both for servers that exist: an event without its blank line at the end of the body is delivered by `close`, and a line
that is a bare JSON object, or an `error:` field, is delivered as an event of its own (failures of local servers come like this).
"""

from typing import TypeAlias

SseEvent: TypeAlias = tuple[str, bytes]
"""Event name ("" when unnamed) and data."""

_BOM = b"\xef\xbb\xbf"


class SseParser:
    """Frames one body: `feed` every chunk, then `close` once."""

    def __init__(self) -> None:
        self._tail: list[bytes] = []  # pieces of a line that hasn't ended; joined once, so a huge line stays linear
        self._after_cr = False
        self._started = False
        self._name = ""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Take a chunk; return the events that it completes."""
        if self._after_cr and chunk:
            self._after_cr = False
            if chunk.startswith(b"\n"):
                chunk = chunk[1:]
        if not chunk:
            return []
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = chunk.split(b"\n")
        if len(lines) == 1:
            self._tail.append(chunk)
            return []
        if self._tail:
            self._tail.append(lines[0])
            lines[0] = b"".join(self._tail)
        self._tail = [lines.pop()]
        return self._take(lines)

    def close(self) -> list[SseEvent]:
        """The body is over: return the event that had no blank line after it, if there is one."""
        lines = [b"".join(self._tail), b""]
        self._tail = []
        return self._take(lines)

    def _take(self, lines: list[bytes]) -> list[SseEvent]:
        if not self._started:
            self._started = True
            lines[0] = lines[0].removeprefix(_BOM)
        events: list[SseEvent] = []
        for line in lines:
            if not line:
                if self._data:
                    events.append((self._name, b"\n".join(self._data)))
                    self._data = []
                self._name = ""
            elif line.startswith(b"data:"):
                self._data.append(line[6:] if line.startswith(b" ", 5) else line[5:])
            elif not line.startswith(b":"):
                self._field(line, events)
        return events

    def _field(self, line: bytes, events: list[SseEvent]) -> None:
        if line.startswith(b"{"):
            events.append((self._name, line))
            return
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"event":
            self._name = value.decode("utf-8", "replace")
        elif field == b"data":
            self._data.append(value)
        elif field == b"error":
            events.append(("error", value))
