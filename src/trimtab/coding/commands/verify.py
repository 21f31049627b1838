"""`/verify`: run the checks now, without waiting for the model to say that it is done; or take the protected files as they are from now on."""

from collections.abc import Sequence
from functools import partial

from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line, set_in
from trimtab.types.errors import UsageError

_ACCEPT = "accept"


async def _run(desk: Desk, rest: str) -> None:
    if rest.strip() not in ("", _ACCEPT):
        raise UsageError(
            f"/verify knows no {one_line(rest.strip())!r}",
            hint="/verify checks now, /verify accept takes protected files as they are.",
        )
    desk.work(partial(_accept if rest.strip() else _check, desk), is_turn=False)


async def _check(desk: Desk) -> None:
    """Run them and say how it went."""
    problems = await desk.session.verify()
    first, _, more = problems.partition("\n")
    if not problems:
        desk.tell("verify passed")
    else:
        desk.tell("\n".join(part for part in (one_line(f"verify failed: {first}"), set_in(more).rstrip("\n")) if part))


async def _accept(desk: Desk) -> None:
    """Take them, and say which."""
    accepted = await desk.session.accept_protected()
    desk.tell(
        "\n".join(["accepted:", *(one_line(f"  {one}") for one in accepted)])
        if accepted
        else "protected files are as they were"
    )


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    return (Completion(_ACCEPT, "let the checks take protected files as they are now"),)


COMMAND = Command("verify", "[accept]", "run the checks now, or accept protected files as they are", _run, _complete)
