"""Marks: edits that somebody wants and that don't pay yet.

    wish ──plan, check──▶ mark ──before each request: does it still stand?──▶ gate ──▶ due: recorded together, or it waits on

What a mark would change has been sent, so that to change it costs the cache of all that stands behind it. It waits until that pays: with other marks,
with a cold cache, with a break that happens anyway, or at the hard limit. A policy needs to say it once.

A mark is a wish about an item as it was. It goes when the item shows something else, was edited or brought back, is pinned, or was used since: whoever still
wants it then says so again. So it goes when its author says `keep`, or wants something else of the same item, and the oldest go where there are too many.
Its text was made for the view of then, which is good enough to weigh; when its time comes it is made anew, for what a stub has to name depends on what
else stands in sight.

Marks are no entries of the log: nothing has happened. A session that is opened again begins with none, and is told the same wishes anew.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from trimtab.context.actions import Action
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import View
from trimtab.types.edits import Compact, Compress, Edit, Elide, Fold, Offload, Restore, Summarize, Truncate

MOST = 256
"""Marks that are kept."""


class Mark(msgspec.Struct, frozen=True):
    """An edit that waits: what it does, the wish that it comes from, who wants it, and the step at which they said so."""

    edit: Edit
    wish: Action
    author: str
    step: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many edits wait until they pay, the tokens that they would take out, and why they wait. `pays_from`: so many calls would have to be left."""

    edits: int = 0
    tokens: int = 0
    reason: str = ""
    pays_from: float = 0.0


@dataclass(frozen=True, slots=True)
class _Held:
    """A mark, and for each of its targets the slots that it is about, as they were. `at`: the view that its text was made for."""

    mark: Mark
    about: Mapping[str, tuple[tuple[int, Slot], ...]]
    at: tuple[int, ...]


class Marks:
    """The marks of one session, oldest first. `waiting` says what became of them when they were last weighed."""

    def __init__(self) -> None:
        self._held: list[_Held] = []
        self.waiting = Waiting()

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[Mark]:
        return (held.mark for held in self._held)

    def add(self, view: View, marks: Iterable[Mark]) -> None:
        """Mark edits of `view`. What was marked before for the same items gives way."""
        fresh = [_Held(mark, _about(view, mark.edit), _version(view)) for mark in marks]
        self.drop(name for held in fresh for name in held.about)
        self._held = [*self._held, *fresh][-MOST:]

    def drop(self, targets: Iterable[str]) -> None:
        """Forget what was wanted of these, or of parts of them."""
        gone = set(targets)
        self._keep(lambda held: [n for n in held.about if n not in gone and n.partition("#")[0] not in gone])

    def stand(self, view: View, *, used: Mapping[str, int]) -> tuple[Mark, ...]:
        """Forget what no longer stands and return what does. `used`: the step at which an item was last used, by the id of its slot."""

        def standing(held: _Held) -> list[str]:
            since = held.mark.step
            return [
                name
                for name, slots in held.about.items()
                if all(_is_same(view, index, slot) and used.get(slot.id, -1) <= since for index, slot in slots)
            ]

        self._keep(standing)
        return tuple(self)

    def take(self, view: View, numbers: Collection[int]) -> Sequence[tuple[Mark, bool]]:
        """Take those out, by their place among what stood; with each, whether its text was made for this view."""
        taken = tuple((held.mark, held.at == _version(view)) for n, held in enumerate(self._held) if n in numbers)
        self._held = [held for n, held in enumerate(self._held) if n not in numbers]
        return taken

    def restore(self, view: View, state: Iterable[Mark]) -> None:
        """Take over the marks of the same conversation."""
        self._held = [_Held(mark, _about(view, mark.edit), ()) for mark in state]

    def _keep(self, names: Callable[[_Held], Sequence[str]]) -> None:
        """Narrow each mark to the targets that `names` leaves it."""
        narrowed = ((held, names(held)) for held in self._held)
        self._held = [kept for held, left in narrowed if (kept := _narrowed(held, left)) is not None]


def _version(view: View) -> tuple[int, ...]:
    return view.epoch, len(view.slots), len(view.applied), len(view.reverts)


def _about(view: View, edit: Edit) -> dict[str, tuple[tuple[int, Slot], ...]]:
    """For each target the slots that it would change."""
    about: dict[str, tuple[tuple[int, Slot], ...]] = {}
    for name in edit.targets:
        narrow = _of(edit, [name])
        applied = view.with_edit("?mark", narrow).edit("?mark")
        about[name] = tuple(
            (index, view.slots[index]) for index in (applied.slots if applied else ()) if index < len(view.slots)
        )
    return about


def _is_same(view: View, index: int, slot: Slot) -> bool:
    now = view.slots[index] if index < len(view.slots) else None
    if now is slot or now is None:
        return now is slot
    return (now.id, now.shown, now.pinned, len(now.layers)) == (slot.id, slot.shown, slot.pinned, len(slot.layers))


def _narrowed(held: _Held, names: Sequence[str]) -> _Held | None:
    """The mark with those targets; None when nothing is left of it. A summary stands for all that it is about, or for nothing."""
    if len(names) == len(held.about):
        return held
    if not names or isinstance(held.mark.edit, Compact):
        return None
    edit, wish = _of(held.mark.edit, names), msgspec.structs.replace(held.mark.wish, targets=tuple(names))
    mark = msgspec.structs.replace(held.mark, edit=edit, wish=wish)
    return replace(held, mark=mark, about={name: held.about[name] for name in names})


def _of(edit: Edit, names: Sequence[str]) -> Edit:
    """The edit with those targets only."""
    targets = tuple(names)
    match edit:
        case Offload():
            kept = {name: raw for name, raw in edit.arguments.items() if name in targets}
            return msgspec.structs.replace(edit, targets=targets, arguments=kept)
        case Elide() | Summarize() | Fold() | Truncate() | Compress() | Restore():
            texts = {name: text for name, text in edit.texts.items() if name in targets}
            return msgspec.structs.replace(edit, targets=targets, texts=texts)
        case _:
            return msgspec.structs.replace(edit, targets=targets)
