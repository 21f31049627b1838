"""What a call would do, as lines for a person: a command whole, an edit as a diff of the file as it is now, other calls by their arguments.

A long diff is shown in part at first, and whole to a person who wants to see more of it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.coding.permissions.asking import command_lines
from trimtab.coding.tools.diffs import unified
from trimtab.coding.tools.disk import open_regular
from trimtab.coding.tools.edit import coerce_edit
from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.tools.paths import Workspace, identity
from trimtab.coding.tools.replacements import Replacement, replace_all
from trimtab.coding.tools.text_files import decode, sniff
from trimtab.types.messages import ToolCall

_LINES = 120
_WIDTH = 160
"""Lines of a diff, and characters of one, that are shown."""
_WHOLE = 400_000
"""Characters of a diff that is shown whole."""
_READ = 4_000_000
"""Bytes of a file that are compared."""
_DIFF = 4_000_000


@dataclass(frozen=True, slots=True)
class Preview:
    """The lines; `more`: a person can see more than these."""

    lines: tuple[str, ...]
    more: bool = False


def preview(call: ToolCall, workspace: Workspace, *, whole: bool = False) -> Preview:
    """Return the lines, of a diff all of them where it is wanted `whole`. Reads the file that an edit is about; never raises for what it finds there."""
    arguments = call.arguments or {}
    if call.name == "bash":
        return Preview(command_lines(str(arguments.get("command", ""))))
    if call.name in ("write", "edit"):
        return _change(call.name, arguments, workspace, whole=whole)
    return Preview(tuple(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items()))


def _change(tool: str, arguments: Mapping[str, Any], workspace: Workspace, *, whole: bool) -> Preview:
    text = str(arguments.get("path", ""))
    try:
        path = workspace.place(text) if tool == "write" else workspace.locate(text)
    except ToolFailure as failure:
        return Preview((f"{tool} {text}", f"({failure})"))
    real = identity(path)
    head = f"{tool} {path}" + (f", which is {real}" if real != str(path) else "")
    lines = [line.rstrip("\r").expandtabs(4) for line in _diff(tool, arguments, path)]
    shown = _bounded(lines) if whole else _shortened(lines)
    return Preview((head, *shown), more=not whole and shown != lines)


def _diff(tool: str, arguments: Mapping[str, Any], path: Path) -> list[str]:
    try:
        old = _text_of(path)
        if tool == "write":
            note, new = [] if old is not None else ["(a new file)"], str(arguments.get("content", ""))
        else:
            pairs = coerce_edit(arguments)["edits"]
            replacements = [Replacement(str(pair["old"] or ""), str(pair["new"] or "")) for pair in pairs]
            note, new = [], replace_all(old or "", replacements).text
    except (ToolFailure, OSError) as failure:
        return [f"(no diff: {failure})", *_as_sent(tool, arguments)]
    diff = unified(old or "", new, size=_DIFF)
    return [*note, *("(the diff is too large to be shown)" if diff is None else diff.removesuffix("\n")).split("\n")]


def _as_sent(tool: str, arguments: Mapping[str, Any]) -> list[str]:
    """The texts of a call whose diff can't be made."""
    if tool == "write":
        return [f"+{line}" for line in str(arguments.get("content", "")).splitlines()]
    try:
        pairs = coerce_edit(arguments)["edits"]
    except ToolFailure:
        return []
    signed = ((sign, str(pair[key] or "")) for pair in pairs for sign, key in (("-", "old"), ("+", "new")))
    return [f"{sign}{line}" for sign, text in signed for line in text.splitlines()]


def _text_of(path: Path) -> str | None:
    """What the file holds now; None when there is none. Raises `ToolFailure` for what is no text or too large."""
    if not path.exists():
        return None
    with open_regular(path, str(path)) as (file, status):
        if status.st_size > _READ:
            raise ToolFailure(f"the file has {status.st_size:,} bytes")
        data = file.read(_READ)
    encoding = sniff(data)
    if encoding is None:
        raise ToolFailure("the file is binary")
    return decode(data, encoding)


def _shortened(lines: list[str]) -> list[str]:
    shown = [line if len(line) <= _WIDTH else f"{line[:_WIDTH]}… ({len(line):,} characters)" for line in lines[:_LINES]]
    more = len(lines) - len(shown)
    return [*shown, f"… and {more:,} more lines"] if more > 0 else shown


def _bounded(lines: list[str]) -> list[str]:
    """All of them, or those that a person could read and how many more there are."""
    room, shown = _WHOLE, list[str]()
    for line in lines:
        if len(line) > room:
            return [*shown, line[:room], f"… and more: {sum(map(len, lines)):,} characters in {len(lines):,} lines"]
        room -= len(line)
        shown.append(line)
    return shown
