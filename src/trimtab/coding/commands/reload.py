"""`/reload`: read settings, instructions and all else of this folder again, and go on with the same session."""

from trimtab.coding.commands.command import Command, Desk
from trimtab.types.errors import UsageError


async def _run(desk: Desk, rest: str) -> None:
    session = desk.session
    if session.log.path is None:
        raise UsageError(
            "this session is kept nowhere, so it can't be opened again", hint="Start without --no-session."
        )
    desk.reload(session.project.moved_to(session.project.cwd))


COMMAND = Command("reload", "", "read settings and all else of this folder again", _run)
