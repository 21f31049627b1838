"""What of a project would act, found by its metadata alone: names, kinds and sizes; nothing is opened that isn't a folder.

from the project's root down to where one works: .trimtab/  .agents/  of .claude/ what is read  AGENTS.md  CLAUDE.md  CLAUDE.local.md  .mcp.json
"""

import os
import stat
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from trimtab.coding.trust.own import is_own
from trimtab.coding.trust.place import above, is_foreign, lies_in

NAMES = (
    ".trimtab",
    ".agents",
    ".claude/agents",
    ".claude/skills",
    ".claude/commands",
    "AGENTS.md",
    "CLAUDE.md",
    ".claude/CLAUDE.md",
    "CLAUDE.local.md",
    ".mcp.json",
)
LISTED = 200
"""How many entries of an input's folders are listed at most."""
_DEEP = 8
GUIDANCE = ("AGENTS.md", "CLAUDE.md")
"""Names of instruction files; of a folder the first counts."""
NESTED = 50
"""How many instruction files of other folders are listed at most."""
_SEARCHED = 20_000
"""How many entries of folders are looked at for them."""
_PASSED = frozenset({".git", ".hg", ".svn", ".trimtab", ".agents", "node_modules", "__pycache__", ".venv", "venv"})

Kind = Literal["folder", "file", "link", "special"]


@dataclass(frozen=True, slots=True)
class Input:
    """One thing that would act. `name` is its path from the project's root on; `target` is where a link leads; `own`: it lies in the project."""

    path: Path
    name: str
    kind: Kind
    size: int = 0
    target: str = ""
    own: bool = True


def project_inputs(root: Path, cwd: Path) -> tuple[Input, ...]:
    """What would act for somebody who works in `cwd`, if the project `root` (both real paths) were trusted."""
    folders = [os.fspath(cwd), *above(os.fspath(cwd))]
    within = [folder for folder in reversed(folders) if lies_in(folder, os.fspath(root))]
    found = (_input(root, Path(folder, name)) for folder in within for name in NAMES)
    return tuple(one for one in found if one is not None)


def nested_inputs(root: Path, cwd: Path) -> tuple[tuple[Input, ...], bool]:
    """The instruction files of the project's other folders, which are read once something in their folder is touched; and whether these are all, for a large project isn't searched to its end."""
    top, chain = os.fspath(root), {os.fspath(cwd), *above(os.fspath(cwd))}
    found: list[Input] = []
    pending, seen = deque([top]), 0
    while pending:
        folder = pending.popleft()
        try:
            with os.scandir(folder) as entries:
                inside = sorted(islice(entries, _SEARCHED - seen), key=lambda entry: entry.name)
        except OSError:
            continue
        seen += len(inside)
        names = {entry.name for entry in inside}
        read = next((name for name in GUIDANCE if name in names), None) if folder not in chain else None
        if read and not is_foreign(folder, top) and (one := _input(root, Path(folder, read))):
            found.append(one)
        if len(found) > NESTED or seen >= _SEARCHED:
            return tuple(found[:NESTED]), False
        pending += [e.path for e in inside if e.name not in _PASSED and e.is_dir(follow_symlinks=False)]
    return tuple(found), True


def contents(root: Path, folder: Path) -> tuple[tuple[Input, ...], bool]:
    """What lies in an input that is a folder, links not followed, and whether that is all of it."""
    found = list(islice(_walk(root, folder, _DEEP), LISTED + 1))
    return tuple(found[:LISTED]), len(found) <= LISTED


def _walk(root: Path, folder: Path, deep: int) -> Iterator[Input]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in islice(entries, LISTED + 1))
    except OSError:
        return
    for name in names:
        one = _input(root, folder / name)
        if one is None:
            continue
        yield one
        if one.kind == "folder" and deep:
            yield from _walk(root, one.path, deep - 1)


def _input(root: Path, path: Path) -> Input | None:
    try:
        status = path.lstat()
        target = os.readlink(path) if stat.S_ISLNK(status.st_mode) else ""
    except OSError:
        return None
    name = os.path.relpath(path, root)
    mode = status.st_mode
    if stat.S_ISLNK(mode):
        return Input(path, name, "link", target=target, own=is_own(root, path))
    if stat.S_ISDIR(mode):
        return Input(path, name, "folder", own=is_own(root, path))
    return Input(path, name, "file" if stat.S_ISREG(mode) else "special", status.st_size)
