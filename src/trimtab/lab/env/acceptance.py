"""Acceptance: whether the engine would do what an action wants, asked of the engine itself and without doing it.

    would_do     its whole plan, up to the moment when the edit would be recorded: exact, and about as dear as doing it
    Acceptance   for an action on one item, the part of it that depends on the text of that item: asked once as long as the item shows the same

An observation holds no text, so it can't tell whether a log has lines to fold or a call an argument large enough for a pointer. In a story the engine is at
hand and can be asked. Pins, ages and limits are left to the observation, which tells them.
"""

from collections.abc import Generator

import msgspec

from trimtab.context.actions import Action
from trimtab.context.asks import Answer, Ask, Failed, Record, Recorded, partly_answered
from trimtab.context.editing.applying import Outcome, apply
from trimtab.context.editing.planning import plan
from trimtab.context.naming import body_of
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import View
from trimtab.sessions.replay.player import Player
from trimtab.types.entries import EditEntry
from trimtab.types.messages import Opaque, Thinking

_HEAD = 100
"""Tokens of the line above a summary, at most."""


class Acceptance:
    """Remembers answers by item and action. Slots are values, so episodes that go on from one snapshot may share one."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bytes], tuple[Slot, bool]] = {}
        self._frozen: tuple[View | None, frozenset[str]] = (None, frozenset())

    def accepts(self, player: Player, action: Action) -> bool:
        """Whether the engine of `player`, which is at a decision, would make an edit of `action`."""
        view = player.log.view
        slot = _only(view, action)
        if slot is None:
            return would_do(player, action)
        key = id(slot), msgspec.json.encode((action.action, action.params))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = slot, _gains(player, action, slot)
        # An answer with signed thoughts may change at some times and not at others, by what stands behind it.
        signed = any(isinstance(part, Thinking | Opaque) for part in slot.base.parts)
        return known[1] and not (signed and self._is_frozen(player, slot))

    def _is_frozen(self, player: Player, slot: Slot) -> bool:
        """Whether the wire lets nobody change that answer now."""
        view = player.log.view
        if self._frozen[0] is not view:
            self._frozen = view, frozenset(view.slots[n].id for n in player.engine.faults.frozen(view))
        return slot.id in self._frozen[1]


def would_do(player: Player, action: Action) -> bool:
    """Whether the engine would make an edit of `action` now."""
    engine = player.engine
    manager, look = engine.manager, engine.look(player.log.view, player.request)
    author, batch = manager.policy_author, "?"
    wanted: Generator[Ask, Answer, Outcome]
    if action.action in ("compact", "summarize") and not action.params.get("summary"):
        wanted = manager.compact(look, action, author=author, batch=batch)
    else:
        wanted = apply(look.view, [action], manager.means(look, forced=True), author=author, batch=batch)
    return _records(wanted)


def _gains(player: Player, action: Action, slot: Slot) -> bool:
    """Whether something shorter comes of the item's text. A summary without a text has at most `max_tokens`, whoever writes it."""
    if action.action == "summarize" and not action.params.get("summary"):
        most = action.params.get("max_tokens")
        return isinstance(most, int) and player.sizes.text(body_of(slot.base)) > most + _HEAD
    return bool(plan(action, player.log.view, player.engine.manager.kit).edits)


def _records(wanted: Generator[Ask, Answer, Outcome]) -> bool:
    """Whether a plan comes to an edit that it wants recorded. It is left there."""
    return next(partly_answered(wanted, _short_of_edits), None) is not None


def _short_of_edits(ask: Ask) -> Answer | Record:
    """Nobody is asked whether something may be done, and what is only told is taken as recorded."""
    if not isinstance(ask, Record):
        return Failed("nobody is asked whether something may be done")
    if any(isinstance(value, EditEntry) for value in ask.values):
        return ask
    return Recorded(tuple("?" for _ in ask.values))


def _only(view: View, action: Action) -> Slot | None:
    """The slot of an action on a single whole item."""
    if len(action.targets) != 1:
        return None
    address = view.find(action.targets[0])
    return None if address is None or address.part is not None or address.edit else view.slots[address.index]
