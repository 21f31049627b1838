"""`/clone`: go on with a copy of the session as it is, in a session of its own; this one stays as it is."""

from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.commands.fork import go_on_with_copy


async def _run(desk: Desk, rest: str) -> None:
    await go_on_with_copy(desk, "")


COMMAND = Command("clone", "", "go on with a copy of this session as it is", _run)
