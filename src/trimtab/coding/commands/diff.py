"""`/diff [N|all]`: what the last turns changed in files, against how the files are now, as a patch of the project's folder.

Each line of a diff stands behind a sign of its own, so no file's text begins a row of ours.
"""

from collections.abc import Sequence

from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.session import Session
from trimtab.types.errors import UsageError
from trimtab.types.text import strip_terminal

_BREAKS = {0x2028: "\\u2028", 0x2029: "\\u2029"}
"""What some terminals take for the end of a line."""


async def _run(desk: Desk, rest: str) -> None:
    if rest and rest != "all" and not (rest.isdecimal() and int(rest)):
        raise UsageError(f"/diff doesn't know {rest!r}", hint="/diff [N|all]: the last turn, the last N, or all.")
    number = None if rest == "all" else int(rest or 1)
    texts = await desk.session.diff(number)
    desk.tell(strip_terminal("".join(texts)).translate(_BREAKS).rstrip("\n") or "no file is different")


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    return (Completion("all", "since the session began"),)


COMMAND = Command("diff", "[N|all]", "what the last turn changed in files, or the last N", _run, _complete)
