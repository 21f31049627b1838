"""Stories: why one item, or one edit, looks as it does in the next request.

    name ──▶ item: shown how, since which edit, which others touched it, how to get it back
    id   ──▶ edit: what it did, whether it holds, what its items show now, what taking it back would cost

Pure: the view says what is shown, the archive what the log holds of its edits. Sizes are those that decisions go by.
"""

import msgspec
from msgspec import structs

from trimtab.context.archive import Archive
from trimtab.context.cycle.look import Look
from trimtab.context.naming import name_of
from trimtab.context.seeing.regret import Booking, RegretLedger
from trimtab.context.telling.blame import Blamed, HiddenBy, blame
from trimtab.context.telling.explain import LogRow, text_of
from trimtab.context.window.overlays import Address
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import View
from trimtab.types.edits import Compact, Drop, edit_kind
from trimtab.types.entries import EditEntry

_TEXT = 200
"""Characters of what stands in an item's place."""


class Touch(msgspec.Struct, frozen=True, omit_defaults=True):
    """An edit that touches an item. `holds`: it was not taken back."""

    edit: str
    kind: str
    step: int
    author: str = ""
    reason: str = ""
    holds: bool = True


class ItemStory(msgspec.Struct, frozen=True, omit_defaults=True):
    """One item. `tokens` is what it takes now, `full_tokens` what it takes whole. `text` begins what is shown in its place.

    `undone_by` is the one edit that has to be taken back for the item to be whole again; empty where none alone is enough.
    """

    item: Blamed
    why: str
    tokens: int
    full_tokens: int
    pinned: bool = False
    edits: tuple[Touch, ...] = ()
    text: str = ""
    undone_by: str = ""


class EditStory(msgspec.Struct, frozen=True, omit_defaults=True):
    """One edit or revert. `now` tells the state of each item that it touches; `used` and `used_without` are tokens of the next request as it
    stands, and with this taken back (none where it doesn't hold). `over`: that might be more than `limit`. `regrets`: what it hid and was
    fetched again.
    """

    row: LogRow
    holds: bool
    now: dict[str, str]
    used: int
    limit: int
    used_without: int | None = None
    over: bool = False
    regrets: tuple[Booking, ...] = ()


def item_story(look: Look, archive: Archive, name: str) -> ItemStory | None:
    """Return the story of the item that `name` stands for; None when the path holds none."""
    view = look.view
    address = view.find(name)
    if address is None:
        return None
    if address.edit is not None:
        return None
    slot = view.slots[address.index]
    (item,) = blame(name, view, archive)
    touches = tuple(_touch(view, archive, edit_id, slot.id) for edit_id in slot.edits)
    return ItemStory(
        item=item,
        why=_why(view, slot, item, touches),
        tokens=sum(map(look.tally.message, slot.shown)),
        full_tokens=sum(map(look.tally.message, slot.recorded.shown)),
        pinned=slot.pinned,
        edits=touches,
        text=_in_its_place(view, address),
        undone_by=_undone_by(view, slot),
    )


def _undone_by(view: View, slot: Slot) -> str:
    wanted = slot.recorded.shown
    if slot.shown == wanted:
        return ""
    standing = [edit_id for edit_id in slot.edits if edit_id not in view.reverted]
    enough = (edit_id for edit_id in standing if slot.without({edit_id}, view.reverted).shown == wanted)
    return next(enough, "")


def edit_story(look: Look, row: LogRow) -> EditStory:
    """Return the story of the edit or revert that `row` is about."""
    view = look.view
    applied = view.edit(view.edit_behind(row.entry_id))
    holds = row.entry_id not in view.reverted
    used, without, over = look.estimate.tokens, None, False
    if holds and applied is not None:
        more = grown(look, view.with_revert("?without", row.entry_id))
        without, over = used + more, look.used + more > look.budget.hard
    now: dict[str, str] = {name_of(view.slots[i]): view.slots[i].state for i in (applied.slots if applied else ())}
    return EditStory(row, holds, now, used, look.budget.hard, without, over, _regrets(look, row.entry_id))


