"""The notice: in words, how the front that holds differs from the one that is sent.

    front sent, front wanted ──notice──▶ changed lines of the instructions, tools that are off, new ones, changed ones

A change of the instructions is told as what stood there and what holds in its place, line by line, with the place: the line in front of it, more of
them where the place would not be the only one of its kind, and the nearest heading above. Where a place is found only by counting, or all this would
be longer than the new instructions, those are told whole.
"""

import difflib
import re
from collections.abc import Iterator, Sequence
from math import inf

import msgspec

from trimtab.context.cycle.front import Front
from trimtab.types.tools import ToolSpec

HEAD = "[notice: what stands at the head of this conversation has changed since. Where the two differ, this holds, and it replaces any earlier notice.]"
AGAIN = "[notice: what stands at the head of this conversation holds again as it stands there; earlier notices don't.]"
_MOST_COMPARED = 4_000_000
"""Pairs of lines up to which two texts are compared line by line."""
_MOST_BEFORE = 8
"""Lines in front of a change that may tell its place."""
_LONG = 200
"""Characters of such a line that are told."""
_HEADING = re.compile(r"#{1,6}\s|<[^/<>][^<>]*>$|\*\*[^*]+\*\*:?$")
_BULLET = re.compile(r"(?:[-*+•]|\d+[.)])\s")


def notice(sent: Front, wanted: Front) -> str:
    """Return what a model has to know when it reads `sent` and `wanted` holds; empty when there is nothing to know, as with another order."""
    parts = (*_instructions(sent.system, wanted.system), *_tools(sent.tools, wanted.tools))
    return "\n".join((HEAD, *parts)) if parts else ""


def _instructions(sent: str, wanted: str) -> Iterator[str]:
    if sent == wanted:
        return
    if not wanted.strip():
        yield "The instructions at the head no longer hold."
        return
    before, after = _lines(sent), _lines(wanted)
    if len(before) * len(after) <= _MOST_COMPARED:
        told = _compared(before, after, most=len(wanted))
        if told is not None:
            yield from filter(None, (told,))
            return
    yield f"The instructions, as a whole, now read:\n{wanted.strip()}"


def _lines(text: str) -> list[str]:
    """The lines of a text; blank ones and what is blank at the end of one mean nothing."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def _compared(before: Sequence[str], after: Sequence[str], *, most: int) -> str | None:
    """All changes, one below the other; None where a place can't be told, or they have `most` characters and more."""
    told: list[str] = []
    for change in _changes(before, after):
        if change is None or (most := most - len(change) - 1) < 0:
            return None
        told.append(change)
    return "\n".join(told)


def _changes(before: Sequence[str], after: Sequence[str]) -> Iterator[str | None]:
    """Each changed run of lines with its place; None for one whose place can't be told."""
    for kind, start, end, first, last in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        context = _context(before, start, end)
        if context is None:
            yield None
            return
        place = _place(before, start, context, changed=(*before[start:end], *after[first:last])[0])
        old, new = _quoted(before[start:end]), _quoted(after[first:last])
        if old and new:
            yield f"{place}the instructions no longer say\n{old}\nbut\n{new}"
        elif old:
            yield f"{place}the instructions no longer say\n{old}"
        else:
            yield f"{place}the instructions now also say\n{new}"


def _context(before: Sequence[str], start: int, end: int) -> Sequence[str] | None:
    """The fewest lines in front of `start` after which the lines up to `end` stand only once; none at the beginning, None when no few do."""
    for size in range(1, min(start, _MOST_BEFORE) + 1):
        run = before[start - size : end]
        found = (at for at, line in enumerate(before) if line == run[0] and before[at : at + len(run)] == run)
        if next(found) == start - size and next(found, None) is None:
            return run[:size]
    return None if start else ()


def _place(before: Sequence[str], start: int, context: Sequence[str], *, changed: str) -> str:
    """Where a change stands, in words that a sentence goes on after."""
    if not context:
        return "At the beginning "
    heading = _heading(before[:start], changed)
    clipped = _quoted([line if len(line) <= _LONG else f"{line[:_LONG]}…" for line in context])
    if heading is None or heading in context or len(heading) > _LONG:
        return f"After\n{clipped}\n"
    return f"Under\n> {heading}\nafter\n{clipped}\n"


def _heading(above: Sequence[str], changed: str) -> str | None:
    """The nearest line above that heads the changed one: a heading, or a line that ends in a colon and whose list, or indented block, goes on to there."""
    bullet, plain = _indents(changed)
    for line in reversed(above):
        text = line.lstrip()
        indent = len(line) - len(text)
        if _HEADING.match(text):
            return line
        is_bullet = bool(_BULLET.match(text))
        if text.endswith(":") and plain > indent and (bullet > indent if is_bullet else bullet >= indent):
            return line
        bullet, plain = (min(*pair) for pair in zip((bullet, plain), _indents(line), strict=True))
    return None


def _indents(line: str) -> tuple[float, float]:
    """How far a line is indented, if it is an item of a list and if it is not."""
    text = line.lstrip()
    indent = len(line) - len(text)
    return (indent, inf) if _BULLET.match(text) else (inf, indent)


def _quoted(lines: Sequence[str]) -> str:
    return "\n".join(f"> {line}" for line in lines)


def _tools(sent: Sequence[ToolSpec], wanted: Sequence[ToolSpec]) -> Iterator[str]:
    before, after = {tool.name: tool for tool in sent}, {tool.name: tool for tool in wanted}
    if off := [name for name in before if name not in after]:
        yield f"Tools that are off now, so that a call of one is refused: {', '.join(off)}."
    if new := added(sent, wanted):
        yield f"Tools that are new and can't be called yet; they will be, later in this conversation: {', '.join(new)}."
    for name, tool in after.items():
        known = before.get(name)
        if known is None or known == tool:
            continue
        if known.description != tool.description:
            yield f"The tool {name} is now described so:\n{tool.description.strip()}"
        if known.parameters != tool.parameters:
            yield f"The tool {name} now takes arguments of this schema: {msgspec.json.encode(tool.parameters).decode()}"


def added(sent: Sequence[ToolSpec], wanted: Sequence[ToolSpec]) -> list[str]:
    """The names of the tools that a model can't call as long as it gets only what was `sent`."""
    known = {tool.name for tool in sent}
    return [tool.name for tool in wanted if tool.name not in known]
