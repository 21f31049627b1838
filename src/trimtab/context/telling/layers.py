"""The three layers of a conversation as plain data: what is in view, what is out of it, and what stands in its place.

    active_context   an item each, with the name that an action may use, its size and how it starts
    archive          item ─▶ handle: whatever `recall` reads of what is hidden or shortened
    summary_index    item ─▶ the text in its place, where that came from, how old it is, and whether its source reads otherwise now

Everything is what JSON can hold, so policies elsewhere, logs and scripts read the same.
"""

from typing import Any

import msgspec

from trimtab.context.actions import Action
from trimtab.context.budget import Budget
from trimtab.context.naming import body_of, name_of
from trimtab.context.seeing.documents import document_of, stale_documents
from trimtab.context.seeing.observation import Observation
from trimtab.context.summary.cache import content_hash
from trimtab.context.summary.redact import redact
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import Applied, View
from trimtab.types.edits import Compact, Compress, Elide, Fold, Summarize, Truncate, edit_kind
from trimtab.types.messages import Text

_PREVIEW = 120
"""Characters of an item that an observation shows."""
_LAST = 5
_HASH = 16
"""Hex digits that are enough to tell texts apart."""


def observed(view: View, observation: Observation, budget: Budget) -> dict[str, Any]:
    """Return what a policy function, a log or a person sees of the context."""
    return {
        "active_context": active_context(view, observation),
        "summary_index": summary_index(view),
        "archive": archive(view),
        "used_tokens": observation.used,
        "max_tokens": budget.window,
        "budget": budget_data(budget, observation.used),
        "last_actions": [action_data(action) for action in observation.last_actions[-_LAST:]],
    }


def action_data(action: Action) -> dict[str, Any]:
    """Return an action in its full shape."""
    data: dict[str, Any] = msgspec.to_builtins(
        {"action": action.action, "targets": list(action.targets), "reason": action.reason, "params": action.params}
    )
    return data


def budget_data(budget: Budget, used: int) -> dict[str, Any]:
    """Return the budget, and how much of it is left before the ladder acts."""
    return {
        "window": budget.window,
        "reserve": budget.reserve,
        "safety": budget.safety,
        "room": budget.room,
        "soft": budget.soft,
        "target": budget.target,
        "hard": budget.hard,
        "left": budget.hard - used,
        "over": used > budget.hard,
    }


def active_context(view: View, observation: Observation) -> list[dict[str, Any]]:
    """Return what is in view, in order."""
    rows: list[dict[str, Any]] = []
    for item, shown in zip(observation.items, view.shown(), strict=True):
        text = "".join(part.text for part in shown.message.parts if isinstance(part, Text))
        row: dict[str, Any] = msgspec.to_builtins(item)
        rows.append({**row, "preview": text[:_PREVIEW]})
    return rows


def archive(view: View) -> dict[str, str]:
    """Return, for each item that isn't shown as it was recorded, the handle under which `recall` reads it."""
    handles: dict[str, str] = {}
    for index, slot in enumerate(view.slots):
        if slot.state != "full":
            handles[slot.id] = _handle(view, index, slot)
        if slot.lead is not None:
            handles[slot.lead] = slot.lead
    return handles


def summary_index(view: View) -> dict[str, dict[str, Any]]:
    """Return, for each item that another text stands for, that text and what it was made of.

    `source` and `version` (a hash of its text) are there where the item shows a document; `stale`: something that it was made of reads otherwise now.
    """
    rows: dict[str, dict[str, Any]] = {}
    stale = stale_documents(view)
    for index, slot in enumerate(view.slots):
        if slot.lead is not None and (applied := view.edit(slot.lead)) is not None:
            rows[slot.lead] = _row(view, applied, applied.slots, _text_of(applied, slot.lead), stale)
        for edit_id in reversed(slot.edits):
            made = view.edit(edit_id) if edit_id not in view.reverted else None
            if slot.state in ("full", "gone") or made is None:
                continue
            if text := _text_of(made, slot.id):
                rows[slot.id] = {**_row(view, made, (index,), text, stale), **_document(view, slot)}
                break
    return rows


def _document(view: View, slot: Slot) -> dict[str, Any]:
    name = document_of(view, slot)
    return {} if name is None else {"source": redact(name), "version": content_hash(body_of(slot.base))[:_HASH]}


def _row(view: View, applied: Applied, places: tuple[int, ...], text: str, stale: frozenset[int]) -> dict[str, Any]:
    return {
        "summary": text,
        "kind": edit_kind(applied.edit),
        "sources": [_handle(view, place, view.slots[place]) for place in sorted(places)],
        "edit": applied.id,
        "hash": content_hash(text)[:_HASH],
        "age": view.step - applied.step,
        "stale": not stale.isdisjoint(places),
    }


def _text_of(applied: Applied, slot_id: str) -> str:
    match applied.edit:
        case Compact(summary=summary):
            return summary
        case Elide() | Summarize() | Fold() | Truncate() | Compress():
            return applied.edit.texts.get(slot_id, "")
        case _:
            return ""


def _handle(view: View, index: int, slot: Slot) -> str:
    """The name that a model knows it by, unless that leads to another item (call ids may come twice)."""
    name = name_of(slot)
    found = view.find(name)
    return name if found is not None and found.index == index and found.edit is None else slot.id
