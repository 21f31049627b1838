"""`/tools`: which tools the model has."""

from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import table


async def _run(desk: Desk, rest: str) -> None:
    rows = [
        (tool.spec.name, tool.snippet or tool.spec.description.partition("\n")[0]) for tool in desk.session.agent.tools
    ]
    desk.tell("\n".join(one_line(line) for line in table(rows, None)) if rows else "no tool is on")


COMMAND = Command("tools", "", "which tools the model has", _run)
