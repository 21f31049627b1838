"""`/help`: what can be typed."""

import textwrap
from collections.abc import Callable, Mapping
from itertools import zip_longest

from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.session import Session

_ELSE = "@FILE in a line attaches that file. !COMMAND runs a command that the model reads, !!COMMAND one that it doesn't see. Anything typed while the agent works steers it. Ctrl-C stops it."


_WIDTH = 80
_HEADS = 25
"""Columns of what is typed; a longer one has a line of its own."""


def help_text(commands: Mapping[str, Command]) -> str:
    """The list of commands, and what else one can type, in 80 columns."""
    lines: list[str] = []
    for command in commands.values():
        head = f"/{command.name} {command.arguments}".strip()
        body = textwrap.wrap(command.help, _WIDTH - _HEADS) or [""]
        if len(head) >= _HEADS:
            lines.append(head)
            head = ""
        lines += [f"{start:{_HEADS}}{text}".rstrip() for start, text in zip_longest((head,), body, fillvalue="")]
    return "\n".join([*lines, *textwrap.wrap(_ELSE, _WIDTH)])


def help_command(commands: Callable[[Session], Mapping[str, Command]]) -> Command:
    """The command that lists the `commands` of a session, itself among them."""

    async def run(desk: Desk, rest: str) -> None:
        desk.tell(help_text(commands(desk.session)))

    return Command("help", "", "this list", run)
