"""What of a project would act, found by its metadata alone: names, kinds and sizes; nothing is opened that isn't a folder.

from the project's root down to where one works: .trimtab/  .agents/  .claude/agents/  AGENTS.md  CLAUDE.md  .mcp.json
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from trimtab.coding.trust.own import is_own
from trimtab.coding.trust.place import above, lies_in

NAMES = (".trimtab", ".agents", ".claude/agents", "AGENTS.md", "CLAUDE.md", ".mcp.json")
LISTED = 200
"""How many entries of an input's folders are listed at most."""
_DEEP = 8

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
