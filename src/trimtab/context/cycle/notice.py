"""The notice: in words, how the front that holds differs from the one that is sent.

    front sent, front wanted ──notice──▶ changed lines of the instructions, tools that are off, new ones, changed ones

A change of the instructions is told as what stands there and what holds in its place, line by line, so it can be found in the text at the head;
where that would be longer than the new instructions, those are told whole.
"""

import difflib
from collections.abc import Iterator, Sequence

import msgspec

from trimtab.context.cycle.front import Front
from trimtab.types.tools import ToolSpec

HEAD = "[notice: what stands at the head of this conversation has changed since. Where the two differ, this holds, and it replaces any earlier notice.]"
AGAIN = "[notice: what stands at the head of this conversation holds again as it stands there; earlier notices don't.]"
_MOST_COMPARED = 4_000_000
"""Pairs of lines up to which two texts are compared line by line."""


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
    before, after = sent.splitlines(), wanted.splitlines()
    if len(before) * len(after) <= _MOST_COMPARED:
        changes = "\n".join(_changes(before, after))
        if len(changes) < len(wanted):
            if changes:
                yield changes
            return
    yield f"The instructions, as a whole, now read:\n{wanted.strip()}"


def _changes(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Changed runs of lines; blank ones mean nothing."""
    for kind, start, end, first, last in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        old, new = _quoted(before[start:end]), _quoted(after[first:last])
        if kind == "equal" or old == new:
            continue
        if old and new:
            yield f"Where the instructions say\n{old}\nthey now say\n{new}"
        elif old:
            yield f"The instructions no longer say\n{old}"
        else:
            yield f"The instructions now also say\n{new}"


def _quoted(lines: Sequence[str]) -> str:
    return "\n".join(f"> {line.rstrip()}" for line in lines if line.strip())


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
