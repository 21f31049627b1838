"""`/quit`: leave."""

from trimtab.coding.commands.command import Command, Desk


async def _run(desk: Desk, rest: str) -> None:
    desk.leave()


COMMAND = Command("quit", "", "leave (Ctrl-D does too)", _run)
