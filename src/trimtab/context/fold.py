"""The fold of a path: entries in, the messages that a model may see out.

    Conversation.take(entry) ──▶ archive ──▶ entry extends the path? ──yes──▶ Fold.add
                                                     └──no──▶ the next look folds the new path from its root

So a step costs the same however long the session is, and only a move to another branch costs its length. Pure, and lazy: nothing is
decoded before somebody looks.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from trimtab.context.archive import Archive, parked_call
from trimtab.context.pairs import Pairing
from trimtab.types.codec import Entry
from trimtab.types.entries import MessageEntry, RepairEntry
from trimtab.types.messages import Message


@dataclass(slots=True)
class Fold:
    """The conversation on one path. `whole` gives a message its bodies back."""

    whole: Callable[[Message], Message]
    pairing: Pairing = field(default_factory=Pairing)
    noted: set[str] = field(default_factory=set)
    """Calls that a `repair` entry on the path calls interrupted."""

    def add(self, entry: Entry, *, message: Message | None = None) -> None:
        """Take in the next entry of the path; `message` is its message where the caller has it whole."""
        if entry.type == "message":
            if message is not None:
                self.pairing.add(message)
            elif isinstance(value := entry.value, MessageEntry):
                self.pairing.add(self.whole(value.message))
        elif call_id := parked_call(entry):
            self.pairing.park(call_id)
        elif entry.type == "repair" and isinstance(value := entry.value, RepairEntry) and value.kind == "interrupted":
            calls = value.detail.get("calls")
            self.noted.update(str(call) for call in (calls if isinstance(calls, list) else ()))


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
    def pairing(self) -> Pairing:
        """The messages of the path in use, every call answered: read only."""
        return self._folded().pairing

    @property
    def unnoted(self) -> tuple[str, ...]:
        """See the class."""
        fold = self._folded()
        return tuple(call for call in self._unnoted if call not in fold.noted)

    def _folded(self) -> Fold:
        if self._fold is None:
            self._fold = Fold(self._whole)
            for entry in self.archive.path():
                self._fold.add(entry)
            self._unnoted = self._fold.pairing.repairs.interrupted
        return self._fold
