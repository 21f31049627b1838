"""Explaining: why each word is or isn't there, from the log alone.

    path of entries ──fold, step by step──▶ a row for every edit, revert and note: what changed, why, by whom, at what price, which facts left the context

Nothing is kept for it while a session runs; a row is worked out from the views before and after its entry. A fact is a distinctive string (see `references`),
and it is lost with an edit when no message of the context holds it any more.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from trimtab.context.naming import name_of
from trimtab.context.seeing.references import distinctive
from trimtab.context.window.fold import Fold
from trimtab.context.window.view import View
from trimtab.types.codec import Entry
from trimtab.types.edits import Compact, Edit, EditCost, Summarize, edit_kind
from trimtab.types.entries import CustomEntry, EditEntry, RevertEntry
from trimtab.types.messages import Message, Text, Thinking, ToolCall

_LISTED = 6


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one item showed before and after an edit."""

    target: str
    before: str
    after: str


class LogRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of the context log. `kind` is that of the edit, `revert`, or the event of a note; `targets` are names that a model uses.

    `before` and `after` are tokens. `reverted` names the revert that took the edit back, if one holds. `lost` are the facts that left the context with it, `regained`
    those that came back. `changes` are there when asked for. `reasons` are those of a note that has
    several, as the log keeps them (`reasons.in_words` makes sentences of them); `wishes` is what was wished for of a summary.
    """

    entry_id: str
    step: int
    kind: str
    targets: tuple[str, ...] = ()
    reason: str = ""
    author: str = ""
    before: int | None = None
    after: int | None = None
    cost: EditCost = EditCost()
    batch: str | None = None
    reverted: str | None = None
    lost: tuple[str, ...] = ()
    regained: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    reasons: tuple[str, ...] = ()
    wishes: str = ""
    details: dict[str, Any] = {}


def context_log(path: Iterable[Entry], *, whole: Callable[[Message], Message], diff: bool = False) -> list[LogRow]:
    """Return the rows of a path, root first. `diff`: with the texts before and after each edit."""
    rows = list(_Walk(whole, diff=diff).rows(path))
    holds: dict[str, str] = {}
    taken_back: set[str] = set()
    for row in reversed(rows):
        if row.kind == "revert" and row.entry_id not in taken_back:
            for target in row.targets:
                taken_back.add(target)
                holds.setdefault(target, row.entry_id)
    return [msgspec.structs.replace(row, reverted=holds.get(row.entry_id)) for row in rows]


def price(cost: EditCost) -> str:
    """What an edit cost, as text; empty when nothing is known of it."""
    parts = []
    if cost.cache_usd:
        parts.append(f"${cost.cache_usd:.4f} of cache")
    if cost.model_tokens:
        usd = f" (${cost.model_usd:.4f})" if cost.model_usd else ""
        parts.append(f"{cost.model_tokens:,} tokens of a model{usd}")
    if cost.ms:
        parts.append(f"{cost.ms:,} ms")
    return f", cost {', '.join(parts)}" if parts else ""


def listed(names: Sequence[str]) -> str:
    """A few names, and how many more there are."""
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more:,} more" if more > 0 else "")


def text_of(message: Message) -> str:
    """All that a model reads of a message: text, thoughts and arguments."""
    parts: list[str] = []
    for part in message.parts:
        if isinstance(part, Text | Thinking):
            parts.append(part.text)
        elif isinstance(part, ToolCall):
            parts.append(part.raw)
    return "\n".join(parts)


@dataclass(slots=True)
class _Walk:
    """One pass over a path. `seen` counts in how many shown messages each fact stands."""

    whole: Callable[[Message], Message]
    diff: bool
    fold: Fold = field(init=False)
    seen: Counter[str] = field(default_factory=Counter)
    _counted: dict[int, tuple[Message, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.fold = Fold(self.whole)

    def rows(self, path: Iterable[Entry]) -> Iterator[LogRow]:
        for entry in path:
            before = self.fold.view
            self.fold.add(entry)
            if entry.type == "message":
                self._recount(range(max(0, len(before.slots) - 1), len(self.fold.view.slots)))
                self._recount(_answered(before, self.fold.view))
                continue
            value = entry.value
            if isinstance(value, EditEntry):
                yield self._edit_row(entry.id, value, before)
            elif isinstance(value, RevertEntry):
                yield self._revert_row(entry.id, value)
            elif isinstance(value, CustomEntry) and value.kind == "context":
                yield _note_row(entry.id, value, self.fold.view.step)

    def _edit_row(self, entry_id: str, entry: EditEntry, before: View) -> LogRow:
        view = self.fold.view
        applied = view.edit(entry_id)
        slots = applied.slots if applied else ()
        lost, regained = self._recount(slots)
        return LogRow(
            entry_id=entry_id,
            step=view.step,
            kind=edit_kind(entry.edit),
            targets=tuple(_name(view, target) for target in entry.edit.targets),
            reason=entry.reason,
            author=entry.author,
            before=entry.before_tokens,
            after=entry.after_tokens,
            cost=entry.cost,
            batch=entry.batch,
            lost=lost,
            regained=regained,
            changes=tuple(_changes(before, view, slots)) if self.diff else (),
            wishes=_wishes(entry.edit),
        )

    def _revert_row(self, entry_id: str, entry: RevertEntry) -> LogRow:
        view = self.fold.view
        applied = view.edit(entry.target)
        lost, regained = self._recount(applied.slots if applied else ())
        return LogRow(
            entry_id=entry_id,
            step=view.step,
            kind="revert",
            targets=(entry.target,),
            reason=entry.reason,
            author=entry.author,
            lost=lost,
            regained=regained,
        )

    def _recount(self, indices: Iterable[int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Take in what these slots show now; return the facts that left the context, and those that came (back)."""
        view, seen = self.fold.view, self.seen
        lost: dict[str, None] = {}
        regained: dict[str, None] = {}
        for index in dict.fromkeys(indices):
            old, new = self._counted.get(index, ()), view.slots[index].shown
            if old == new:
                continue
            self._counted[index] = new
            for fact in _facts(new):
                seen[fact] += 1
                if seen[fact] == 1:
                    regained[fact] = None
            for fact in _facts(old):
                seen[fact] -= 1
                if seen[fact] == 0:
                    lost[fact] = None
        gone = tuple(fact for fact in lost if not seen[fact])
        came = tuple(fact for fact in regained if seen[fact] and fact not in lost)
        return gone, came


