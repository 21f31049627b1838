"""What an engine has learned, as JSON values: so that a conversation goes on elsewhere as if it had never stopped.

    saved(engine) ──▶ dict ──JSON──▶ restore(engine, dict)

The log gives back all that was said and edited. This is the rest: what was done lately, what waits until it pays, how far
counts were off, and what the last request was, byte for byte.
"""

from typing import Any

import msgspec

from trimtab.context.counting.anchor import MeterState
from trimtab.context.cycle.deciding import DeciderState
from trimtab.context.cycle.look import Look
from trimtab.context.cycle.marks import Mark
from trimtab.context.cycle.tally import MeterTally
from trimtab.context.economics.shapes import Segment
from trimtab.context.engine import Engine
from trimtab.context.window.view import View


class _Learned(msgspec.Struct, frozen=True):
    """See the module."""

    next_handle: int
    decider: DeciderState
    growth: float
    removed: int
    sent: tuple[Segment, ...] | None
    meter: MeterState | None
    marks: tuple[Mark, ...] = ()
    tailed: int = -1
    told_once: dict[str, tuple[str, ...]] = {}


def saved(engine: Engine, view: View) -> dict[str, Any]:
    """Return what `engine` has learned in the conversation that `view` shows."""
    account, manager, tally = engine.account, engine.manager, engine.tally
    learned = _Learned(
        engine.next_handle,
        manager.decider.state,
        account.growth,
        account.removed,
        account.last_sent,
        tally.meter.state if isinstance(tally, MeterTally) else None,
        manager.standing(view),
        engine.tailed[1],
        {author: tuple(told) for author, told in manager.told_once.state.items()},
    )
    data: dict[str, Any] = msgspec.to_builtins(learned)
    return data


def restore(engine: Engine, data: object, look: Look) -> None:
    """Take over what `saved` gave, for the conversation of `look`. Raises `msgspec.ValidationError` for anything else."""
    learned = msgspec.convert(data, _Learned)
    account, manager, tally = engine.account, engine.manager, engine.tally
    engine.next_handle = learned.next_handle
    engine.tailed = (look.view.lineage, learned.tailed)
    manager.decider.restore(learned.decider)
    manager.marks.restore(look.view, learned.marks)
    manager.told_once.restore(learned.told_once)
    if isinstance(tally, MeterTally) and learned.meter is not None:
        tally.meter.restore(learned.meter)
    account.growth, account.removed = learned.growth, learned.removed
    if learned.sent is not None:
        account.was_sent(look, learned.sent)
