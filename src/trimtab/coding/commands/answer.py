"""`/answer ID TEXT`: answer a call that is parked until a person does."""

from trimtab.coding.commands.command import Command, Desk
from trimtab.types.errors import UsageError


async def _run(desk: Desk, rest: str) -> None:
    call_id, _, text = rest.partition(" ")
    waiting = desk.session.agent.parked
    if call_id not in waiting:
        raise UsageError(f"no call {call_id!r} waits for an answer", hint=f"Waiting: {', '.join(waiting) or 'none'}.")
    desk.answer(call_id, text.strip())


COMMAND = Command("answer", "ID TEXT", "answer a call that waits for you", _run)