def _facts(messages: Sequence[Message]) -> list[str]:
    return [fact for message in messages for fact in distinctive(text_of(message))]


def _answered(before: View, after: View) -> list[int]:
    """Indices of the slots that an answer has just filled."""
    addresses = (after.find(call) for call in before.open_calls)
    return [address.index for address in addresses if address is not None]


def _name(view: View, target: str) -> str:
    address = view.find(target)
    return target if address is None or address.edit or address.part is not None else name_of(view.slots[address.index])


def _changes(before: View, after: View, slots: Iterable[int]) -> Iterator[Change]:
    for index in slots:
        old = "\n".join(text_of(m) for m in before.slots[index].shown) if index < len(before.slots) else ""
        new = "\n".join(text_of(m) for m in after.slots[index].shown)
        if old != new:
            yield Change(name_of(after.slots[index]), old, new)


def _note_row(entry_id: str, entry: CustomEntry, step: int) -> LogRow:
    data = dict(entry.data)
    event, reason = str(data.pop("event", "note")), data.pop("reason", "")
    reasons = data.pop("reasons", None)
    several = tuple(map(str, reasons)) if isinstance(reasons, list) else ()
    author = str(data.pop("author", ""))
    return LogRow(
        entry_id, step, event, reason="; ".join(several) or str(reason), author=author, reasons=several, details=data
    )


def _wishes(edit: Edit) -> str:
    """What a person, or whoever asked for a summary, wanted it to keep."""
    said = edit.params.get("instructions") if isinstance(edit, Compact | Summarize) else None
    return said if isinstance(said, str) else ""
