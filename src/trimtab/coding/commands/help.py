"""`/help`: what can be typed."""

from collections.abc import Callable, Mapping

from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.session import Session

_ELSE = "@FILE in a line attaches that file. !COMMAND runs a command that the model reads, !!COMMAND one that it doesn't see. Anything typed while the agent works steers it. Ctrl-C stops it."
_HEADS = 25
"""Columns of what is typed; a longer one has a line of its own."""


def help_text(commands: Mapping[str, Command]) -> str:
    """The list of commands, and what else one can type; whoever shows it breaks its lines."""
    lines: list[str] = []
    for command in commands.values():
        head = f"/{command.name} {command.arguments}".strip()
        if len(head) >= _HEADS:
            lines.append(head)
            head = ""
        lines.append(f"{head:{_HEADS}}{command.help}")
    return "\n".join([*lines, _ELSE])


def help_command(commands: Callable[[Session], Mapping[str, Command]]) -> Command:
    """The command that lists the `commands` of a session, itself among them."""

    async def run(desk: Desk, rest: str) -> None:
        desk.tell(help_text(commands(desk.session)))

    return Command("help", "", "this list", run)
