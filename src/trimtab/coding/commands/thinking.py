"""`/thinking [LEVEL]`: how much the model thinks."""

from collections.abc import Sequence

from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.session import Session

_DEFAULT = "default"


async def _run(desk: Desk, rest: str) -> None:
    session = desk.session
    if rest:
        session.set_thinking(None if rest == _DEFAULT else rest)
        await session.choices.keep()
    levels = ", ".join(session.model.thinking)
    known = f"; levels: {levels}" if levels else f"; {session.model.ref} has no levels"
    when = ", from the next turn on" if rest and session.busy else ""
    desk.tell(f"thinking: {session.agent.thinking or _DEFAULT}{when}{'' if rest else known}")


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    return tuple(Completion(level) for level in (*session.model.thinking, _DEFAULT))


COMMAND = Command("thinking", "[LEVEL]", "how much the model thinks", _run, _complete)
