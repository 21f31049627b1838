"""The view: what a model sees of a path, as a value.

    message ──with_message──▶ ┐
    edit ────with_edit──────▶ ├─ View: slots (a persistent vector) + which edits hold ──messages──▶ the next request shows
    revert ──with_revert────▶ ┘

A view never changes. Each step makes a new one that shares all but a path of the old: O(log n), and the one before it is a snapshot for
free, safe for threads: what a view keeps of its messages is the same whoever works it out. `fold` is nothing but these steps over a path, so the incremental view and the full one can't differ.

Each call owns a slot right behind its answer from the moment the answer is seen, filled with a fixed text until the real one comes. So
the messages are valid at every instant. Orphans, second answers and superseded messages are missing from the view only; what an edit
hides stays in its slot.
"""

import threading
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import is_
from typing import Any, NamedTuple, Self, assert_never
from weakref import ref

from trimtab.context.window.overlays import Address, Lookup, overlays_of
from trimtab.context.window.reverts import Revert, Reverted
from trimtab.context.window.slots import Slot, headed
from trimtab.context.window.stand_ins import INTERRUPTED, PENDING, has_content, is_stand_in, late_answer, stand_in
from trimtab.context.window.vector import Vector
from trimtab.types.edits import Edit, Restate
from trimtab.types.messages import Assistant, Message, Text, ToolResult, User


@dataclass(frozen=True, slots=True)
class Repairs:
    """What the view shows otherwise than the log: call ids, and a count of messages left out."""

    interrupted: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    orphans: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()
    late: tuple[str, ...] = ()
    hidden: int = 0


class Applied(NamedTuple):
    """An edit of the path, the indices of the slots that it touches, and the step at which it was made.

    `starts`: for each of them, how many overlays lay there before. `author`: who made it; empty for one that is only tried.
    """

    id: str
    edit: Edit
    slots: tuple[int, ...]
    step: int = 0
    starts: tuple[int, ...] = ()
    author: str = ""


class Shown(NamedTuple):
    """A message of the next request, and the index of the slot that it stands in. `lead`: it is the summary in front of that slot."""

    place: int
    message: Message
    lead: bool = False


class _Edited(NamedTuple):
    """The edit that was laid on a view last, and what came of it, for as long as others hold both.

    A log folds in what whoever wanted it recorded folds too, and what a check has tried is measured next: an edit of thousands of messages is laid on
    them once, and not by each.
    """

    before: "ref[View]"
    applied: tuple[str, Edit, str]
    after: "ref[View]"


