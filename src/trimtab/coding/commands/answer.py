"""`/answer ID TEXT`: answer a call that is parked until a person does."""

from collections.abc import Sequence

from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened
from trimtab.types.errors import UsageError

_QUESTION = 80


async def _run(desk: Desk, rest: str) -> None:
    call_id, _, text = rest.partition(" ")
    waiting = desk.session.agent.parked
    if call_id not in waiting:
        raise UsageError(f"no call {call_id!r} waits for an answer", hint=f"Waiting: {', '.join(waiting) or 'none'}.")
    desk.answer(call_id, text.strip())


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    parked = session.agent.parked.items()
    return [Completion(one, one_line(shortened(text, _QUESTION))) for one, text in parked if one.startswith(typed)]


COMMAND = Command("answer", "ID TEXT", "answer a call that waits for you", _run, _complete)
