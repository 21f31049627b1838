"""A conversation in memory: archive, view and ids, for embedders, replay and training.

Everything the engine needs of a log and nothing of a disk. Ids are running numbers, so the same steps give the same bytes on every run.
"""

from collections.abc import Generator, Sequence
from typing import TypeVar

from msgspec import structs

from trimtab.context.archive import Archive
from trimtab.context.asks import Answer, Ask, Failed, Record, Recorded
from trimtab.context.fold import Conversation
from trimtab.context.view import View
from trimtab.types.codec import entry_of
from trimtab.types.entries import KnownEntry, MessageEntry
from trimtab.types.messages import Message

T = TypeVar("T")


class MemoryLog:
    """Records into an archive of its own. `archive` and `view` are what a session file gives."""

    def __init__(self) -> None:
        self.archive = Archive()
        self._conversation = Conversation(self.archive, whole=lambda message: message)

    @property
    def view(self) -> View:
        """What a model sees now."""
        return self._conversation.view

    def append(self, messages: Sequence[Message]) -> tuple[str, ...]:
        """Record messages; return their entry ids."""
        return tuple(self._take(MessageEntry(id="", parent=None, time="", message=m), m) for m in messages)

    def record(self, values: Sequence[KnownEntry]) -> tuple[str, ...]:
        """Record entries of any kind; `id` and `parent` are filled in here."""
        return tuple(self._take(value, value.message if isinstance(value, MessageEntry) else None) for value in values)

    def _take(self, value: KnownEntry, message: Message | None) -> str:
        entry_id = f"e{len(self.archive) + 1}"
        entry = entry_of(structs.replace(value, id=entry_id, parent=self.archive.leaf))
        self._conversation.take(entry, message=None if entry.refused else message)
        return entry_id


def drive(plan: Generator[Ask, Answer, T], log: MemoryLog) -> T:
    """Run a plan of the engine to its end with nothing but `log`: there is no model to write summaries and no policy elsewhere."""
    answer: Answer | None = None
    while True:
        try:
            ask = next(plan) if answer is None else plan.send(answer)
        except StopIteration as stop:
            value: T = stop.value
            return value
        answer = Recorded(log.record(ask.values)) if isinstance(ask, Record) else Failed("nobody is there to answer")