class _Index:
    """Where names lead. Shared by all views of a family and only ever added to; what it says is checked against the slots."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}
        self.calls: dict[str, list[int]] = {}
        self.edits: dict[str, int] = {}
        self.edited: _Edited | None = None
        self.guard = threading.Lock()


class _Kept(NamedTuple):
    """Messages of the slots up to `settled`, as far as `size`; longer lists belong to a later view."""

    items: list[Shown]
    messages: list[Message]
    size: int
    settled: int

    def grown(self, fresh: list[Shown], settled: int) -> "_Kept":
        """The same with more at the end: in place where this is the latest, else in a copy."""
        items, messages = self.items, self.messages
        if len(items) != self.size:
            items, messages = items[: self.size], messages[: self.size]
        items += fresh
        messages += [shown.message for shown in fresh]
        return _Kept(items, messages, len(items), settled)

    def patched(self, slots: dict[int, list[Shown]]) -> "_Kept":
        """A copy in which these slots show something else."""
        items = self.items[: self.size]
        for index in sorted(slots, reverse=True):
            start = bisect_left(items, index, key=_place)
            items[start : bisect_left(items, index + 1, start, key=_place)] = slots[index]
        return _Kept(items, [shown.message for shown in items], len(items), self.settled)


class View:
    """A conversation as a model sees it. Begin with `View()`.

    `step` counts answers, `turn` prompts. `epoch` counts changes of what was there before: from a view to one that grew out of it with the same
    epoch, the messages only grow at their end. `reverted` are ids of edits and reverts that don't hold. `parked` are calls that wait for a person.
    """

    def __init__(self) -> None:
        self.slots: Vector[Slot] = Vector()
        self.applied: Vector[Applied] = Vector()
        self.reverted = Reverted()
        self.parked: frozenset[str] = frozenset()
        self.step = 0
        self.turn = 0
        self.epoch = 0
        self._open: tuple[int, ...] = ()
        self._orphans: Vector[str] = Vector()
        self._duplicates: Vector[str] = Vector()
        self._late: tuple[int, ...] = ()
        self._hidden = 0
        self._settled = 0
        self._index = _Index()
        # One attribute: another thread may replace it between any two reads, and either part alone would be wrong beside the other.
        self._shown: tuple[_Kept, frozenset[int]] = (_Kept([], [], 0, 0), frozenset())
        self._messages: tuple[Message, ...] | None = None

    # What it shows

    def messages(self) -> tuple[Message, ...]:
        """The messages of the next request, every call answered, in order."""
        if self._messages is None:
            kept = self._kept()
            tail = self._render(kept.settled, len(self.slots))
            self._messages = (*kept.messages[: kept.size], *(shown.message for shown in tail))
        return self._messages

    def extends(self, before: "View") -> bool:
        """Whether the messages are those of `before`, with more at the end or nothing more: what was worked out for those then holds for these.

        Where this view grew out of that one without an edit it costs what came since; else a look at each message.
        """
        kept, known = self._kept(), before._kept()
        # Two views that read one list share its beginning: it only ever grows.
        same = known.size if known.messages is kept.messages and known.size <= kept.size else 0
        old, new = before.messages(), self.messages()
        return len(old) <= len(new) and all(map(is_, old[same:], new[same : len(old)]))

    def shown(self) -> list[Shown]:
        """The same, each with the slot that it stands in."""
        kept = self._kept()
        return [*kept.items[: kept.size], *self._render(kept.settled, len(self.slots))]

    @property
    def lineage(self) -> object:
        """What all views that grew from one beginning share."""
        return self._index

    @property
    def open_calls(self) -> tuple[str, ...]:
        """Ids of the calls without a real answer, in order. A call that was passed over stays one of them."""
        return tuple(self._call_id(index) for index in self._open)

    def awaits(self, call_id: str) -> bool:
        """Whether a result for that call finds a place: the last answer that made the call still waits for it."""
        return any(not self.slots[index].answered for index in self._places_of_call(call_id))

    @property
    def open_places(self) -> tuple[int, ...]:
        """Their slots."""
        return self._open

    @property
    def is_waiting(self) -> bool:
        """Whether the newest answer still waits for a result, so that what fills the place changes nothing that was passed. See `is_passed`."""
        return bool(self._open) and not self.is_passed(self._open[-1])

    @property
    def reverts(self) -> Vector[Revert]:
        """The reverts of the path, oldest first."""
        return self.reverted.reverts

    def edit_behind(self, entry_id: str) -> str:
        """The edit that a revert, or a revert of one, is about; any other id as it is."""
        return self.reverted.edit_behind(entry_id)

    @property
    def repairs(self) -> Repairs:
        """How the messages differ from what the log holds, edits apart. A call that is answered further down still shows as pending."""
        shown = [self._call_id(index) for index in sorted((*self._open, *self._late))]
        return Repairs(
            interrupted=tuple(call for call in shown if call not in self.parked),
            pending=tuple(call for call in shown if call in self.parked),
            orphans=tuple(self._orphans),
            duplicates=tuple(self._duplicates),
            late=tuple(self._call_id(index) for index in self._late),
            hidden=self._hidden,
        )

    # What a name stands for

    def find(self, name: str) -> Address | None:
        """What `name` stands for: an entry id, a handle, a call id, `ENTRY#N`, or the id of a compaction (its summary)."""
        whole, mark, number = name.rpartition("#")
        if mark and number.isdecimal() and len(number) < 6:
            address = self._place(whole)
            return None if address is None or address.edit else Address(address.index, int(number))
        return self._place(name)

    def edit(self, edit_id: str) -> Applied | None:
        """The edit of that id on this path."""
        place = self._index.edits.get(edit_id)
        if place is None:
            return None
        if place < len(self.applied) and (applied := self.applied[place]).id == edit_id:
            return applied
        # Another view of the family gave the name to another edit.
        found = (self.applied[n] for n in range(len(self.applied) - 1, -1, -1))
        return next((applied for applied in found if applied.id == edit_id), None)

    def group(self, index: int) -> range:
        """The indices of the answer and the results that the slot belongs to; of itself when it belongs to none."""
        slot = self.slots[index]
        if slot.group is not None:
            return range(slot.group, self.slots[slot.group].end)
        return range(index, slot.end) if isinstance(slot.base, Assistant) else range(index, index + 1)

    def is_passed(self, index: int) -> bool:
        """Whether something stands behind the slot's group: a result that comes for it now comes late, and is a change."""
        return self.group(index).stop < len(self.slots)

    # Steps

    def with_message(self, entry_id: str, message: Message) -> "View":
        """The view after the next message of the path."""
        match message:
            case User():
                turn = self.turn + (message.origin == "prompt")
                return self._with(turn=turn)._append(Slot(entry_id, message, self.step, turn, shown=(message,)))
            case Assistant():
                return self._ask(entry_id, message)
            case ToolResult():
                return self._answer(entry_id, message)
            case _:
                assert_never(message)

    def with_parked(self, call_id: str) -> "View":
        """The view after `call_id` was said to wait for a person."""
        made = self._with(parked=self.parked | {call_id})
        for index in self._open:
            if self._call_id(index) == call_id:
                slot = self.slots[index]
                waiting = stand_in(call_id, _tool_name(slot), PENDING)
                made = made._put(index, made._changed(slot, base=waiting))
        return made

    def with_edit(self, edit_id: str, edit: Edit, *, author: str = "") -> "View":
        """The view after an edit of that author. Targets that aren't there are passed over."""
        last = self._index.edited
        if last is not None and last.before() is self and last.applied == (edit_id, edit, author):
            known = last.after()
            if known is not None:
                self._index.edits[edit_id] = len(self.applied)
                return known
        made = self
        if isinstance(edit, Restate):
            note = User((Text(edit.text),), origin="note")
            touched: tuple[int, ...] = (len(self.slots),)
            starts: tuple[int, ...] = (0,)
            made = self._append(Slot(edit_id, note, self.step, self.turn, note=edit_id, shown=(note,)))
        else:
            laid = overlays_of(edit_id, edit, self._lookup())
            touched, starts = tuple(laid), tuple(len(self.slots[index].layers) for index in laid)
            slots = {i: self.slots[i].with_overlays(overlays, self.reverted) for i, overlays in laid.items()}
            made = self._put_all(slots)
        self._index.edits[edit_id] = len(self.applied)
        applied = Applied(edit_id, edit, touched, self.step, starts, author)
        made = made._with(applied=self.applied.append(applied), reverted=self.reverted.with_edit(edit_id))
        if len(touched) > 1:
            self._index.edited = _Edited(ref(self), (edit_id, edit, author), ref(made))
        return made

    def with_revert(self, revert_id: str, target: str) -> "View":
        """The view after an edit, or an earlier revert, was taken back."""
        reverted = self.reverted.with_revert(Revert(revert_id, target, self.step))
        made = self._with(reverted=reverted)
        edit = self.edit(self.reverted.edit_behind(target))
        if edit is None or (edit.id in reverted) == (edit.id in self.reverted):
            return made
        starts = zip(edit.slots, edit.starts, strict=True)
        return made._put_all({i: self.slots[i].switched(start, edit.id, reverted) for i, start in starts})

    def _ask(self, entry_id: str, message: Assistant) -> "View":
        if message.superseded or not has_content(message):
            return self._with(_hidden=self._hidden + 1)
        step = self.step + 1
        calls = message.tool_calls
        place = len(self.slots)
        answer = Slot(entry_id, message, step, self.turn, end=place + 1 + len(calls), shown=(message,))
        self._name(entry_id, place)
        slots = self.slots.append(answer)
        fresh: dict[str, list[int]] = {}
        opened = range(place + 1, place + 1 + len(calls))
        for index, call in zip(opened, calls, strict=True):
            fresh.setdefault(call.id, []).append(index)
            waiting = stand_in(call.id, call.name, PENDING if call.id in self.parked else INTERRUPTED)
            slot = Slot(call.id, waiting, step, self.turn, group=place, answered=False, stored=False, shown=(waiting,))
            slots = slots.append(slot)
        self._index.calls.update(fresh)
        # Whatever was still open further up is settled now: it hardly ever changes, and then everything is looked at anew.
        return self._with(step=step, slots=slots, _open=(*self._open, *opened), _settled=place + 1)

    def _answer(self, entry_id: str, result: ToolResult) -> "View":
        places = self._places_of_call(result.call_id)
        if not places:
            return self._with(_orphans=self._orphans.append(result.call_id))
        standing = is_stand_in(result)
        index = next((i for i in places if self._takes(i, standing=standing)), None)
        if index is None:
            return self._with(_duplicates=self._duplicates.append(result.call_id))
        slot = self.slots[index]
        parked = result.call_id in self.parked
        if standing:
            # A stand-in that somebody stored shows as it is, and still gives way to a real answer.
            return self._put(index, self._changed(slot, base=slot.base if parked else result, stored=True))
        if parked and len(self.slots) > self.slots[slot.group or 0].end:
            late = late_answer(result)
            made = self._put(index, self._changed(slot, answered=True))
            made = made._with(_late=(*self._late, index), _open=self._still_open(index))
            return made._append(Slot(entry_id, late, self.step, self.turn, shown=(late,)))
        self._name(entry_id, index)
        if result.handle:
            self._name(result.handle, index)
        if slot.layers:
            slot = self._changed(slot, id=entry_id, base=result, answered=True)
        else:  # nearly always: nobody edits an answer before it is there
            slot = Slot(entry_id, result, slot.step, slot.turn, slot.group, shown=(headed(result),))
        made = self._put(index, slot)
        made = made._with(_open=self._still_open(index))
        return made._settle()

    def _still_open(self, index: int) -> tuple[int, ...]:
        """The open places without one; they are in order, and a damaged file has thousands."""
        at = bisect_left(self._open, index)
        return self._open[:at] + self._open[at + 1 :] if self._open[at : at + 1] == (index,) else self._open

    def _takes(self, index: int, *, standing: bool) -> bool:
        slot = self.slots[index]
        return not slot.answered and not (standing and slot.stored)

    def _settle(self) -> "View":
        """Say that the last group is complete, if it is."""
        last = self.slots[self._settled].group if self._settled < len(self.slots) else None
        waiting = last is not None and bool(self._open) and last < self._open[-1]
        return self if waiting else self._with(_settled=len(self.slots))

    # Machinery

    def _append(self, slot: Slot) -> "View":
        index = len(self.slots)
        self._name(slot.id, index)
        settled = index + 1 if self._settled == index else self._settled
        return self._with(slots=self.slots.append(slot), _settled=settled)

    def _put(self, index: int, slot: Slot) -> "View":
        kept, stale = self._shown
        stale = stale | {index} if index < kept.settled else stale
        epoch = self.epoch + self._is_change(index, slot)
        return self._with(slots=self.slots.replace(index, slot), _shown=(kept, stale), epoch=epoch)

    def _put_all(self, slots: dict[int, Slot]) -> "View":
        """The same for many slots, at the cost of what lies between the first and the last and not of that for each."""
        if len(slots) < 2:
            return self._put(*next(iter(slots.items()))) if slots else self
        kept, stale = self._shown
        stale = stale.union(index for index in slots if index < kept.settled)
        epoch = self.epoch + sum(self._is_change(index, slot) for index, slot in slots.items())
        return self._with(slots=self.slots.replace_all(slots), _shown=(kept, stale), epoch=epoch)

    def _is_change(self, index: int, slot: Slot) -> bool:
        """Whether `slot` at that place is another than anybody can have read; an answer that comes while nothing stands behind its group isn't."""
        before = self.slots[index]
        quiet = before.group is not None and not before.answered and self.slots[before.group].end == len(self.slots)
        return bool(slot.layers) or not quiet

    def _changed(self, slot: Slot, **changes: Any) -> Slot:
        return replace(slot, **changes).rendered(self.reverted)

    def _with(self, **changes: Any) -> Self:
        made = object.__new__(type(self))
        # A fold makes a view or three for each message: no loop over names.
        made.__dict__ = {**self.__dict__, "_messages": None, **changes}
        return made

    def _kept(self) -> _Kept:
        """The messages of the settled slots: what an earlier view kept, with what has changed since."""
        kept, stale = self._shown
        if stale:
            kept = kept.patched({index: list(self._render(index, index + 1)) for index in stale})
        if kept.settled < self._settled:
            fresh = list(self._render(kept.settled, self._settled))
            with self._index.guard:
                kept = kept.grown(fresh, self._settled)
        self._shown = (kept, frozenset())
        return kept

    def _render(self, start: int, end: int) -> Iterator[Shown]:
        for index, slot in enumerate(self.slots.range(start, end), start):
            for number, message in enumerate(slot.shown):
                yield Shown(index, message, lead=slot.lead is not None and number == 0)

    def _name(self, name: str, index: int) -> None:
        self._index.places[name] = index

    def _place(self, name: str) -> Address | None:
        place = self._index.places.get(name)
        if place is not None and place < len(self.slots) and _is_named(self.slots[place], name):
            return Address(place)
        applied = self.edit(name)
        if applied is not None and applied.slots:
            return Address(min(applied.slots), edit=name)
        if places := self._places_of_call(name):
            return Address(places[-1])
        if place is not None:  # another view of the family gave the name to another place
            found = (i for i in range(len(self.slots) - 1, -1, -1) if _is_named(self.slots[i], name))
            return next((Address(i) for i in found), None)
        return None

    def _places_of_call(self, call_id: str) -> list[int]:
        """Indices of the slots of that call in the last answer that makes it."""
        known = self._index.calls.get(call_id)
        if known is None:
            return []
        places = [i for i in known if i < len(self.slots) and self._call_id(i) == call_id]
        if len(places) != len(known):
            places = [i for i, slot in enumerate(self.slots) if slot.group is not None and self._call_id(i) == call_id]
            places = [i for i in places if self.slots[i].group == self.slots[places[-1]].group]
        return places

    def _call_id(self, index: int) -> str:
        base = self.slots[index].base
        return base.call_id if isinstance(base, ToolResult) else ""

    def _lookup(self) -> Lookup:
        def touched_by(edit_id: str) -> tuple[int, ...]:
            applied = self.edit(edit_id)
            return applied.slots if applied else ()

        return Lookup(slot=self.slots.__getitem__, find=self.find, touched_by=touched_by)


def _place(shown: Shown) -> int:
    return shown.place


def _is_named(slot: Slot, name: str) -> bool:
    return slot.id == name or (isinstance(slot.base, ToolResult) and name == slot.base.handle)


def _tool_name(slot: Slot) -> str:
    return slot.base.tool_name if isinstance(slot.base, ToolResult) else ""
