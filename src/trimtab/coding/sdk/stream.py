"""A turn as its events: begun by the first `async for`, ended by a `Result`.

    async for event in session.stream("…")      session.services runs the turn ──▶ feed ──▶ watcher ──▶ events, then a Result
    async with session.stream("…") as events:   the same, and leaving the block stops a turn that still runs

The turn lives beside the session, in no scope of the loop that reads it: who breaks off the loop leaves it running, and its events to whoever else listens.
"""

import weakref
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING

import anyio

from trimtab.agent.events import Event
from trimtab.agent.feed import Watcher
from trimtab.agent.run import AgentBusy
from trimtab.coding.sdk.reply import Reply
from trimtab.types.errors import TrimtabError, UsageError
from trimtab.types.messages import User

if TYPE_CHECKING:
    from trimtab.coding.session import Session


@dataclass(slots=True)
class _Running:
    """How the turn goes on, apart from whoever reads it."""

    reply: Reply | None = None
    failure: TrimtabError | None = None
    ended: anyio.Event = field(default_factory=anyio.Event)


class Stream:
    """The events of one turn, its `Result` last. `reply` is there once they have ended."""

    def __init__(self, session: "Session", prompt: str | User) -> None:
        self._session = session
        self._prompt = prompt
        self._watcher: Watcher | None = None
        self._running = _Running()
        self._summed_up = False

    def __aiter__(self) -> "Stream":
        """Return itself."""
        return self

    async def __anext__(self) -> Event:
        """The next event. Raises `AgentBusy` when another turn runs, and `TrimtabError` when the turn couldn't begin."""
        if self._watcher is None:
            self._watcher = self._begin()
        try:
            return await anext(self._watcher)
        except StopAsyncIteration:
            if self._running.failure is not None:
                raise self._running.failure from None
            if self._running.reply is None or self._summed_up:
                raise
        self._summed_up = True
        return self._session.result(self._running.reply)

    @property
    def reply(self) -> Reply:
        """How the turn ended. Raises `UsageError` while it hasn't."""
        if self._running.reply is None:
            raise UsageError("the turn hasn't ended", hint="Read the events to their end first.")
        return self._running.reply

    async def __aenter__(self) -> "Stream":
        """Return itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the turn if it still runs."""
        if self._watcher is None or self._running.ended.is_set():
            return
        self._watcher.close()
        self._session.cancel()
        with anyio.CancelScope(shield=True):
            await self._running.ended.wait()

    def _begin(self) -> Watcher:
        session, prompt, running = self._session, self._prompt, self._running
        if session.busy:
            raise AgentBusy("a turn runs", hint="Wait until it is done, steer it, or cancel it.")
        watcher = session.feed.subscribe()
        weakref.finalize(self, watcher.close)  # a loop that was broken off reads no more, and nobody waits for it

        async def work() -> None:
            try:
                running.reply = await session.prompt(prompt)
            except TrimtabError as failure:
                running.failure = failure
            finally:
                watcher.close()
                running.ended.set()

        session.services.run(work)
        return watcher
