"""`/new`: go on with a fresh session in this folder."""

from trimtab.coding.choose import New
from trimtab.coding.commands.command import Command, Desk


async def _run(desk: Desk, rest: str) -> None:
    await desk.switch(desk.session.project, New())


COMMAND = Command("new", "", "go on with a fresh session", _run)
