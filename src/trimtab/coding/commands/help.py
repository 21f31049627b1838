"""`/help`: what can be typed."""

from collections.abc import Callable, Mapping

from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.session import Session

_ELSE = "@FILE in a line attaches that file. Anything typed while the agent works steers it. Ctrl-C stops it."


def help_text(commands: Mapping[str, Command]) -> str:
    """The list of commands, and what else one can type."""
    heads = {f"/{command.name} {command.arguments}".strip(): command.help for command in commands.values()}
    width = max(map(len, heads))
    return "\n".join([*(f"{head:{width}}   {text}" for head, text in heads.items()), _ELSE])


def help_command(commands: Callable[[Session], Mapping[str, Command]]) -> Command:
    """The command that lists the `commands` of a session, itself among them."""

    async def run(desk: Desk, rest: str) -> None:
        desk.tell(help_text(commands(desk.session)))

    return Command("help", "", "this list", run)
