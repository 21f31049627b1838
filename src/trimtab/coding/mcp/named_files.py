"""Which files of a project an entry of `.mcp.json` names: what is judged beside the entry itself.

    command (found by PATH) ─┐
    args, each word of them ─┼─ below the folder where it starts ──▶ a file of the project: its bytes are judged
    values of env ───────────┘                                   └─▶ a link of the project that leads out of it: where it leads is judged

The one rule: a name in the project counts whatever it leads to, so that no link takes the place of a file that was judged.
"""

import os
import re
import shlex
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from trimtab.coding.mcp.config import ServerConfig
from trimtab.coding.telling.printable import one_line
from trimtab.coding.trust.place import lies_in
from trimtab.types.errors import ConfigError

MOST_FILES = 40
"""So many of a project's files may one entry name."""
_MOST_WORDS = 2_000
_LONGEST = 4_096
_PARTS = re.compile(r"[=:,]")


def files_of(server: ServerConfig, environment: Mapping[str, str], root: str) -> dict[str, bytes | Path]:
    """The files below `root` (a real path) that a server names, by their paths from there: each a file to read, or what is to be judged in its place.

    Raises `ConfigError` when it names more than anybody would look at. Touches the disk.
    """
    found: dict[str, bytes | Path] = {}
    for path in _paths(server, environment):
        named, real = os.path.normpath(path), os.path.realpath(path)
        if not _is_file(real):
            continue
        if lies_in(real, root):
            found[os.path.relpath(real, root)] = Path(real)
        elif lies_in(named, root):
            found[os.path.relpath(named, root)] = f"a link to {real}\n".encode("utf-8", "surrogateescape")
        if len(found) > MOST_FILES:
            raise ConfigError(
                f"the server {one_line(server.name)} names more than {MOST_FILES} files of the project",
                hint="Let its command name fewer.",
            )
    return found


def _paths(server: ServerConfig, environment: Mapping[str, str]) -> Iterator[str]:
    """What could be files, as paths: the command where it would be found, then every word."""
    folder, given = os.fspath(server.folder), server.server
    command = given.command or ""
    if command and os.sep not in command:
        path = given.env.get("PATH", environment.get("PATH", os.defpath))
        places = (os.path.join(folder, place, command) for place in path.split(os.pathsep))
        yield from [place for place in places if os.access(place, os.X_OK) and _is_file(os.path.realpath(place))][:1]
    words = [word for text in (command, *given.args, *given.env.values()) for word in _words(text)]
    if len(words) > _MOST_WORDS:
        raise ConfigError(
            f"the server {one_line(server.name)} has more than {_MOST_WORDS:,} words in its command and environment",
            hint="Put them into a script of the project, which is judged as a file.",
        )
    yield from (os.path.join(folder, word) for word in words)


def _words(text: str) -> Iterator[str]:
    """A text, its words as a shell has them, and what stands behind `=`, `:` and `,` in each."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    for word in dict.fromkeys((text, *(word.strip(";&|()<>") for word in words))):
        if word and "\0" not in word and len(word) < _LONGEST:
            yield word
            parts = _PARTS.split(word)
            yield from (part for part in parts if part and len(parts) > 1)


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False
