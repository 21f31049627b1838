"""The log as the loop sees it: the `Transcript` port over a `SessionLog`.

Writing (and its fsync) runs in a worker thread; the loop waits for it before it tells anyone. The view is computed from memory.
"""

from collections.abc import Sequence

import anyio

from trimtab.context.stores.log import SessionLog
from trimtab.types.messages import Message


class LogTranscript:
    """Records into a session log."""

    def __init__(self, log: SessionLog) -> None:
        self._log = log

    async def append(self, messages: Sequence[Message]) -> tuple[str, ...]:
        """Record messages; durable when this returns. Raises `StoreError`."""
        return await anyio.to_thread.run_sync(self._log.append_messages, messages)

    async def park(self, call_id: str, question: str) -> str:
        """Record that a call waits for a person."""
        return await anyio.to_thread.run_sync(self._log.park, call_id, question)

    def view(self) -> tuple[Message, ...]:
        """The messages of the next request."""
        return self._log.view()
