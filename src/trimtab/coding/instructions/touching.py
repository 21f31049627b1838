"""Which files and folders a call looks at or changes, as far as that can be told from its words.

    read, write, edit ──path──▶ a file        grep, find, ls ──path──▶ a file, or a folder and a slash
    bash ──parsed──▶ operands of commands that read (`cat`, `sed -n`, `rg`, …), from the folder that `cd` leads to

The one rule: a word counts only where something of that name is there; what isn't known (`$x`, `*`) names nothing.
"""

import os
import re
from collections.abc import Iterator
from typing import Any

from trimtab.coding.permissions.shell import Command, Unclear, parse
from trimtab.coding.tools.paths import Workspace, identities
from trimtab.types.messages import ToolCall

TOUCHING = frozenset({"read", "write", "edit"})
LOOKING = frozenset({"grep", "find", "ls"})
READERS = frozenset(
    [
        "awk",
        "bat",
        "cat",
        "diff",
        "egrep",
        "fgrep",
        "file",
        "find",
        "grep",
        "head",
        "less",
        "ls",
        "more",
        "nl",
        "rg",
        "sed",
        "sort",
        "stat",
        "tail",
        "tree",
        "uniq",
        "view",
        "wc",
    ]
)
"""Commands whose operands are files and folders that they show something of."""
_LIKELY = re.compile(rf"\b(?:{'|'.join(sorted(READERS))})\b")
_LONGEST = 20_000
"""Characters of a command that is looked through."""
_MOST = 100
"""Operands of one command that are looked at."""


def paths_of(call: ToolCall, workspace: Workspace) -> frozenset[str]:
    """The real paths that a call names; those of folders end in a slash. Touches the disk."""
    arguments: dict[str, Any] = dict(call.arguments or {})
    if call.name in TOUCHING:
        return identities(workspace.locate, arguments.get("path"))
    if call.name in LOOKING:
        return frozenset(map(_closed, identities(workspace.locate, arguments.get("path"))))
    command = arguments.get("command")
    return frozenset(_read_by(command, workspace)) if call.name == "bash" and isinstance(command, str) else frozenset()


def may_touch(call: ToolCall) -> bool:
    """Whether `paths_of` may find something, told without looking closely."""
    command = (call.arguments or {}).get("command")
    reads = call.name == "bash" and isinstance(command, str) and len(command) <= _LONGEST
    return call.name in TOUCHING or call.name in LOOKING or bool(reads and _LIKELY.search(str(command)))


def _read_by(script: str, workspace: Workspace) -> Iterator[str]:
    if len(script) > _LONGEST or not _LIKELY.search(script):
        return
    try:
        commands = parse(script)
    except Unclear:
        return
    here = str(workspace.cwd)
    for command in commands:
        name, operands = _words(command)
        if name == "cd" and operands:
            here = os.path.join(here, os.path.expanduser(operands[0]))
        elif name in READERS:
            paths = (os.path.join(here, word) for word in operands[:_MOST])
            yield from (_closed(os.path.realpath(path)) for path in paths if os.path.lexists(path))


def _words(command: Command) -> tuple[str, list[str]]:
    """The name of a command, without its folder, and the operands that are known."""
    known = [word.text for word in command.words if word.known and word.text and "\0" not in word.text]
    if not known or not command.words[0].known:
        return "", []
    return os.path.basename(known[0]), [text for text in known[1:] if not text.startswith("-")]


def _closed(path: str) -> str:
    return os.path.join(path, "") if os.path.isdir(path) else path
