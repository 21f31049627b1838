"""Applying: from wishes to recorded edits.

    actions ──plan──▶ edits ──check──▶ those that may ──Record──▶ durable, then in the view

A generator: recording is asked of whoever drives the engine, and the view changes only once the answer says that it is durable. If it
can't be recorded, everything stays as it was and the outcome says why.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from trimtab.context.actions import Action
from trimtab.context.asks import Answer, Ask, Failed, Keep, Kept, Record, Recorded
from trimtab.context.editing.checks import Faults, check
from trimtab.context.editing.kit import Kit
from trimtab.context.editing.limits import Limits
from trimtab.context.editing.planning import plan
from trimtab.context.naming import name_of, text_of
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import View
from trimtab.types.edits import (
    Compact,
    Compress,
    Drop,
    Edit,
    EditCost,
    Elide,
    Fold,
    Offload,
    Restate,
    Summarize,
    Truncate,
)
from trimtab.types.entries import EditEntry
from trimtab.types.messages import Message

if TYPE_CHECKING:
    from trimtab.context.cycle.look import Look
    from trimtab.context.summary.job import InPlace

BLANK: dict[str, Any] = {"id": "", "parent": None, "time": ""}
"""The envelope of an entry that nobody has stamped yet."""
_TOLD = 20
"""Problems of one batch that are told."""
Size: TypeAlias = Callable[[Message], int]
Wish: TypeAlias = tuple[Edit, str]
"""An edit that is planned, and its reason."""
Gate: TypeAlias = Callable[[View, Sequence[Edit], float], "Passed"]
"""Asked of a view and edits of it; the last is what their texts cost, in USD, where a model has to write them first."""


@dataclass(frozen=True, slots=True)
class Passed:
    """What a gate lets through now, what waits, and why. `cost` is what each edit that passed costs."""

    edits: tuple[Edit, ...]
    waiting: tuple[Edit, ...] = ()
    reason: str = ""
    cost: EditCost = field(default_factory=EditCost)


@dataclass(frozen=True, slots=True)
class Done:
    """An edit that was recorded."""

    entry_id: str
    entry: EditEntry


@dataclass(frozen=True, slots=True)
class Outcome:
    """The view afterwards, what was recorded, what was not and why. `waiting`: edits that are right but don't pay yet; `notes`: for a person."""

    view: View
    done: tuple[Done, ...] = ()
    refused: tuple[str, ...] = ()
    waiting: tuple[Edit, ...] = ()
    failed: str = ""
    notes: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """Why what isn't done isn't, in words; of very many the first ones, and how many more."""
        all_of_them = (*([self.failed] if self.failed else []), *self.refused)
        more = len(all_of_them) - _TOLD
        return (*all_of_them[:_TOLD], f"and {more:,} more") if more > 0 else all_of_them

    @property
    def gained(self) -> int:
        """Tokens that the edits took out."""
        return sum((d.entry.before_tokens or 0) - (d.entry.after_tokens or 0) for d in self.done)


@dataclass(frozen=True, slots=True)
class Means:
    """What applying needs. `size` counts a message as it is shown; `keep_files`: hidden bodies must be kept in files first.
    `limits`: how much may be made to stay.

    `in_place(look, run)`: how the session's own model can be asked for a summary of `run`, if it can.
    """

    kit: Kit
    size: Size
    faults: Faults
    limits: Limits
    gate: Gate | None = None
    keep_files: bool = False
    in_place: "Callable[[Look, Sequence[int]], InPlace | None]" = field(default=lambda _look, _run: None)


def apply(
    view: View, actions: Iterable[Action], means: Means, *, author: str, batch: str, cost: EditCost | None = None
) -> Generator[Ask, Answer, Outcome]:
    """Do what `actions` want, as one batch of that name. `cost` is what each edit costs."""
    wanted: list[Wish] = []
    refused: list[str] = []
    for action in actions:
        made = plan(action, view, means.kit)
        wanted += [(edit, action.reason) for edit in made.edits]
        refused += made.refused
    return (yield from record(view, wanted, means, author=author, batch=batch, refused=refused, cost=cost))


