"""Which commands there are, and which of them a line means.

`/etc/passwd is a file` is no command but text: a command's name is one word of letters.
"""

import re
from collections.abc import Mapping

from trimtab.coding.commands import (
    answer,
    compact,
    context,
    cost,
    diff,
    fork,
    init,
    label,
    model,
    models,
    new,
    permissions,
    quit,
    redo,
    reload,
    resume,
    revert,
    settings,
    stats,
    thinking,
    tools,
    tree,
    trust,
    undo,
    verify,
)
from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.commands.help import help_command
from trimtab.coding.telling.nearest import nearest
from trimtab.types.errors import UsageError

_COMMAND = re.compile(r"/([a-z]*)(?:\s+(.*))?", re.S)

COMMANDS: Mapping[str, Command] = {
    command.name: command
    for command in (
        model.COMMAND,
        models.COMMAND,
        thinking.COMMAND,
        tools.COMMAND,
        cost.COMMAND,
        stats.COMMAND,
        context.COMMAND,
        compact.COMMAND,
        revert.COMMAND,
        undo.COMMAND,
        redo.COMMAND,
        diff.COMMAND,
        verify.COMMAND,
        init.COMMAND,
        new.COMMAND,
        resume.COMMAND,
        fork.COMMAND,
        fork.CLONE,
        tree.COMMAND,
        label.COMMAND,
        reload.COMMAND,
        settings.COMMAND,
        trust.COMMAND,
        permissions.COMMAND,
        answer.COMMAND,
        help_command(lambda: COMMANDS),
        quit.COMMAND,
    )
}
"""By name, in the order in which help lists them."""


def parse(line: str) -> tuple[str, str] | None:
    """`line` as a command's name and what follows it; None when it is text."""
    found = _COMMAND.fullmatch(line)
    return (found[1], (found[2] or "").strip()) if found else None


async def run_command(desk: Desk, name: str, rest: str) -> None:
    """Run the command of that name. Raises `UsageError` when there is none."""
    command = COMMANDS.get(name)
    if command is None:
        meant = nearest(name, COMMANDS)
        guess = f"Did you mean /{meant}? " if meant else ""
        raise UsageError(
            f"no command /{name}", hint=f"{guess}/help lists them. To send it as text, put a space before it."
        )
    await command.run(desk, rest)
