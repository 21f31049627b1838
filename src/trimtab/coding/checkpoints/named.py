"""Which files outside the project a command line says that it changes: the look at the project doesn't see them.

    "cd .. && sed -i s/a/b/ x > log"  ──parsed──▶ operands of commands that change files, targets of redirections, from the folder that `cd` leads to ──▶ real paths

Only commands that are known to change what they name count: a copy of whatever else a line names (a key that `ssh` is given) would be a copy of a secret. The one rule:
what isn't known (`$x`, `*`, what a program does by itself) names nothing.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from trimtab.coding.permissions.shell import Command, Unclear, parse

_LONGEST = 20_000
"""Characters of a command that is looked through."""
MOST = 50
"""Paths that are looked at."""
_EACH = frozenset(
    {
        "rm",
        "unlink",
        "shred",
        "mv",
        "touch",
        "tee",
        "truncate",
        "chmod",
        "patch",
        "gzip",
        "gunzip",
        "sponge",
    }
)
"""Commands that may change each file that they name."""
_IN_PLACE: Mapping[str, Callable[[str], bool]] = {
    "sed": lambda option: option.startswith(("-i", "--in-place")) or (option[1:2] in "nEsz" and "i" in option),
    "perl": lambda option: option.startswith("-") and "i" in option.partition("e")[0],
}
"""Those that do so with such an option."""
_LAST = frozenset({"cp", "ln", "install", "rsync", "mv"})
"""Commands that make what they name last, or something in it."""
_APART = ("/proc/", "/sys/", "/dev/")


def outside(script: str, cwd: Path) -> list[str]:
    """The real paths, outside of `cwd`, of files that there are or may come to be. Touches the disk; never raises for what a line may hold."""
    if len(script) > _LONGEST:
        return []
    project = os.path.realpath(cwd)
    found: dict[str, None] = {}
    for text in _named(script, str(cwd)):
        path = os.path.realpath(text)
        if path != project and not path.startswith((project.rstrip("/") + "/", *_APART)) and not os.path.isdir(path):
            found[path] = None
            if len(found) == MOST:
                break
    return list(found)


def _named(script: str, here: str) -> Iterator[str]:
    try:
        commands = parse(script)
    except Unclear:
        return
    for command in commands:
        name, operands, options = _words(command)
        paths = [os.path.join(here, os.path.expanduser(word)) for word in operands]
        if name == "cd" and paths:
            here = paths[0]
        yield from (os.path.join(here, os.path.expanduser(w.text)) for w in command.writes if w.known)
        if name in _EACH or (name in _IN_PLACE and any(_IN_PLACE[name](option) for option in options)):
            yield from paths
        if name == "dd":
            yield from (os.path.join(here, word[3:]) for word in operands if word.startswith("of="))
        if name in _LAST and len(paths) > 1:
            yield from _made(paths)


def _made(paths: list[str]) -> Iterator[str]:
    """What a copy makes: its last operand, or files of those names in it."""
    *sources, target = paths
    if os.path.isdir(target):
        yield from (os.path.join(target, os.path.basename(source.rstrip("/"))) for source in sources)
    else:
        yield target


def _words(command: Command) -> tuple[str, list[str], list[str]]:
    """The name of a command, without its folder and what is in front of it, the operands that are known, and the options."""
    known = [word.text for word in command.words if word.known and word.text and "\0" not in word.text]
    if not known or not command.words[0].known:
        return "", [], []
    if known[0] == "sudo":
        known = known[1:]
    operands = [text for text in known[1:] if not text.startswith("-")]
    return os.path.basename(known[0]) if known else "", operands, [text for text in known[1:] if text.startswith("-")]
