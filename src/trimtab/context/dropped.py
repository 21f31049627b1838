"""Dropped facts: what each edit of a path took out of the context that nothing else in it says.

    before the edit: facts in what its items showed ──not in what they show now──▶ ──in no other message──▶ dropped

The facts are those that an audit of a summary looks for: numbers with units, paths, identifiers, error codes, addresses, and the rules and quotes of a person.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from trimtab.context.explain import text_of
from trimtab.context.fold import Fold
from trimtab.context.naming import name_of
from trimtab.context.summary.audit import audit
from trimtab.context.summary.facts import FactKind, facts_of
from trimtab.context.view import View
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
    fold = Fold(whole)
    found: dict[str, tuple[DroppedFact, ...]] = {}
    for entry in path:
        before = fold.view
        fold.add(entry)
        if entry.type == "edit" and (applied := fold.view.edit(entry.id)) is not None:
            found[entry.id] = _dropped(before, fold.view, applied.slots)
    return found


def _dropped(before: View, after: View, slots: Sequence[int]) -> tuple[DroppedFact, ...]:
    touched = [i for i in slots if i < len(before.slots) and before.slots[i].shown != after.slots[i].shown]
    messages = [message for i in touched for message in before.slots[i].shown]
    if not messages:
        return ()
    names = [_source(before, i, number) for i in touched for number in range(len(before.slots[i].shown))]
    facts = facts_of(messages, ids=names)
    left = "\n".join(text_of(message) for i in touched for message in after.slots[i].shown)
    # All facts count here, not only those that a person stated or a call used.
    missing = audit(left, facts, used=[fact.text for fact in facts]).missing
    rest = "\n".join(map(text_of, after.messages())) if missing else ""
    gone = [fact for fact in missing if fact.text not in rest]
    return tuple(DroppedFact(fact.kind, fact.text, fact.source, fact.by_user) for fact in gone[:_MOST])


def _source(view: View, index: int, number: int) -> str:
    slot = view.slots[index]
    return slot.lead if slot.lead is not None and number == 0 else name_of(slot)
