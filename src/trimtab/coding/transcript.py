"""The log as the loop sees it: the `Transcript` port over a `SessionLog`.

Writing (and its fsync) and the first look at a long log run in a worker thread; the loop waits for a write before it tells anyone.
"""

from collections.abc import Sequence

import anyio
from msgspec.structs import replace

from trimtab.agent.ports import Prompt
from trimtab.context.stores.log import SessionLog
from trimtab.types.errors import ErrorInfo
from trimtab.types.messages import Message
from trimtab.types.models import ModelRequest


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
        """The conversation as it stands."""
        return self._log.view()

    async def prompt(self, request: ModelRequest) -> Prompt:
        """Return `request` with the whole view; nothing is counted or left out yet."""
        return Prompt(replace(request, messages=await anyio.to_thread.run_sync(self._log.view)))

    async def reduce(self, request: ModelRequest, refusal: ErrorInfo) -> Prompt | None:
        """Return None: nothing is left out yet."""
        return None
