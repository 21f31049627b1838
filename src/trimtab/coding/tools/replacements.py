"""Exact replacements in a text: all of them or none, each at exactly one place, outside of which nothing changes.

Every old text is searched in the original, never in the result of another replacement. Line ends don't take part in the search: a
text with LF matches lines that end in CRLF, and the new text gets the line ends of the place it goes to.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.tools.near_misses import nearest_text
from trimtab.coding.tools.text_files import with_line_end

_LISTED = 10


@dataclass(frozen=True, slots=True)
class Replacement:
    """What is there, and what shall be there instead."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Edited:
    """The new text, and the lines in it that each replacement made, in file order (1-based, inclusive)."""

    text: str
    lines: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Span:
    """Characters `start:end` of the original become `text`; `number` counts the replacements from 1."""

    start: int
    end: int
    text: str
    number: int


def replace_all(text: str, replacements: Sequence[Replacement]) -> Edited:
    """Return `text` with every replacement made. Raises `ToolFailure`, which names the replacement and says what is there."""
    if not replacements:
        raise ToolFailure("edits is empty: give at least one {old, new}")
    ends = _LineEnds(text)
    many = len(replacements) > 1
    spans = sorted(
        (_span(ends, r, n, f"edit {n}: " if many else "") for n, r in enumerate(replacements, 1)),
        key=lambda span: (span.start, span.end),
    )
    for one, two in pairwise(spans):
        if two.start < one.end:
            raise ToolFailure(f"edits {one.number} and {two.number} overlap; join them into one")
    return _joined(text, spans)


class _LineEnds:
    """A text, the same with LF line ends, and the way from a place in the second to the place in the first."""

    def __init__(self, original: str) -> None:
        self.original = original
        self.text = original.replace("\r\n", "\n") if "\r" in original else original
        self._crlf: list[int] = []
        if len(self.text) != len(original):
            at = original.find("\r\n")
            while at >= 0:
                self._crlf.append(at - len(self._crlf))
                at = original.find("\r\n", at + 2)

    def place(self, at: int) -> int:
        """The offset in the original for the offset `at` in the text with LF."""
        return at + bisect_left(self._crlf, at)

    def style_at(self, start: int, end: int) -> str:
        """The line end that new text between these offsets (of the text with LF) gets: that of its own or a nearby line."""
        if not self._crlf:
            return "\n"
        at = self.text.find("\n", start, end)
        if at < 0:
            at = self.text.find("\n", end)
        if at < 0:
            at = self.text.rfind("\n", 0, start)
        n = bisect_left(self._crlf, at)
        return "\r\n" if n < len(self._crlf) and self._crlf[n] == at else "\n"


def _span(ends: _LineEnds, replacement: Replacement, number: int, name: str) -> _Span:
    old, new = with_line_end(replacement.old, "\n"), with_line_end(replacement.new, "\n")
    if not old:
        raise ToolFailure(f"{name}old is empty; to make or replace a whole file use write")
    if old == new:
        raise ToolFailure(f"{name}old and new are the same (line ends apart, which stay as they are)")
    places = _places(ends.text, old)
    if not places:
        raise ToolFailure(name + _not_found(ends.text, old, new))
    if len(places) > 1:
        raise ToolFailure(name + _ambiguous(ends.text, places))
    start, end = places[0], places[0] + len(old)
    return _Span(ends.place(start), ends.place(end), with_line_end(new, ends.style_at(start, end)), number)


def _places(text: str, old: str) -> list[int]:
    """Where `old` begins, overlapping places too; a few more than are ever listed are enough."""
    places: list[int] = []
    at = text.find(old)
    while at >= 0 and len(places) <= _LISTED:
        places.append(at)
        at = text.find(old, at + 1)
    return places


def _ambiguous(text: str, places: list[int]) -> str:
    lines = ", ".join(str(text.count("\n", 0, at) + 1) for at in places[:_LISTED])
    more = len(places) > _LISTED
    count = f"more than {_LISTED}" if more else str(len(places))
    return f"old occurs {count} times (lines {lines}{', …' if more else ''}); add lines around it to make it unique"


def _not_found(text: str, old: str, new: str) -> str:
    message = "old isn't in the file."
    near = nearest_text(text, old)
    if near is not None:
        message += f" Most like it, from line {near.line} (differs in {near.differs}):\n{near.text}\n"
    at = text.find(new) if len(new) >= 8 else -1
    if at >= 0:
        message += f" new is already there, at line {text.count(chr(10), 0, at) + 1}: was this edit made before?"
    return message if near is not None or at >= 0 else message + " Nothing is like it; read the file again."


def _joined(text: str, spans: Sequence[_Span]) -> Edited:
    pieces: list[str] = []
    lines: list[tuple[int, int]] = []
    at, line = 0, 1
    for span in spans:
        between = text[at : span.start]
        line += between.count("\n")
        last = line + span.text.rstrip("\n").count("\n")
        lines.append((line, last))
        line += span.text.count("\n")
        pieces += (between, span.text)
        at = span.end
    return Edited("".join((*pieces, text[at:])), tuple(lines))