def _regrets(look: Look, edit: str) -> tuple[Booking, ...]:
    """What is booked to an edit, worked out anew from the whole conversation."""
    prices = look.request.model.prices
    ledger = RegretLedger(input_price=prices[0].input if prices else None)
    ledger.update(look.view, look.tally.message)
    booked = (booking for booking in ledger.bookings if booking.edit == edit)
    return tuple(structs.replace(booking, target=_known_as(look.view, booking.target)) for booking in booked)


def _known_as(view: View, slot_id: str) -> str:
    address = view.find(slot_id)
    return slot_id if address is None else name_of(view.slots[address.index])


def grown(look: Look, after: View) -> int:
    """Tokens that `after`, a later view of the same conversation, shows more (or, negative, less) than the one that was looked at.

    Only what differs is counted, and the counter's anchors, which a look at another view would move, stay as they are.
    """
    before = look.view
    total = 0
    for index, slot in enumerate(after.slots):
        old = before.slots[index].shown if index < len(before.slots) else ()
        if slot.shown is not old:
            total += sum(map(look.tally.message, slot.shown)) - sum(map(look.tally.message, old))
    return total


def _touch(view: View, archive: Archive, edit_id: str, slot_id: str) -> Touch:
    applied = view.edit(edit_id)
    record = archive.get(edit_id)
    entry = record.value if record is not None else None
    author, reason = (entry.author, entry.reason) if isinstance(entry, EditEntry) else ("", "")
    kind, step = (edit_kind(applied.edit), applied.step) if applied else ("", 0)
    # A learned policy says of each item of a batch how likely it is needed again, in percent.
    chances = applied.edit.params.get("chances") if applied else None
    if isinstance(chances, dict) and slot_id in chances:
        reason = f"{reason}; this one with {chances[slot_id]} %"
    return Touch(edit_id, kind, step, author, reason, edit_id not in view.reverted)


def _why(view: View, slot: Slot, item: Blamed, touches: tuple[Touch, ...]) -> str:
    standing = [edit for edit in item.hidden if edit.holds]
    if not slot.answered and slot.group is not None:
        return "its call has no answer yet; a fixed text stands for it"
    if slot.state == "full":
        pointers = [t for t in touches if t.holds and t.kind == "offload"]
        if pointers:
            return f"shown, with pointers in place of large arguments since step {pointers[-1].step}"
        undone = any(t.kind not in ("pin", "unpin", "expire") for t in touches)
        return "shown whole: what hid it was taken back" if undone else "shown as it was recorded: no edit changes it"
    if slot.state == "gone":
        return f"not shown: {_gone(view, standing)}"
    return f"shown as a {_STATES[slot.state]}: {_told(standing[-1:])}"


_STATES = {"stub": "stub", "folded": "shortened text", "summary": "summary"}


def _gone(view: View, standing: list[HiddenBy]) -> str:
    for edit in reversed(standing):
        applied = view.edit(edit.edit)
        if applied is not None and isinstance(applied.edit, Compact):
            return f"part of the summary {_told([edit])}"
        if applied is not None and isinstance(applied.edit, Drop):
            return f"taken out {_told([edit])}"
    return _told(standing[-1:])


def _told(edits: list[HiddenBy]) -> str:
    if not edits:
        return "no edit of this path says why"
    edit = edits[0]
    return f"by {edit.edit} ({edit.kind}, step {edit.step}, {edit.author or 'unknown'})" + (
        f": {edit.reason}" if edit.reason else ""
    )


def _in_its_place(view: View, address: Address) -> str:
    slot = view.slots[address.index]
    if slot.state == "full" or not slot.shown:
        return ""
    text = " ".join(text_of(slot.shown[-1]).split())
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"
