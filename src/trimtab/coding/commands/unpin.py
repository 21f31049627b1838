"""`/unpin NAME`: let policies have an item again that was pinned."""

from collections.abc import Sequence

from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.commands.pin import mark, offered
from trimtab.coding.session import Session
from trimtab.types.errors import UsageError


async def _run(desk: Desk, rest: str) -> None:
    if not rest:
        raise UsageError("/unpin needs the name of an item", hint="/pin lists what is pinned.")
    await mark(desk, rest, "unpin")


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    return offered(session, typed, pinned=True)


COMMAND = Command("unpin", "NAME", "let policies have an item again", _run, _complete)
