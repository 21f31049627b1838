"""Which files a command line writes by redirection, and in which folders its commands run, as far as it can be read."""

import os.path
import re
from collections.abc import Iterable

from trimtab.coding.permissions.commands import unwrap
from trimtab.coding.permissions.shell import Command, Unclear, parse

_MOVERS = frozenset({"cd", "pushd", "popd"})
_LOOP = re.compile(r"\b(?:for|while|until)\b")
_MOST_FOLDERS = 16


def redirect_targets(script: str) -> tuple[str, ...]:
    """Return the targets of output redirections as written, in order, each once.

    After a `cd` it is unclear where a relative one is: those are left out. None for a script that can't be read.
    """
    try:
        commands = _with_inner(parse(script))
    except Unclear:
        return ()
    moves = any(moves_on(command) for command in commands)
    texts = (target.text for command in commands for target in command.writes)
    return tuple(dict.fromkeys(text for text in texts if text.startswith("/") or not moves))


def moves_on(command: Command) -> bool:
    """Whether a command may change the folder in which later ones run, in whatever dress (`command cd x`): where a relative name leads is then unclear."""
    return any(word.text in _MOVERS for word in command.words) or any(not word.known for word in command.words[:1])


def folders_of(script: str, commands: Iterable[Command], start: frozenset[str] = frozenset({""})) -> frozenset[str]:
    """Return every folder in which a command of `script` may run, from `start` ("": the working folder); none when that is unclear."""
    found = start
    for command in commands:
        if not moves_on(command):
            continue
        words = command.words
        if len(words) != 2 or words[0].text != "cd" or not words[1].known or words[1].text.startswith("-"):
            return frozenset()
        target = words[1].text
        if _LOOP.search(script) and not target.startswith("/"):
            return frozenset()  # each round leads further
        places = {os.path.join(folder, target) for folder in found}
        found |= places | {os.path.normpath(place) for place in places}  # a shell takes `link/..` for nothing
        if len(found) > _MOST_FOLDERS:
            return frozenset()
    return found


def _with_inner(commands: tuple[Command, ...]) -> tuple[Command, ...]:
    """The commands and those that wrappers among them run (`sh -c 'ls > x'`), one level deep."""
    return tuple(each for command in commands for each in (command, *(unwrap(command) or ())))
