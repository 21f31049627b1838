"""A window of lines out of a file of any size, in constant memory.

The file comes as blocks of bytes in UTF-8 (other encodings are transcoded on the way); lines before the window are only counted.
A window ends at its line limit or its byte limit, on a whole line; only a first line that is longer than the byte limit is
cut inside.
"""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO

from trimtab.coding.tools.text_files import TextEncoding

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Window:
    """Lines `first` to `last` (1-based, inclusive; `last < first`: none), as bytes.

    `total` is the number of lines of the file, None when the file wasn't read to its end. `cut_inside` marks a single line that is
    not whole; `line_bytes` is then its length, None when unknown.
    """

    data: bytes
    first: int
    last: int
    total: int | None
    cut_inside: bool = False
    line_bytes: int | None = None


def blocks(file: FileIO, encoding: TextEncoding) -> Iterator[bytes]:
    """Yield the rest of `file` as UTF-8, without a byte-order mark. UTF-8, damaged or not, passes as it is."""
    file.read(len(encoding.mark))
    if encoding.name == "utf-8":
        while block := file.read(_BLOCK):
            yield block
        return
    decoder = codecs.getincrementaldecoder(encoding.name)("replace")
    while block := file.read(_BLOCK):
        yield decoder.decode(block).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def window(source: Iterator[bytes], *, first: int, lines: int, size: int, count_all: bool) -> Window:
    """Return up to `lines` lines and `size` bytes from line `first` (1-based) on.

    Without `count_all` reading stops behind the window, and `total` is None unless the end was seen.
    """
    tally = _Tally(source)
    data = _skip(tally, first - 1)
    while data.count(b"\n") < lines and len(data) <= size and (block := tally.next()):
        data += block
    end = _end_of_lines(data, lines)
    cut_inside = False
    if end > size:
        whole = data.rfind(b"\n", 0, size) + 1
        cut_inside = whole == 0
        end = whole or _code_point_edge(data, size)
    kept = data[:end]
    line_bytes = end + _rest_of_line(tally, data[end:]) if cut_inside and count_all else None
    while count_all and tally.next():
        pass
    last = first - 1 + kept.count(b"\n") + (kept[-1:] not in (b"\n", b""))
    return Window(kept, first, last, tally.lines if tally.ended else None, cut_inside, line_bytes)


class _Tally:
    """Hands blocks on and counts the lines that pass."""

    def __init__(self, source: Iterator[bytes]) -> None:
        self._source = source
        self._last = b"\n"
        self.line_ends = 0
        self.ended = False

    @property
    def lines(self) -> int:
        """Lines so far; an unfinished last one counts."""
        return self.line_ends + (self._last != b"\n")

    def next(self) -> bytes:
        """The next block that isn't empty; b"" at the end."""
        for block in self._source:
            if block:
                self.line_ends += block.count(b"\n")
                self._last = block[-1:]
                return block
        self.ended = True
        return b""


def _skip(tally: _Tally, lines: int) -> bytes:
    """Pass `lines` lines; return what was read beyond them."""
    while True:
        passed = tally.line_ends
        block = tally.next()
        if not block or tally.line_ends >= lines:
            return block[_end_of_lines(block, lines - passed) :]


def _end_of_lines(data: bytes, lines: int) -> int:
    """The offset behind the line end number `lines`; the end of `data` when it has fewer."""
    at = 0
    for _ in range(lines):
        found = data.find(b"\n", at)
        if found < 0:
            return len(data)
        at = found + 1
    return at


def _code_point_edge(data: bytes, at: int) -> int:
    """The start of the code point that `at` falls into."""
    start = at
    while start > at - 3 and start > 0 and data[start] & 0xC0 == 0x80:
        start -= 1
    return start


def _rest_of_line(tally: _Tally, data: bytes) -> int:
    """How many bytes follow before the next line end, of which `data` are the first already read."""
    length = 0
    while (end := data.find(b"\n")) < 0:
        length += len(data)
        data = tally.next()
        if not data:
            return length
    return length + end
