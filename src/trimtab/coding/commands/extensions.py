"""`/extensions`: what of others acts in this session, from where, and what doesn't; and `/NAME` of each command that an extension brings."""

from collections.abc import Mapping
from functools import partial

from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.extensions.api import RegisteredCommand, Say
from trimtab.coding.extensions.foreign import HookFailed
from trimtab.coding.session import Session
from trimtab.coding.telling.extension_text import extension_lines
from trimtab.coding.telling.printable import one_line
from trimtab.types.errors import UsageError
from trimtab.types.text import scrub, strip_terminal


async def _run(desk: Desk, rest: str) -> None:
    desk.tell("\n".join(map(one_line, extension_lines(desk.session.extensions))))


def extension_commands(session: Session) -> Mapping[str, Command]:
    """A command for each that an extension registered."""
    return {command.name: _command(name, command) for name, command in session.extensions.commands}


def _command(name: str, command: RegisteredCommand) -> Command:
    async def run(desk: Desk, rest: str) -> None:
        try:
            answer = await desk.session.extensions.run_command(name, command, rest)
        except HookFailed as problem:
            raise UsageError(f"/{command.name} of extension {name} failed: {problem}") from problem
        if isinstance(answer, Say):
            desk.work(partial(desk.session.prompt, scrub(str(answer.text))))
        elif isinstance(answer, str):
            desk.tell(strip_terminal(answer))
        elif answer is not None:
            raise UsageError(
                f"/{command.name} of extension {name} answered a {type(answer).__name__}", hint="A text, or Say(text)."
            )

    return Command(command.name, one_line(command.arguments), one_line(command.help or f"of extension {name}"), run)


COMMAND = Command("extensions", "", "the extensions and hooks, what they registered, and from where", _run)
