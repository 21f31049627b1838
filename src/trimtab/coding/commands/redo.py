"""`/redo`: do again what `/undo` took back last."""

from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.commands.undo import told


async def _run(desk: Desk, rest: str) -> None:
    outcome = await desk.session.redo()
    desk.tell("\n".join(told(outcome, desk.session.project.cwd, tense="again")))


COMMAND = Command("redo", "", "do again what /undo took back", _run)
