"""Beneath: what the earlier summaries in a run stand for.

    run ──leads──▶ compactions ──slots──▶ places_beneath: every message behind them that isn't shown, once
                        └─ by a digest? ──▶ retold: what stood there before, and the run itself, in order   └─ by a model or person ──▶ their text

A summary that a model or a person wrote is worth keeping as it is. A digest is made from the messages again: a digest of a digest would say less
each time, and cost nothing less.
"""

from collections.abc import Iterator, Sequence

from msgspec import structs

from trimtab.context.editing.hidden_items import in_words
from trimtab.context.naming import name_of
from trimtab.context.summary.frame import unframed
from trimtab.context.summary.job import Retold
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import Applied, View
from trimtab.types.edits import Compact
from trimtab.types.messages import Message, Text, User

ATTACHED = "attached"
"""Key in a compaction's `meta`: how many characters at the end of its text came from state. They were true then; the next summary gets its own."""


def places_beneath(view: View, run: Sequence[int]) -> list[int]:
    """The indices of the slots that earlier summaries in `run` stand for, in order; what was brought back speaks for itself."""
    places = {place for lead in _leads(view, run) for place in lead.slots}
    return sorted(place for place in places if view.slots[place].state == "gone")


def number_of(view: View, run: Sequence[int]) -> int:
    """How many messages a summary of `run` stands for, those behind earlier summaries counted one by one."""
    return len(places_beneath(view, run)) + sum(view.slots[index].state != "gone" for index in run)


def retold(view: View, run: Sequence[int]) -> Retold:
    """What a digest of `run` is made from. Notes are left out: they are made anew from state."""
    digests, written = _parted(view, run)
    gone = frozenset(one.id for one in digests)
    messages: list[Message] = []
    ids: list[str] = []
    for place in sorted({*places_beneath(view, run), *run}):
        slot = view.slots[place]
        if slot.note:
            continue
        for was, message in _before(view, slot, gone):
            messages.append(in_words(was, message))
            ids.append(name_of(slot))
    return Retold(
        tuple(messages), tuple(ids), "\n\n".join(_text(e) for one in written if isinstance(e := one.edit, Compact))
    )


def written_text(view: View, slot: Slot, message: Message) -> Message:
    """An earlier summary, which `slot` shows, without its frame and without what was attached to it from state; any other message as it is."""
    if not isinstance(message, User) or message.origin != "summary":
        return message
    applied = view.edit(slot.lead) if slot.lead else None
    attached = _attached(applied.edit) if applied is not None and isinstance(applied.edit, Compact) else 0
    parts = tuple(
        structs.replace(p, text=_without_state(unframed(p.text), attached)) if isinstance(p, Text) else p
        for p in message.parts
    )
    return structs.replace(message, parts=parts)


def _leads(view: View, run: Sequence[int]) -> Iterator[Applied]:
    for index in run:
        lead = view.slots[index].lead
        if lead is not None and (applied := view.edit(lead)) is not None:
            yield applied


def _parted(view: View, run: Sequence[int]) -> tuple[list[Applied], list[Applied]]:
    """The digests that the run stands on, down to the first summaries that somebody wrote, and those."""
    todo = list(_leads(view, run))
    seen: set[str] = set()
    digests: list[Applied] = []
    written: list[Applied] = []
    while todo:
        one = todo.pop()
        if one.id in seen or not isinstance(one.edit, Compact):
            continue
        seen.add(one.id)
        # One that was taken back stands for nothing, but those beneath it do again.
        holds = one.id not in view.reverted
        if holds and one.edit.mode != "digest":
            written.append(one)
            continue
        if holds:
            digests.append(one)
        inner = (view.edit(target) for target in one.edit.targets)
        todo += [found for found in inner if found is not None]
    return digests, sorted(written, key=lambda one: one.slots[0] if one.slots else 0)


def _before(view: View, slot: Slot, gone: frozenset[str]) -> list[tuple[Slot, Message]]:
    """What the slot would show had those summaries not been made; nothing, where a summary that somebody wrote stands for it, or that summary itself."""
    was = slot.without(gone, view.reverted)
    return [(was, message) for message in (was.shown if was.lead is None else was.shown[1:])]


def _text(edit: Compact) -> str:
    return _without_state(unframed(edit.summary), _attached(edit))


def _attached(edit: Compact) -> int:
    """Characters of state at the end of a summary."""
    count = edit.meta.get(ATTACHED)
    return count if isinstance(count, int) and count > 0 else 0


def _without_state(text: str, attached: int) -> str:
    return text[: len(text) - attached].rstrip() if attached else text
