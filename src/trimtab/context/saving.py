"""What an engine has learned, as JSON values: so that a conversation goes on elsewhere as if it had never stopped.

    saved(engine) ──▶ dict ──JSON──▶ restore(engine, dict)

The log gives back all that was said and edited. This is the rest: what was done lately and what was brought back, how far counts were off, and what
the last request was, byte for byte.
"""

from typing import Any

import msgspec

from trimtab.context.actions import Action
from trimtab.context.counting.anchor import MeterState
from trimtab.context.economics.shapes import Segment
from trimtab.context.engine import Engine
from trimtab.context.look import Look
from trimtab.context.tally import MeterTally


class _Learned(msgspec.Struct, frozen=True):
    """See the module."""

    next_handle: int
    restored: dict[str, int]
    last: tuple[Action, ...]
    acted_at: dict[str, int]
    batches: tuple[int, ...]
    failures: int
    cooldown: int
    growth: float
    removed: int
    sent: tuple[Segment, ...] | None
    meter: MeterState | None


def saved(engine: Engine) -> dict[str, Any]:
    """Return what `engine` has learned."""
    decider, tally = engine.decider, engine.tally
    learned = _Learned(
        engine.next_handle,
        dict(engine.restored),
        tuple(decider.last),
        dict(decider.acted_at),
        tuple(decider.batches),
        decider.failures,
        decider.cooldown,
        engine.account.growth,
        engine.account.removed,
        engine.account.last_sent,
        tally.meter.state if isinstance(tally, MeterTally) else None,
    )
    data: dict[str, Any] = msgspec.to_builtins(learned)
    return data


def restore(engine: Engine, data: object, look: Look) -> None:
    """Take over what `saved` gave, for the conversation of `look`. Raises `msgspec.ValidationError` for anything else."""
    learned = msgspec.convert(data, _Learned)
    engine.next_handle = learned.next_handle
    engine.restored.update(learned.restored)
    decider = engine.decider
    decider.last = list(learned.last)
    decider.acted_at = dict(learned.acted_at)
    decider.batches = list(learned.batches)
    decider.failures, decider.cooldown = learned.failures, learned.cooldown
    if isinstance(engine.tally, MeterTally) and learned.meter is not None:
        engine.tally.meter.restore(learned.meter)
    engine.account.growth, engine.account.removed = learned.growth, learned.removed
    if learned.sent is not None:
        engine.account.was_sent(look, learned.sent)
