"""`/verify`: run the checks now, without waiting for the model to say that it is done."""

from functools import partial

from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.telling.printable import one_line, set_in


async def _run(desk: Desk, rest: str) -> None:
    desk.work(partial(_check, desk), is_turn=False)


async def _check(desk: Desk) -> None:
    """Run them and say how it went."""
    problems = await desk.session.verify()
    first, _, more = problems.partition("\n")
    if not problems:
        desk.tell("verify passed")
    else:
        desk.tell("\n".join(part for part in (one_line(f"verify failed: {first}"), set_in(more).rstrip("\n")) if part))


COMMAND = Command("verify", "", "run the checks now", _run)
