"""`/hotkeys`: what the keys of this frontend do."""

from trimtab.coding.commands.abilities import Keyed
from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.telling.tables import table


async def _run(desk: Desk, rest: str) -> None:
    keys = desk.keys() if isinstance(desk, Keyed) else ()
    desk.tell("\n".join(table(list(keys), None)) if keys else "this frontend has no keys of its own")


COMMAND = Command("hotkeys", "", "what keys do here", _run)
