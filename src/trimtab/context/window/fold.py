"""The fold of a path: entries in, the view out.

    Conversation.take(entry) ──▶ archive ──▶ entry extends the path? ──yes──▶ Fold.add: one step of the view
                                                     └──no──▶ the next look folds the new path from its root

So a step costs the same however long the session is, and only a move to another branch costs its length. Pure, and lazy: nothing is
decoded before somebody looks.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from trimtab.context.archive import Archive, parked_call
from trimtab.context.uncollected import uncollected
from trimtab.context.window.view import View
from trimtab.types.codec import Entry
from trimtab.types.entries import EditEntry, MessageEntry, RepairEntry, RevertEntry
from trimtab.types.messages import Message


@dataclass(slots=True)
class Fold:
    """The view of one path, grown entry by entry. `whole` gives a message its bodies back."""

    whole: Callable[[Message], Message]
    view: View = field(default_factory=View)
    noted: set[str] = field(default_factory=set)
    """Calls that a `repair` entry on the path calls interrupted."""

    def add(self, entry: Entry, *, message: Message | None = None) -> None:
        """Take in the next entry of the path; `message` is its message where the caller has it whole."""
        if entry.type == "message":
            if message is None and isinstance(value := entry.value, MessageEntry):
                message = self.whole(value.message)
            if message is not None:
                self.view = self.view.with_message(entry.id, message)
        elif entry.type == "edit" and isinstance(edit := entry.value, EditEntry):
            self.view = self.view.with_edit(entry.id, edit.edit, author=edit.author)
        elif entry.type == "revert" and isinstance(revert := entry.value, RevertEntry):
            self.view = self.view.with_revert(entry.id, revert.target)
        elif call_id := parked_call(entry):
            self.view = self.view.with_parked(call_id)
        elif entry.type == "repair" and isinstance(repair := entry.value, RepairEntry) and repair.kind == "interrupted":
            calls = repair.detail.get("calls")
            self.noted.update(str(call) for call in (calls if isinstance(calls, list) else ()))


def fold(path: Iterable[Entry], *, whole: Callable[[Message], Message]) -> Fold:
    """Fold a whole path, root first."""
    folded = Fold(whole)
    with uncollected():
        for entry in path:
            folded.add(entry)
    return folded


class Conversation:
    """An archive and the fold of the path in use.

    `unnoted` are calls that were found unanswered when the path was folded from its root, wait for nobody, and are in no `repair`
    entry yet: what a crash left. Calls that are asked later run right now; they don't count.
    """

    def __init__(self, archive: Archive, *, whole: Callable[[Message], Message]) -> None:
        self.archive = archive
        self._whole = whole
        self._fold: Fold | None = None
        self._unnoted: tuple[str, ...] = ()

    def take(self, entry: Entry, *, message: Message | None = None) -> None:
        """Take in the next entry of the log."""
        before = self.archive.leaf
        self.archive.add(entry)
        if self.archive.leaf == before:
            return
        if self._fold is not None and self.archive.leaf == entry.id and entry.parent == before:
            self._fold.add(entry, message=message)
        else:
            self._fold = None

    @property
    def view(self) -> View:
        """What a model sees of the path in use."""
        return self._folded().view

    @property
    def unnoted(self) -> tuple[str, ...]:
        """See the class."""
        folded = self._folded()
        return tuple(call for call in self._unnoted if call not in folded.noted)

    def _folded(self) -> Fold:
        if self._fold is None:
            self._fold = fold(self.archive.path(), whole=self._whole)
            self._unnoted = self._fold.view.repairs.interrupted
        return self._fold
