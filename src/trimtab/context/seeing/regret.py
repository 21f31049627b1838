"""The regret ledger: what hiding things cost afterwards.

    new answers ──▶ a call asks again for what an edit hid? ──▶ Booking: which edit, tokens, money, how many requests later
    new edits   ──▶ results hidden, by kind of tool          ──▶ rate of regret by kind ──▶ how long such results are left alone

Regretted is: reading a file again that was hidden and not written since; the same call made again; `recall` of a hidden item; bringing one back
(`refetching`). All of it is read off the view, so it holds for any policy, any author and any agent; an edit counts as taken back only from when it was, so one pass over a whole session and
a look after each step come to the same. What was fetched again is known here too (`fetched`), since hiding that once more makes a loop. What is learned (`Learned`) is bounded; a session that is opened again works its own part
out from its log, and what other sessions taught is `known`, which nothing here changes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Annotated, TypeAlias

import msgspec

from trimtab.context.seeing.refetching import CONTEXT_TOOLS, Cause, covers, is_named, recalled
from trimtab.context.seeing.resources import Resource, resource_of
from trimtab.context.window.reverts import Reverted
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import Applied, View
from trimtab.types.edits import Compact, Compress, Drop, Elide, Fold, Restore, Summarize, Truncate
from trimtab.types.messages import Assistant, Message, ToolCall, ToolResult

Size: TypeAlias = Callable[[Message], int]
_HIDING = (Elide, Summarize, Fold, Truncate, Compress, Drop, Compact)
_PRIOR_HIDDEN = 8.0
_PRIOR_REGRETTED = 0.4
"""What is assumed before anything was seen: one hidden result in twenty is asked for again, as if eight had been hidden."""
_ROW = 4
"""How much longer than one fetch a row of them is left alone, at most."""
_LOOKED_BACK = 64
"""Earlier calls about one thing that are looked at: what a new call asks for is nearly always in the last of them."""


class Booking(msgspec.Struct, frozen=True, omit_defaults=True):
    """One regret. `edit` hid `target`; `tokens` were fetched again, for `usd` where a price is known, `later` requests after the edit."""

    edit: str
    target: str
    cause: Cause
    tool: str
    step: int
    tokens: int
    later: int
    usd: float | None = None


class KindRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """Of one kind of tool: results hidden, how many of them were asked for again, and what that took."""

    hidden: Annotated[int, msgspec.Meta(ge=0)] = 0
    regretted: Annotated[int, msgspec.Meta(ge=0)] = 0
    tokens: Annotated[int, msgspec.Meta(ge=0)] = 0
    usd: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    later: Annotated[int, msgspec.Meta(ge=0)] = 0

    @property
    def rate(self) -> float:
        """The share of hidden results that were asked for again, 0 to 1, drawn to what is usual while little was seen."""
        return min(1.0, (self.regretted + _PRIOR_REGRETTED) / (self.hidden + _PRIOR_HIDDEN))


class Learned(msgspec.Struct, frozen=True, omit_defaults=True):
    """What hiding results has taught, by tool. JSON holds it."""

    kinds: dict[str, KindRecord] = {}

    def regret(self, tool: str) -> float:
        """How much hiding a result of this tool was regretted, 0 (as usual, or less) to 1 (half of them or more)."""
        usual = _PRIOR_REGRETTED / _PRIOR_HIDDEN
        return min(1.0, max(0.0, (self.kinds.get(tool, KindRecord()).rate - usual) / (0.5 - usual)))

    def having(self, tool: str, more: KindRecord) -> "Learned":
        """The same with more seen of `tool`."""
        old = self.kinds.get(tool, KindRecord())
        new = KindRecord(
            old.hidden + more.hidden,
            old.regretted + more.regretted,
            old.tokens + more.tokens,
            old.usd + more.usd,
            old.later + more.later,
        )
        return Learned({**self.kinds, tool: new})

    def rows(self) -> list[dict[str, object]]:
        """What was learned, as data to show, the most regretted first."""
        rows: list[dict[str, object]] = [
            {
                "tool": tool,
                "hidden": kind.hidden,
                "regretted": kind.regretted,
                "regret": round(self.regret(tool), 3),
                "tokens": kind.tokens,
                "usd": round(kind.usd, 6),
                "mean_later": round(kind.later / kind.regretted, 1) if kind.regretted else None,
            }
            for tool, kind in self.kinds.items()
        ]
        return sorted(rows, key=lambda row: (-self.regret(str(row["tool"])), str(row["tool"])))


@dataclass(slots=True)
class RegretLedger:
    """Follows one conversation. `learned` is what this one taught, `known` what others did; `input_price` is USD per million tokens of fresh input."""

    known: Learned = field(default_factory=Learned)
    learned: Learned = field(default_factory=Learned)
    input_price: float | None = None
    bookings: list[Booking] = field(default_factory=list)
    _hidden: set[tuple[str, str]] = field(default_factory=set)
    _booked: set[tuple[str, str]] = field(default_factory=set)
    _regretted: set[str] = field(default_factory=set)
    _lineage: object = None
    _slot: int = 0
    _edit: int = 0
    _revert: int = 0
    _then: Reverted = field(default_factory=Reverted)
    """What was taken back by the place that was taken in last."""
    _marked: tuple[int, str] = (-1, "")
    _last_edit: str = ""
    _asked: dict[str, list[int]] = field(default_factory=dict)
    _written: dict[str, int] = field(default_factory=dict)
    _fetched: tuple[tuple[int, int], ...] = ()
    """Where results stand that were fetched again, and at which steps they were asked for, in order."""
    _rates: dict[str, float] = field(default_factory=dict)
    """What hiding a result of a tool was regretted, by all that is learned in `_rated` and known."""
    _rated: Learned | None = None
    _rated_known: Learned | None = None

    def update(self, view: View, size: Size) -> None:
        """Take in what came since the last look. What was booked once is never booked twice, whatever branch is looked at."""
        if not self._continues(view):
            self._lineage, self._slot, self._edit, self._revert, self._then = view.lineage, 0, 0, 0, Reverted()
            self._asked.clear()
            self._written.clear()
            self._fetched = ()
        # Edits and answers are taken in step by step: a call that came before an edit asked for something that was still in sight.
        while self._edit < view.reverted.recorded or self._slot < len(view.slots):
            slot = view.slots[self._slot] if self._slot < len(view.slots) else None
            if self._edit < view.reverted.recorded and (slot is None or self._step_of_edit(view) < slot.step):
                self._take_change(view, size)
            elif slot is not None:
                self._take_slot(view, self._slot, size)
                self._slot += 1
        # A result that isn't there yet gets another id when it comes, so the mark is at the last slot that stays what it is.
        last = next((i for i in range(self._slot - 1, -1, -1) if view.slots[i].answered), -1)
        self._marked = (last, view.slots[last].id if last >= 0 else "")
        self._last_edit = view.reverted.entry(self._edit - 1) if self._edit else ""

    def regret(self, slot: Slot) -> float:
        """How likely hiding this result is regretted, 0 to 1: by its kind, and for certain when it was fetched again before."""
        if not isinstance(slot.base, ToolResult):
            return 0.0
        if slot.id in self._regretted:
            return 1.0
        if self._rated is not self.learned or self._rated_known is not self.known:
            self._rated, self._rated_known = self.learned, self.known
            self._rates.clear()
        tool = slot.base.tool_name
        rate = self._rates.get(tool)
        if rate is None:
            own = self.learned.kinds.get(tool)
            rate = self._rates[tool] = (self.known if own is None else self.known.having(tool, own)).regret(tool)
        return rate

    def fetched(self, view: View, steps: int) -> dict[str, int]:
        """Return the results that were fetched again within the last `steps` requests after something had hidden them, or found by a search of the archive, each with the step at which: what a
        model has just asked for is what it needs next. `view` is the one of the last `update`.

        A row of fetches, one request after the other, is one search: what its first brought is needed with what its last brings, and counts as brought at its end.
        """
        found: dict[str, int] = {}
        before, end = view.step + 1, view.step
        for place, step in reversed(self._fetched):
            if step < before - 1:
                end = step
            if end < view.step - steps or step < view.step - _ROW * steps:
                break
            before = step
            base = view.slots[place].base if place < len(view.slots) else None
            if isinstance(base, ToolResult) and not base.is_error:
                found[view.slots[place].id] = end
        return found

    def _continues(self, view: View) -> bool:
        index, slot = self._marked
        return (
            view.lineage is self._lineage
            and self._slot <= len(view.slots)
            and self._edit <= view.reverted.recorded
            and (index < 0 or view.slots[index].id == slot)
            and (self._edit == 0 or view.reverted.entry(self._edit - 1) == self._last_edit)
        )

    def _step_of_edit(self, view: View) -> int:
        """The step at which the next edit or revert was recorded."""
        applied = view.edit(view.reverted.entry(self._edit))
        return view.reverts[self._revert].step if applied is None else applied.step

    def _take_change(self, view: View, size: Size) -> None:
        """Take in the next edit or revert."""
        applied = view.edit(view.reverted.entry(self._edit))
        if applied is None:
            self._then = self._then.with_revert(view.reverts[self._revert])
            self._revert += 1
        else:
            self._then = self._then.with_edit(applied.id)
            self._take_edit(view, applied, size)
        self._edit += 1

    def _take_edit(self, view: View, applied: Applied, size: Size) -> None:
        if isinstance(applied.edit, Restore):
            for index in applied.slots:
                if any(is_named(view.slots[index], target) for target in applied.edit.targets):
                    self._book(view, index, "reload", applied.step, size, before=applied.id)
        elif isinstance(applied.edit, _HIDING):
            for index in applied.slots:
                base = view.slots[index].base
                if isinstance(base, ToolResult) and (applied.id, base.call_id) not in self._hidden:
                    self._hidden.add((applied.id, base.call_id))
                    self.learned = self.learned.having(base.tool_name, KindRecord(hidden=1))

    def _take_slot(self, view: View, index: int, size: Size) -> None:
        base = view.slots[index].base
        if not isinstance(base, Assistant):
            return
        calls = base.tool_calls
        for number, call in enumerate(calls):
            resource = resource_of(call)
            place = index + 1 + number
            if call.name in CONTEXT_TOOLS:
                self._take_recall(view, call, place, view.slots[index].step, size)
            elif resource.writes and resource.path:
                self._written[resource.path] = self._written[""] = index
            else:
                self._take_call(view, resource, index, place, size)
                self._asked.setdefault(resource.path or resource.key, []).append(place)

    def _take_recall(self, view: View, call: ToolCall, place: int, step: int, size: Size) -> None:
        """What `archive` brings back is an edit, and booked as that; a search regrets no edit, but what it finds was missed."""
        if call.name == "recall":
            self._fetched += ((place, step),)
        if (index := recalled(view, call)) is not None:
            self._book(view, index, "recall", step, size)

    def _take_call(self, view: View, resource: Resource, index: int, answer: int, size: Size) -> None:
        """An earlier result of the same content is hidden, and none of it is in sight: this call would not have been made.

        Not so when the file was written in between; what isn't about one file counts as changed by any write.
        """
        written = self._written.get(resource.path or "", -1)
        step = view.slots[index].step
        newest: int | None = None
        for place in islice(reversed(self._asked.get(resource.path or resource.key, [])), _LOOKED_BACK):
            if place <= written:
                break
            if covers(view, place, resource):
                if _hidden_by(view, place, step, self._then) is None:
                    return
                newest = place if newest is None else newest
        if newest is not None:
            self._fetched += ((answer, step),)
            self._book(view, newest, "read" if resource.reads else "repeat", step, size)

    def _book(self, view: View, index: int, cause: Cause, step: int, size: Size, *, before: str = "") -> None:
        slot = view.slots[index]
        culprit = _hidden_by(view, index, step, self._then, before=before)
        if culprit is None or not isinstance(slot.base, ToolResult) or (culprit.id, slot.id) in self._booked:
            return
        self._booked.add((culprit.id, slot.id))
        tokens = size(slot.base)
        usd = None if self.input_price is None else tokens * self.input_price / 1_000_000
        booking = Booking(culprit.id, slot.id, cause, slot.base.tool_name, step, tokens, step - culprit.step, usd)
        self.bookings.append(booking)
        self._regretted.add(slot.id)
        self.learned = self.learned.having(booking.tool, KindRecord(0, 1, tokens, usd or 0.0, booking.later))


def _hidden_by(view: View, index: int, step: int, reverted: Reverted, *, before: str = "") -> Applied | None:
    """The edit that hides a slot's body, of those made before a step (or before the edit `before`). `reverted`: by then."""
    body: Applied | None = None
    gone: Applied | None = None
    for overlay in view.slots[index].overlays:
        if overlay.edit == before:
            break
        applied = view.edit(overlay.edit)
        if applied is None or overlay.edit in reverted or applied.step >= step + bool(before):
            continue
        restores = isinstance(applied.edit, Restore)
        if overlay.part is None and overlay.act in ("body", "whole"):
            body = None if restores else applied
        if overlay.act in ("hide", "unhide"):
            gone = None if restores else applied
    return gone or body
