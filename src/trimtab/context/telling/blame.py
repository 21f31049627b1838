"""Blame: what became of a text, a result or a step.

    TEXT | rN | call id | entry id | edit id | STEP ──▶ the items that held it ──▶ where it came up · which edit hid it · who used or fetched it again · is it reachable

Pure: a view says what is shown and which edits lie on it, the archive says what the log holds of those edits.
"""

import msgspec

from trimtab.context.archive import Archive
from trimtab.context.naming import name_of
from trimtab.context.seeing.references import distinctive
from trimtab.context.seeing.refetching import refetches
from trimtab.context.telling.explain import text_of
from trimtab.context.window.layers import Overlay
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import View
from trimtab.types.edits import EditCost, Restore, edit_kind
from trimtab.types.entries import EditEntry
from trimtab.types.messages import Assistant, Message, ToolCall, ToolResult

_MOST = 20
"""Items that one answer speaks of."""
_SNIPPET = 80


class HiddenBy(msgspec.Struct, frozen=True, omit_defaults=True):
    """An edit that took an item out of sight, and when. `holds`: it still does, no later edit or revert undid it."""

    edit: str
    kind: str
    step: int
    author: str = ""
    reason: str = ""
    before: int | None = None
    after: int | None = None
    cost: EditCost = EditCost()
    holds: bool = True


class Later(msgspec.Struct, frozen=True, omit_defaults=True):
    """A later step that had to do with it. `how`: `used` (in the arguments of a call), `said` (in an answer), `fetched` (it was read, called, recalled or
    brought back again; `name` is the result's, or the edit's), or `shown` (of a text: another result held it too).
    """

    step: int
    how: str
    name: str
    tool: str = ""


class Blamed(msgspec.Struct, frozen=True, omit_defaults=True):
    """One item. `shown`: what was asked for stands in the next request, in this item. `reachable`: it is shown, or a name that is shown leads to it.

    `way`: how it is reached: `shown`, `stub` (a handle stands in its place), `summary` (it is one of a summary's sources), `archive` (only by search).
    `elsewhere` are other items of the next request that show the text.
    """

    name: str
    entry: str
    step: int
    turn: int
    role: str
    state: str
    shown: bool
    reachable: bool
    way: str
    tool: str = ""
    snippet: str = ""
    hidden: tuple[HiddenBy, ...] = ()
    later: tuple[Later, ...] = ()
    elsewhere: tuple[str, ...] = ()


def blame(query: str, view: View, archive: Archive) -> tuple[Blamed, ...]:
    """Return what became of `query`, oldest item first. Empty: nothing of this path holds it.

    A name is taken before the number of a step that there was, and that before a text; that of an edit, or of a revert of one, means the items it touches.
    """
    address = view.find(query)
    if address is not None and address.edit is None:
        return (_blamed(view, archive, address.index, ""),)
    if (applied := view.edit(view.edit_behind(query))) is not None:
        return tuple(_blamed(view, archive, i, "") for i in applied.slots[:_MOST])
    if query.isdecimal() and int(query[:9]) <= view.step:
        places = [i for i, slot in enumerate(view.slots) if slot.step == int(query) and slot.answered]
    else:
        places = [i for i, slot in enumerate(view.slots) if slot.answered and query and query in text_of(slot.base)]
        return (_blamed(view, archive, places[0], query),) if places else ()
    return tuple(_blamed(view, archive, index, "") for index in places[:_MOST])


def _blamed(view: View, archive: Archive, index: int, query: str) -> Blamed:
    slot = view.slots[index]
    now = "\n".join(text_of(message) for message in slot.shown)
    shown = query in now if query else slot.state == "full"
    way = _way(view, index, shown=shown)
    base = slot.base
    return Blamed(
        name=name_of(slot),
        entry=slot.id,
        step=slot.step,
        turn=slot.turn,
        role="result" if isinstance(base, ToolResult) else "answer" if isinstance(base, Assistant) else "user",
        state=slot.state,
        shown=shown,
        reachable=way != "archive",
        way=way,
        tool=base.tool_name if isinstance(base, ToolResult) else "",
        snippet=_snippet(text_of(base), query),
        hidden=tuple(_hidden_by(view, archive, slot)),
        later=tuple(_later(view, index, query)),
        elsewhere=tuple(_elsewhere(view, index, query)) if query else (),
    )


def _elsewhere(view: View, index: int, query: str) -> list[str]:
    shown = (s for s in view.shown() if s.place != index and query in text_of(s.message))
    return list(dict.fromkeys(name_of(view.slots[s.place]) for s in shown))[:_MOST]


