"""`/pin [NAME]`: items that no policy takes out of view. NAME is a handle (r7), the id of a call or entry, or a label."""

import dataclasses
from collections.abc import Generator, Iterable, Sequence

from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.commands.revert import require_idle
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened
from trimtab.context.actions import Action, ActionName
from trimtab.context.asks import Answer, Ask
from trimtab.context.cycle.floor import floor_of
from trimtab.context.editing.planning import plan
from trimtab.context.naming import name_of, text_of
from trimtab.context.reasons import all_in_words
from trimtab.context.window.slots import Slot
from trimtab.types.errors import TrimtabError, UsageError

_GIST = 80


async def _pin(desk: Desk, rest: str) -> None:
    if rest:
        await mark(desk, rest, "pin")
        return
    lines = [one_line(f"{name_of(slot)}: {_gist(slot)}") for slot in _slots(desk.session) if slot.pinned]
    desk.tell("\n".join(lines or ["nothing is pinned; /pin NAME keeps an item in view, /context lists the largest"]))


async def mark(desk: Desk, name: str, action: ActionName) -> None:
    """Pin or unpin the item of that name, and say so. Raises `UsageError` where there is none, `AgentBusy` while a turn runs, and `TrimtabError` when nothing comes of it."""
    session = desk.session
    require_idle(session)
    labels = {label: target for target, label in session.log.archive.labels.items()}
    slot = _named(session, labels.get(name, name.strip("[]").partition("~")[0]))
    if slot.pinned == (action == "pin"):
        desk.tell(one_line(f"{name_of(slot)} is {'pinned already' if slot.pinned else 'not pinned'}"))
        return
    if action == "pin" and slot.state == "gone":
        raise UsageError(
            f"{name_of(slot)} isn't in view itself (a summary stands for it), so a pin would keep nothing",
            hint="Pin what stands in its place, or /revert the edit that took it out.",
        )
    done = await session.context.transcript.run(_marked(session, name_of(slot), action))
    for event in session.context.transcript.take_news():
        await session.feed.publish(event)
    desk.tell(one_line(f"{name_of(slot)} {done}"))


def _marked(session: Session, name: str, action: ActionName) -> Generator[Ask, Answer, str]:
    """Do it, unless what must stay would be more than a request may have. Raises `TrimtabError` when nothing comes of it."""
    engine, request = session.context.engine, session.context.request()
    view = session.context.transcript.log.snapshot()
    wish = Action(action, (name,), reason="asked for by the user")
    if action == "pin":
        look, trial = engine.look(view, request), view
        for number, edit in enumerate(plan(wish, view, engine.manager.kit).edits):
            trial = trial.with_edit(f"?{number}", edit)
        floor = floor_of(dataclasses.replace(look, view=trial))
        if floor.total > look.budget.hard:
            raise TrimtabError(
                f"with it, what must stay has {floor.total:,} tokens, and a request may have {look.budget.hard:,}",
                hint="/unpin something first; /pin lists what is pinned.",
            )
    outcome = yield from engine.act(view, request, [wish], author="user")
    if not outcome.done:
        raise TrimtabError(outcome.failed or all_in_words(outcome.refused) or "nothing came of it")
    return "stays in view whatever a policy wants; /unpin lets go of it" if action == "pin" else "may leave the view"


def _named(session: Session, name: str) -> Slot:
    view = session.context.transcript.log.snapshot()
    address = view.find(name)
    if address is not None and address.edit is None:
        return view.slots[address.index]
    fitting = [slot for slot in view.slots if len(name) >= 4 and slot.id.startswith(name)]
    if len(fitting) == 1:
        return fitting[0]
    raise UsageError(f"no item {name!r}", hint="/context lists the largest; a handle (r7) or an entry's id is a name.")


def _slots(session: Session) -> Iterable[Slot]:
    return session.context.transcript.log.snapshot().slots


def _gist(slot: Slot) -> str:
    return shortened(" ".join(text_of(slot).split()), _GIST)


def offered(session: Session, typed: str, *, pinned: bool) -> Sequence[Completion]:
    """The items in view whose names begin as `typed` does, those that are pinned or those that are not."""
    slots = (slot for slot in _slots(session) if slot.pinned == pinned and slot.state != "gone")
    return [Completion(name_of(slot), _gist(slot)) for slot in slots if name_of(slot).startswith(typed)]


COMMAND = Command(
    "pin",
    "[NAME]",
    "keep an item in view; without a name, list those",
    _pin,
    lambda session, typed: offered(session, typed, pinned=False),
)
