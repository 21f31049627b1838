"""A conversation in memory: archive, view and ids, for embedders, replay and training.

Everything the engine needs of a log and nothing of a disk. Ids are running numbers, so the same steps give the same bytes on every run.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TypeVar

from msgspec import structs

from trimtab.context.archive import Archive
from trimtab.context.asks import Answer, Ask, Failed, Record, Recorded, Summarize, Summary, run_plan
from trimtab.context.window.fold import Conversation
from trimtab.context.window.view import View
from trimtab.types.codec import decode_line, entry_of
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

    def lines(self) -> list[str]:
        """Everything recorded, a line of JSON an entry."""
        return [entry.raw.decode("utf-8", "replace") for entry in self.archive]

    def load(self, lines: Iterable[str]) -> None:
        """Record what `lines` gave. Raises `ValueError` for a line that is no entry."""
        for number, line in enumerate(lines):
            entry = decode_line(line.encode())
            if entry is None:
                raise ValueError(f"line {number} of the log is no entry")
            self._conversation.take(entry)

    def _take(self, value: KnownEntry, message: Message | None) -> str:
        entry_id = f"e{len(self.archive) + 1}"
        entry = entry_of(structs.replace(value, id=entry_id, parent=self.archive.leaf))
        self._conversation.take(entry, message=None if entry.refused else message)
        return entry_id


def nobody(_ask: Summarize) -> Failed:
    """The summariser of a conversation that has none."""
    return Failed("nobody is there to write it")


def drive(
    plan: Generator[Ask, Answer, T], log: MemoryLog, *, summarize: Callable[[Summarize], Summary | Failed] = nobody
) -> T:
    """Run a plan of the engine to its end with nothing but `log` and whoever writes summaries: there is no policy elsewhere."""

    def answer(ask: Ask) -> Answer:
        match ask:
            case Record():
                return Recorded(log.record(ask.values))
            case Summarize():
                return summarize(ask)
            case _:
                return Failed("nobody is there to answer")

    return run_plan(plan, answer)
