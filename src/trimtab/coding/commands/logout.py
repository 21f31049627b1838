"""`/logout PROVIDER`: forget a key or a login; this session goes on with what it has."""

from collections.abc import Sequence

from trimtab.coding.auth.login import log_out
from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line
from trimtab.config.auth_file import read_auth
from trimtab.types.errors import UsageError


async def _run(desk: Desk, rest: str) -> None:
    words = rest.split()
    project = desk.session.project
    if len(words) != 1:
        kept = ", ".join(map(one_line, read_auth(project.home.auth_file).logins)) or "none"
        raise UsageError("/logout takes the name of one provider", hint=f"Kept: {kept}.")
    desk.tell("\n".join(map(one_line, await log_out(project, words[0]))))
    if desk.session.model.provider == words[0]:
        desk.tell("This session keeps what it has in memory until it ends, or /model is used.")


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    kept = read_auth(session.project.home.auth_file).logins
    return [Completion(name) for name in kept if name.startswith(typed)]


COMMAND = Command("logout", "PROVIDER", "forget a key or a login", _run, _complete)
