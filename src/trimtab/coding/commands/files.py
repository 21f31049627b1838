"""Paths as completion data: for `@path` in any text, and for commands that take a file.

"look at @src/ma" ──▶ @src/main.py     "@two" ──▶ @two\\ words     '@"two' ──▶ @"two words"
names from the session's folder on, folders with a slash, the hidden ones only where a dot is typed
"""

import os
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from trimtab.coding.commands.command import Completion
from trimtab.coding.mentions import being_typed, written
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_path

MOST = 200
"""How many names are offered."""
_READ = 20_000
"""How many entries of a folder are looked at."""


def path_in(session: Session, name: str) -> Path:
    """The path that a person means by `name` in this session."""
    return Path(session.project.cwd, os.path.expanduser(name))


def complete_paths(session: Session, typed: str, *, blanks: bool = False) -> Sequence[Completion]:
    """The paths that begin as `typed` does; `blanks`: also those with blanks in them. Touches the disk."""
    folder, start = os.path.split(typed)
    try:
        with os.scandir(os.path.join(session.project.cwd, os.path.expanduser(folder))) as entries:
            found = sorted(
                os.path.join(folder, entry.name) + ("/" if entry.is_dir() else "")
                for entry in islice(entries, _READ)
                if entry.name.startswith(start) and (start.startswith(".") or not entry.name.startswith("."))
            )
    except (OSError, ValueError):
        return ()
    # A name that can't be typed as it stands can't be completed.
    plain = (name for name in found if one_path(name) == name)
    return [Completion(n) for n in plain if not any(c.isspace() and not (blanks and c == " ") for c in n)][:MOST]


def complete_files(session: Session, typed: str) -> Sequence[Completion]:
    """What may stand in place of `typed`, whose last word begins with `@`; nothing for any other text. Blanks are written as they have to be there."""
    if (mention := being_typed(typed)) is None:
        return ()
    before, name, quote = mention
    paths = complete_paths(session, name, blanks=True)
    names = (written(path.value, quote) for path in paths)
    return [Completion(f"{before}{name}") for name in names if name is not None]
