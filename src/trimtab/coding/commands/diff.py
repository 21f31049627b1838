"""`/diff [N|all]`: what the last turns changed in files, against how the files are now."""

from collections.abc import Sequence

from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import set_in
from trimtab.types.errors import UsageError


async def _run(desk: Desk, rest: str) -> None:
    if rest and rest != "all" and not (rest.isdecimal() and int(rest)):
        raise UsageError(f"/diff doesn't know {rest!r}", hint="/diff [N|all]: the last turn, the last N, or all.")
    number = None if rest == "all" else int(rest or 1)
    texts = await desk.session.diff(number)
    desk.tell("\n".join(set_in(text).rstrip("\n") for text in texts) or "no file is different")


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    return (Completion("all", "since the session began"),)


COMMAND = Command("diff", "[N|all]", "what the last turn changed in files, or the last N", _run, _complete)
