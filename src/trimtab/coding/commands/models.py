"""`/models [WORD]`: the models that one can switch to."""

from collections.abc import Sequence

from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.models import known_models
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import table

_SHOWN = 40


async def _run(desk: Desk, rest: str) -> None:
    words = rest.casefold().split()
    found = [
        m
        for m in known_models(desk.session.project, usable=True)
        if all(w in f"{m.ref} {m.name}".casefold() for w in words)
    ]
    if not found:
        desk.tell("no such model can be used; trimtab models lists all, trimtab doctor says what is missing")
        return
    here = desk.session.model.ref
    rows = [("*" if m.ref == here else "", m.ref, f"{m.context_window:,}", m.name) for m in found[:_SHOWN]]
    more = [f"and {len(found) - _SHOWN} more: /models WORD"] if len(found) > _SHOWN else []
    desk.tell("\n".join([*map(one_line, table(rows, None, right=(2,))), *more, "/model P/M switches"]))


def complete_models(session: Session, typed: str) -> Sequence[Completion]:
    """The models that need no more configuration."""
    return tuple(Completion(model.ref, model.name) for model in known_models(session.project, usable=True))


COMMAND = Command("models", "[WORD]", "the models that you can switch to", _run)