def _way(view: View, index: int, *, shown: bool) -> str:
    slot = view.slots[index]
    if shown:
        return "shown"
    if slot.state != "gone":
        return "stub"
    for other in view.slots:
        if other.lead is not None:
            applied = view.edit(other.lead)
            if applied is not None and index in applied.slots:
                return "summary"
    return "archive"


def _hidden_by(view: View, archive: Archive, slot: Slot) -> list[HiddenBy]:
    """The edits that took the body out of sight, in order; of those that hold, a later one makes an earlier one idle but doesn't undo it."""
    found: dict[str, Overlay] = {}
    standing: set[str] = set()
    for overlay in slot.overlays:
        applied = view.edit(overlay.edit)
        if applied is None or overlay.act not in ("body", "hide", "whole", "unhide", "arguments"):
            continue
        if isinstance(applied.edit, Restore):
            if overlay.edit not in view.reverted:
                standing.clear()
        elif overlay.act in ("body", "hide", "arguments"):
            found[overlay.edit] = overlay
            if overlay.edit not in view.reverted:
                standing.add(overlay.edit)
    return [_told(view, archive, edit_id, holds=edit_id in standing) for edit_id in found]


def _told(view: View, archive: Archive, edit_id: str, *, holds: bool) -> HiddenBy:
    applied = view.edit(edit_id)
    record = archive.get(edit_id)
    entry = record.value if record is not None else None
    kind, step = (edit_kind(applied.edit), applied.step) if applied else ("", 0)
    if not isinstance(entry, EditEntry):
        return HiddenBy(edit_id, kind, step, holds=holds)
    return HiddenBy(
        edit_id, kind, step, entry.author, entry.reason, entry.before_tokens, entry.after_tokens, entry.cost, holds
    )


def _later(view: View, index: int, query: str) -> list[Later]:
    """What later steps had to do with the text, or with the item: who used what it was the first to show, and who asked for it again."""
    wanted = (query,) if query else _firsts(view, index)
    found = _fetched(view, index, query)
    fetching = {later.name for later in found}
    for place in range(index + 1, len(view.slots)):
        slot = view.slots[place]
        if not slot.answered or not wanted:
            continue
        if isinstance(slot.base, Assistant):
            found += _in_answer(slot.base, slot.step, wanted)
        elif (
            query
            and isinstance(slot.base, ToolResult)
            and query in text_of(slot.base)
            and name_of(slot) not in fetching
        ):
            found.append(Later(slot.step, "shown", name_of(slot), slot.base.tool_name))
    return sorted(found, key=lambda later: later.step)


def _fetched(view: View, index: int, query: str) -> list[Later]:
    """Who asked for the item again. Of a text: only where what came held it."""
    found: list[Later] = []
    for one in refetches(view, index):
        answer = view.slots[one.place] if one.place is not None else None
        if answer is not None and query not in text_of(answer.base):
            continue
        name = one.name if answer is None else name_of(answer)
        found.append(Later(one.step, "fetched", name, one.tool or "brought back"))
    return found


def _in_answer(answer: Assistant, step: int, wanted: tuple[str, ...]) -> list[Later]:
    found = [
        Later(step, "used", part.id, part.name)
        for part in answer.parts
        if isinstance(part, ToolCall) and _holds(part.raw, wanted)
    ]
    if not found and _holds(answer.text, wanted):
        found.append(Later(step, "said", f"step {step}"))
    return found


def _firsts(view: View, index: int) -> tuple[str, ...]:
    """The distinctive strings that nothing before this item held: what else mentions is no sign of this item."""
    known: set[str] = set()
    for slot in view.slots.range(0, index):
        known.update(distinctive(text_of(slot.base)))
    return tuple(fact for fact in _facts(view.slots[index].base) if fact not in known)


def _facts(message: Message) -> tuple[str, ...]:
    return distinctive(text_of(message))


def _holds(text: str, wanted: tuple[str, ...]) -> bool:
    return any(one in text for one in wanted)


def _snippet(text: str, query: str) -> str:
    place = text.find(query) if query else -1
    if place < 0:
        return ""
    end = place + len(query)
    before, behind = text[:place][-_SNIPPET // 2 :], text[end : end + _SNIPPET // 2]
    # A word that the cut would tear goes as a whole, unless it is part of what was asked for.
    if len(before) < place:
        before = f"…{before[_after_blank(before) :]}"
    if end + len(behind) < len(text):
        behind = f"{behind[: len(behind) - _after_blank(behind[::-1])]}…"
    return " ".join(f"{before}{query}{behind}".split())


def _after_blank(text: str) -> int:
    """Where the first word behind a blank begins; 0 when there is no blank."""
    found = next((n for n, character in enumerate(text) if character.isspace()), -1)
    return found + 1
