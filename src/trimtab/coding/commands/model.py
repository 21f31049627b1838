"""`/model [P/M | next | back]`: which model answers, and another one from the next turn on.

What a switch means is told before it happens, and asked where it costs; `next` and `back` go round the favourites.
"""

from collections.abc import Sequence
from functools import partial

import anyio

from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.commands.models import complete_models
from trimtab.coding.model_list import next_favourite
from trimtab.coding.model_switch import Switch, look, make
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line

_STEPS = {"next": 1, "back": -1}


async def _run(desk: Desk, rest: str) -> None:
    session = desk.session
    if not rest:
        desk.tell(one_line(f"model: {_now(session)}"))
        return
    ref = rest
    if (step := _STEPS.get(rest)) is not None:
        here = session.model.ref
        ref = await anyio.to_thread.run_sync(
            lambda: next_favourite(session.project, session.favourites, here, step=step)
        )
    switch = await look(session, ref)
    if switch.question is None or session.busy:
        await _make(desk, switch, ask=False)
    else:  # an answer is a line, and the desk hears none while a command runs
        desk.work(partial(_make, desk, switch, ask=True), is_turn=False)


async def _make(desk: Desk, switch: Switch, *, ask: bool) -> None:
    session = desk.session
    if not await make(session, switch, ask=ask):
        desk.tell(one_line(f"model: {session.model.ref}, as before"))
        return
    when = ", from the next turn on" if session.busy else ""
    desk.tell(one_line(f"model: {session.model.ref}{when}"))


def _now(session: Session) -> str:
    home = session.choices.standby.home
    level = f", thinking: {session.agent.thinking}" if session.agent.thinking else ""
    stead = f", in place of {home.model.ref}, which can't be had" if home is not None else ""
    return f"{session.model.ref}{level}{stead}; /models lists others"


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    steps = (Completion("next", "the next favourite"), Completion("back", "the favourite before"))
    return (*complete_models(session, typed), *(steps if session.favourites else ()))


COMMAND = Command("model", "[P/M|next|back]", "say which model answers, or switch to another one", _run, _complete)
