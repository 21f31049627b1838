"""`/revert [EDIT]`: take an edit of the context back."""

from collections.abc import Sequence

from trimtab.agent.run import AgentBusy
from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.context.wishes import unseen
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import counted
from trimtab.types.errors import TrimtabError, UsageError


async def _run(desk: Desk, rest: str) -> None:
    """Take back the edit that is named, the last one that holds for `last` and by default."""
    require_idle(desk.session)
    context = desk.session.context
    view = desk.session.log.snapshot()
    standing = [applied.id for applied in view.applied if applied.id not in view.reverted]
    target = "" if rest == "last" else rest
    if not target and not standing:
        raise UsageError("no edit of the context holds", hint="/context shows what the model sees.")
    target = target or standing[-1]
    made = await context.transcript.run(context.engine.revert(view, context.request(), target))
    if isinstance(made, str):
        raise TrimtabError(made, hint="The conversation is as it was.")
    desk.tell(one_line("; ".join(part for part in (f"took back {target}", unseen(view, made, target)) if part)))


def require_idle(session: Session) -> None:
    """Raise `AgentBusy` while a turn runs: its next request must not change under it."""
    if session.busy:
        raise AgentBusy("a turn runs", hint="Wait until it is done, or stop it with Ctrl-C.")


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    view = session.log.snapshot()
    standing = [one for one in view.applied if one.id not in view.reverted and one.id.startswith(typed)]
    return [
        Completion(one.id, f"{one.edit.__struct_config__.tag} of {counted(len(one.slots), 'item')}")
        for one in reversed(standing)
    ]


COMMAND = Command(
    "revert", "[EDIT]", "take an edit of the context back, by default the last one (last)", _run, _complete
)
