"""What runs beside a session for as long as it is open: connections to servers, background jobs, watchers.

    open_session ── services(start) ──▶ Services.run(work) ──▶ a task, in a scope of its own
    the session closes ──▶ `closing` is set ──within PATIENCE_S──▶ the work ends itself ──else──▶ it is cancelled, and waited for

The tasks live in a group that a frontend lends (`start`), or in one of the session's own. A frontend that opens a session before it lets another one go has to lend one: of two
groups that one task holds, the first can't end before the second.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from trimtab.coding.context.ahead import Start, Work

PATIENCE_S = 3.0
"""How long what runs beside a session has to end itself, in seconds."""


class Services:
    """Starts work beside a session. Work has to catch what it can fail at: what it raises ends the task group, as a bug should."""

    def __init__(self, start: Start) -> None:
        self.closing = anyio.Event()
        """Set when the session closes. Work that waits for it may tidy up before it returns."""
        self._start = start
        self._running: dict[anyio.CancelScope, anyio.Event] = {}

    def run(self, work: Work) -> anyio.CancelScope:
        """Start `work` in a task of its own; cancelling the scope ends it. Nothing starts once the session closes."""
        scope, ended = anyio.CancelScope(), anyio.Event()
        if self.closing.is_set():
            return scope
        self._running[scope] = ended

        async def run() -> None:
            try:
                with scope:
                    await work()
            finally:
                ended.set()
                del self._running[scope]

        self._start(run)
        return scope

    async def aclose(self) -> None:
        """End all of it. Returns when nothing runs any more."""
        self.closing.set()
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(PATIENCE_S):
                await self._ended()
            for scope in tuple(self._running):
                scope.cancel()
            await self._ended()

    async def _ended(self) -> None:
        for ended in tuple(self._running.values()):
            await ended.wait()


@asynccontextmanager
async def services(start: Start | None = None) -> AsyncIterator[Services]:
    """Services in the group of `start`, or in one of their own."""
    if start is None:
        async with bare_group() as own, services(own) as there:
            yield there
        return
    lent = Services(start)
    try:
        yield lent
    finally:
        await lent.aclose()


@asynccontextmanager
async def bare_group() -> AsyncIterator[Start]:
    """A task group whose one failure, its body's mostly, comes out as it is and not wrapped."""
    try:
        async with anyio.create_task_group() as group:
            yield group.start_soon
    except BaseExceptionGroup as failures:
        if len(failures.exceptions) > 1:
            raise
        raise failures.exceptions[0] from None
