"""Group commit: callers that come while a write is under way share the next one.

    append ──▶ queue ──▶ first one through the guard takes the whole queue ──▶ write(tickets): one fsync ──▶ all return

No thread of its own and no waiting for company: a lone caller writes at once.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from trimtab.types.errors import StoreError

T = TypeVar("T")


@dataclass(slots=True)
class Ticket(Generic[T]):
    """What one caller wants written, and what came of it."""

    values: Sequence[T]
    ids: tuple[str, ...] = ()
    error: Exception | None = None
    done: bool = False


class GroupCommit(Generic[T]):
    """Lines callers up before `write`, which fills in the tickets' ids and is never called twice at a time."""

    def __init__(self, write: Callable[[Sequence[Ticket[T]]], None]) -> None:
        self._write = write
        self._queue: list[Ticket[T]] = []
        self._queue_guard = threading.Lock()
        self.guard = threading.Lock()
        """Held during a write; take it to do something between two writes."""

    def append(self, values: Sequence[T]) -> tuple[str, ...]:
        """Return the ids of `values` once they are durable. What `write` raises reaches everyone who was in it."""
        ticket = Ticket(values)
        with self._queue_guard:
            self._queue.append(ticket)
        with self.guard:
            if not ticket.done:
                self._lead()
        if ticket.error is not None:
            raise ticket.error
        return ticket.ids

    def _lead(self) -> None:
        with self._queue_guard:
            tickets, self._queue = self._queue, []
        try:
            self._write(tickets)
        except BaseException as exc:
            for ticket in tickets:
                ticket.error = (
                    exc
                    if isinstance(exc, Exception)
                    else StoreError("the write was broken off", hint="Nothing of it is in the log; do it again.")
                )
            raise
        finally:
            for ticket in tickets:
                ticket.done = True
