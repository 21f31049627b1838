"""`/redo`: do again what `/undo` took back last."""

from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.commands.undo import told


async def _run(desk: Desk, rest: str) -> None:
    desk.tell("\n".join(told(await desk.session.redo(), again=True)))


COMMAND = Command("redo", "", "do again what /undo took back", _run)
