"""Dropped facts: what each edit of a path took out of the context that nothing else in it says.

    path ──step by step──▶ in how many shown messages each fact stands ──an edit takes the last one away──▶ dropped with it

The facts are those that an audit of a summary looks for: numbers with units, paths, identifiers, error codes, addresses, and the rules and quotes of a person.
Each message is read once, so the whole costs what reading the session costs.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import msgspec

from trimtab.context.naming import name_of
from trimtab.context.summary.audit import audit
from trimtab.context.summary.facts import Fact, FactKind, facts_of
from trimtab.context.window.fold import Fold
from trimtab.context.window.view import View
from trimtab.types.codec import Entry
from trimtab.types.messages import Message

_MOST = 200
"""Facts that are told of one edit."""


class DroppedFact(msgspec.Struct, frozen=True, omit_defaults=True):
    """A fact that left the context. `source` names the item that it stood in; `by_user`: a person stated it."""

    kind: FactKind
    text: str
    source: str
    by_user: bool = False


def dropped_facts(path: Iterable[Entry], *, whole: Callable[[Message], Message]) -> dict[str, tuple[DroppedFact, ...]]:
    """Return, for each edit of a path by its id, the facts that left the context with it, those that a person stated first."""
    walk = _Walk(Fold(whole))
    found: dict[str, tuple[DroppedFact, ...]] = {}
    for entry in path:
        before = walk.fold.view
        walk.fold.add(entry)
        view = walk.fold.view
        if view is before:
            continue
        applied = view.edit(view.edit_behind(entry.id))
        if entry.type == "message":
            address = view.find(entry.id)
            fresh = range(max(0, len(before.slots) - 1), len(view.slots))
            walk.recount(fresh if address is None else (*fresh, address.index))
        elif applied is not None:
            gone = walk.recount(applied.slots)
            if entry.type == "edit":
                found[entry.id] = gone
    return found


@dataclass(slots=True)
class _Walk:
    """One pass over a path. `seen` counts in how many shown messages the text of each fact stands."""

    fold: Fold
    seen: Counter[str] = field(default_factory=Counter)
    _shown: dict[int, tuple[Message, ...]] = field(default_factory=dict)
    _facts: dict[int, tuple[Message, tuple[Fact, ...]]] = field(default_factory=dict)

    def recount(self, slots: Iterable[int]) -> tuple[DroppedFact, ...]:
        """Take in what these slots show now; return the facts that no shown message holds any more."""
        view = self.fold.view
        lost: list[Fact] = []
        for index in dict.fromkeys(slots):
            old, new = self._shown.get(index, ()), view.slots[index].shown
            if old == new:
                continue
            self._shown[index] = new
            for number, message in enumerate(new):
                self.seen.update({fact.text for fact in self._read(message, _source(view, index, number))})
            for number, message in enumerate(old):
                facts = self._read(message, _source(view, index, number))
                self.seen.subtract({fact.text for fact in facts})
                lost += facts
        gone = [fact for fact in lost if not self.seen[fact.text]]
        # The order of an audit: rules first, then what the person said. All facts count here, not only those that a call used.
        ordered = audit("", gone, used=[fact.text for fact in gone]).missing
        return tuple(DroppedFact(fact.kind, fact.text, fact.source, fact.by_user) for fact in ordered[:_MOST])

    def _read(self, message: Message, source: str) -> tuple[Fact, ...]:
        known = self._facts.get(id(message))
        if known is None or known[0] is not message:
            known = self._facts[id(message)] = (message, facts_of([message], ids=[source]))
        return known[1]


def _source(view: View, index: int, number: int) -> str:
    slot = view.slots[index]
    return slot.lead if slot.lead is not None and number == 0 else name_of(slot)
