"""Acceptance: whether the engine would do what an action wants, asked of the engine itself and without doing it.

    action ──the engine's own plan, up to the moment when the edit would be recorded──▶ yes          ends before that ──▶ no

An observation holds no text, so it can't tell whether a log has lines to fold or a call an argument large enough for a pointer. In a story the engine is at
hand and can be asked. What it says of shortening an item holds as long as the item shows the same, so it is asked once for each.
"""

from collections.abc import Generator

import msgspec

from trimtab.context.actions import Action
from trimtab.context.asks import Answer, Ask, Failed, Record, Recorded
from trimtab.context.editing.applying import Outcome, apply
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import View
from trimtab.sessions.replay.player import Player
from trimtab.types.entries import EditEntry

_OF_AN_ITEM = frozenset({"elide", "fold", "truncate", "compress", "summarize"})
"""Kinds whose answer depends on one item alone. Whether an answer of the model may change (`offload`) depends on what stands behind it."""


class Acceptance:
    """Remembers answers by item and action. Slots are values, so episodes that go on from one snapshot may share one."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bytes], tuple[Slot, bool]] = {}

    def accepts(self, player: Player, action: Action) -> bool:
        """Whether the engine of `player`, which is at a decision, would make an edit of `action`."""
        view = player.log.view
        slot = _only(view, action) if action.action in _OF_AN_ITEM else None
        if slot is None:
            return would_do(player, action)
        key = id(slot), msgspec.json.encode((action.action, action.params))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = slot, would_do(player, action)
        return known[1]


def would_do(player: Player, action: Action) -> bool:
    """Ask the engine anew."""
    engine = player.engine
    manager, look = engine.manager, engine.look(player.log.view, player.request)
    author, batch = manager.policy_author, "?"
    plan: Generator[Ask, Answer, Outcome]
    if action.action in ("compact", "summarize") and not action.params.get("summary"):
        plan = manager.compact(look, action, author=author, batch=batch)
    else:
        plan = apply(look.view, [action], manager.means(look, forced=True), author=author, batch=batch)
    return _records(plan)


def _records(plan: Generator[Ask, Answer, Outcome]) -> bool:
    """Whether a plan comes to an edit that it wants recorded. It is left there."""
    given: Answer | None = None
    while True:
        try:
            ask = next(plan) if given is None else plan.send(given)
        except StopIteration:
            return False
        if not isinstance(ask, Record):
            given = Failed("nobody is asked whether something may be done")
        elif any(isinstance(value, EditEntry) for value in ask.values):
            plan.close()
            return True
        else:
            given = Recorded(tuple("?" for _ in ask.values))


def _only(view: View, action: Action) -> Slot | None:
    """The slot of an action on a single whole item."""
    if len(action.targets) != 1:
        return None
    address = view.find(action.targets[0])
    return None if address is None or address.part is not None or address.edit else view.slots[address.index]
