"""`/model [P/M]`: which model answers, and another one from the next turn on."""

from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.commands.models import complete_models


async def _run(desk: Desk, rest: str) -> None:
    if rest:
        await desk.session.set_model(rest)
    when = ", from the next turn on" if rest and desk.session.busy else ""
    desk.tell(f"model: {desk.session.model.ref}{when}")


COMMAND = Command("model", "[P/M]", "say which model answers, or switch to another one", _run, complete_models)