def record(
    view: View,
    wanted: Sequence[Wish],
    means: Means,
    *,
    author: str,
    batch: str,
    refused: Sequence[str] = (),
    cost: EditCost | None = None,
) -> Generator[Ask, Answer, Outcome]:
    """Record edits that are already planned, each with its reason."""
    reasons = {id(edit): reason for edit, reason in wanted}
    checked = check([edit for edit, _ in wanted], view, author=author, faults=means.faults, limits=means.limits)
    no = (*refused, *checked.refused)
    passed = Passed(checked.edits) if means.gate is None else means.gate(view, checked.edits, 0.0)
    if not passed.edits:
        return Outcome(view, refused=no, waiting=passed.waiting)
    if means.keep_files and (bodies := _hidden_bodies(view, passed.edits, means.kit)):
        kept = yield Keep(bodies)
        if not isinstance(kept, Kept):
            return Outcome(view, refused=no, failed=f"the archive can't be written: {_why(kept)}")
    entries = _entries(view, passed.edits, reasons, means, author=author, batch=batch, cost=cost or passed.cost)
    answer = yield Record(tuple(entries))
    if not isinstance(answer, Recorded):
        return Outcome(view, refused=no, failed=f"the log can't be written: {_why(answer)}")
    for entry_id, entry in zip(answer.ids, entries, strict=True):
        view = view.with_edit(entry_id, entry.edit, author=entry.author)
    done = tuple(Done(entry_id, entry) for entry_id, entry in zip(answer.ids, entries, strict=True))
    return Outcome(view, done, no, passed.waiting)


def shown_size(view: View, indices: Iterable[int], size: Size) -> int:
    """Tokens that these slots show."""
    return sum(size(message) for index in indices for message in view.slots[index].shown)


def _entries(
    view: View,
    edits: Sequence[Edit],
    reasons: dict[int, str],
    means: Means,
    *,
    author: str,
    batch: str,
    cost: EditCost | None,
) -> list[EditEntry]:
    entries: list[EditEntry] = []
    for number, edit in enumerate(edits):
        after = view.with_edit(f"?{number}", edit)
        applied = after.edit(f"?{number}")
        touched = applied.slots if applied else ()
        before = 0 if isinstance(edit, Restate) else shown_size(view, touched, means.size)
        entries.append(
            EditEntry(
                **BLANK,
                edit=edit,
                reason=reasons.get(id(edit), ""),
                author=author,
                before_tokens=before,
                after_tokens=shown_size(after, touched, means.size),
                cost=cost or EditCost(),
                batch=batch,
            )
        )
        view = after
    return entries


def _hidden_bodies(view: View, edits: Iterable[Edit], kit: Kit) -> dict[str, str]:
    """The recorded texts that these edits take out of sight and that the model can read again, by the names that stubs use."""
    bodies: dict[str, str] = {}
    for edit in edits:
        if not isinstance(edit, Elide | Fold | Truncate | Compress | Summarize | Drop | Compact | Offload):
            continue
        for target in edit.targets:
            address = view.find(target)
            if address is None or address.edit is not None:
                continue
            members = (
                view.group(address.index) if isinstance(edit, Compact) else range(address.index, address.index + 1)
            )
            bodies |= bodies_of((view.slots[index] for index in members), kit)
    return bodies


def bodies_of(slots: Iterable[Slot], kit: Kit) -> dict[str, str]:
    """The recorded texts of `slots` that the model can read again, by name."""
    return {name_of(slot): text for slot in slots if kit.way_back(slot) and (text := text_of(slot))}


def _why(answer: Answer) -> str:
    return answer.reason if isinstance(answer, Failed) else f"unexpected answer {type(answer).__name__}"
