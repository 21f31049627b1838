"""Which files a command line writes by redirection, as far as it can be read."""

from trimtab.coding.permissions.commands import unwrap
from trimtab.coding.permissions.shell import Command, Unclear, parse


def redirect_targets(script: str) -> tuple[str, ...]:
    """Return the targets of output redirections as written, in order, each once.

    After a `cd` it is unclear where a relative one is: those are left out. None for a script that can't be read.
    """
    try:
        commands = _with_inner(parse(script))
    except Unclear:
        return ()
    moves = any(command.words and command.words[0].text in ("cd", "pushd", "popd") for command in commands)
    texts = (target.text for command in commands for target in command.writes)
    return tuple(dict.fromkeys(text for text in texts if text.startswith("/") or not moves))


def _with_inner(commands: tuple[Command, ...]) -> tuple[Command, ...]:
    """The commands and those that wrappers among them run (`sh -c 'ls > x'`), one level deep."""
    return tuple(each for command in commands for each in (command, *(unwrap(command) or ())))
