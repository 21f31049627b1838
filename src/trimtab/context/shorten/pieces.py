"""Pieces: a text in parts, of which some are kept, and the text and the `Cut` that come of it.

    text ──pieces_of──▶ pieces ──a shortener chooses──▶ which to keep ──render──▶ text with gap marks, and what it shows

The pieces joined are the text, byte for byte; so what is kept is verbatim and in order, whoever chooses. A run that is left out gives way
to one mark, where that saves enough to be worth the reader's while. A code block is never cut silently: its fence is closed in front
of the mark, opened again behind it, and the mark says so.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.markers import gap_mark
from trimtab.types.tools import Cut

WORTH = 48
"""Characters that a gap must save beyond its mark; also what makes shortening twice the same as once."""

_NUMBER = re.compile(r"\s{0,9}(\d{1,8})[→\t]")
_FENCE = re.compile(r"(?:\s{0,9}\d+[→\t:|] ?)?[ \t]{0,3}(?P<mark>`{3,}|~{3,})(?P<info>[^\n`]{0,80})\s*$")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text. `line` counts from 0; the last piece of a line holds its newline."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Shortened:
    """A shorter text and, when anything is left out, what it shows of the whole."""

    text: str
    cut: Cut | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a text is not shortened, in words for who asked."""

    reason: str


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced code block: the lines of its two fences, from 0, and the bare texts of them."""

    first: int
    last: int
    opening: str
    closing: str


def first_number(first: str, last: str, *, count: int, default: int) -> int:
    """Return the number that a gap begins with: the one that a tool printed in front of its `first` line, where those run through to
    the `last` of its `count` lines, else `default`. So a mark never speaks of other numbers than the lines around it.
    """
    start, end = _NUMBER.match(first), _NUMBER.match(last)
    if start and end and int(end[1]) - int(start[1]) == count - 1:
        return int(start[1])
    return default


def lines_of(text: str) -> list[str]:
    """The lines of `text` with their newlines. Only a line feed ends a line."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def fences_of(lines: Sequence[str]) -> list[Fence]:
    """The fenced code blocks, in order. One that never ends is none: a lone fence in a program opens nothing."""
    found: list[Fence] = []
    start: tuple[int, str, str] | None = None
    for at, line in enumerate(lines):
        if "```" not in line and "~~~" not in line:
            continue
        fence = _FENCE.match(line)
        if fence is None:
            continue
        mark, info = fence["mark"], fence["info"].strip()
        if start is None:
            start = (at, mark, mark + info)
        elif not info and mark.startswith(start[1]):
            found.append(Fence(start[0], at, start[2], start[1]))
            start = None
    return found


class Fences:
    """Finds the code block around a line."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._fences = fences_of(lines)
        self._starts = [fence.first for fence in self._fences]

    def around(self, line: int) -> Fence | None:
        """The block that has both `line` and the line before it inside, fences included."""
        at = bisect_right(self._starts, line - 1) - 1
        return self._fences[at] if at >= 0 and line <= self._fences[at].last else None

    def holds(self, line: int) -> bool:
        """Whether `line` is part of a code block."""
        at = bisect_right(self._starts, line) - 1
        return at >= 0 and line <= self._fences[at].last


def render(
    pieces: Sequence[Piece], keep: Sequence[bool], *, key: str = "", fences: Fences | None = None, worth: int = WORTH
) -> Shortened:
    """Return the kept pieces with marks in place of the runs between them. Never longer than the pieces joined."""
    out: list[str] = []
    kept: list[tuple[int, int]] = []
    whole_lines = True
    at = offset = 0
    while at < len(pieces):
        end = at
        while end < len(pieces) and keep[end] == keep[at]:
            end += 1
        run = pieces[at:end]
        text = "".join(piece.text for piece in run)
        mark = None
        if not keep[at] and len(text) > worth:
            before, after = pieces[at - 1] if at else None, pieces[end] if end < len(pieces) else None
            mark = _mark(run, before, after, key=key, fences=fences)
        if mark is not None and len(mark.text) + worth < len(text):
            out.append(mark.text)
            whole_lines = whole_lines and mark.lines
        else:
            out.append(text)
            kept.append((offset, offset + len(text)))
        at = end
        offset += len(text)
    if sum(end - start for start, end in kept) == offset:
        return Shortened("".join(out))
    return Shortened("".join(out), _cut(pieces, _joined(kept), whole_lines=whole_lines, total=offset))


@dataclass(frozen=True, slots=True)
class _Mark:
    text: str
    lines: bool


def _mark(run: Sequence[Piece], before: Piece | None, after: Piece | None, *, key: str, fences: Fences | None) -> _Mark:
    """What stands in place of a run: a gap mark, on a line of its own when the run is of whole lines, and the fences around it."""
    first, end = run[0].line, run[-1].line
    starts = before is None or before.text.endswith("\n")
    ends = run[-1].text.endswith("\n")
    whole = starts and (ends or after is None)
    above = below = None
    if fences is not None and (whole or first != end):
        above = fences.around(first if starts else first + 1) if before is not None else None
        below = fences.around(end + 1 if ends else end) if after is not None else None
    fenced = above is not None or below is not None
    if whole:
        count = end - first + 1
        number = first_number(run[0].text, run[-1].text, count=count, default=first + 1)
        text = gap_mark(count, "lines", key=key, first=number, fenced=fenced)
    else:
        text = gap_mark(sum(len(piece.text) for piece in run), "chars", key=key, fenced=fenced)
    if above is not None:
        text = f"{'' if starts else chr(10)}{above.closing}\n{text}"
    if below is not None:
        text = f"{text}\n{below.opening}\n"
    elif ends:
        text += "\n"
    return _Mark(text, whole)


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _cut(pieces: Sequence[Piece], spans: Sequence[tuple[int, int]], *, whole_lines: bool, total: int) -> Cut:
    """What is shown: in lines when only whole lines are left out, else in characters."""
    if not whole_lines:
        return Cut("chars", tuple((start + 1, end) for start, end in spans if end > start), total)
    starts: list[int] = []
    offset = 0
    for piece in pieces:
        starts.append(offset)
        offset += len(piece.text)
    shown = tuple(
        (pieces[bisect_right(starts, start) - 1].line + 1, pieces[bisect_right(starts, end - 1) - 1].line + 1)
        for start, end in spans
        if end > start
    )
    return Cut("lines", shown, pieces[-1].line + 1)
