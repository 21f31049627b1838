"""Requests that are done one after the other, in the order in which they came.

add ──▶ wait ──next──▶ being done (`doing`) ──▶ answered
        stop_job: what is being done is taken back, where it may be         drop: what waits is refused, and nothing comes any more
"""

from collections import deque
from collections.abc import Awaitable

import anyio

from trimtab.frontends.rpc import verbs
from trimtab.frontends.rpc.call import Call

MOST = 256
"""Requests that may wait; more are refused."""
_STOPPABLE = (
    verbs.Prompt,
    verbs.RunCommand,
    verbs.SetModel,
    verbs.CycleModel,
    verbs.NewSession,
    verbs.SwitchSession,
    verbs.Fork,
    verbs.Clone,
)
"""What an abort takes back while it is being done: it may take its time, and then nothing was changed."""


class Lane:
    """The requests that wait, and the one that is being done."""

    def __init__(self) -> None:
        self._calls: deque[Call] = deque()
        self._news = anyio.Event()
        self._free = anyio.Event()
        self._closed = False
        self._job: tuple[Call, anyio.CancelScope] | None = None

    def add(self, call: Call) -> None:
        """Let it wait for its turn, or refuse it."""
        if self._closed:
            call.refuse("the session is ending")
        elif len(self._calls) >= MOST:
            call.refuse(f"{MOST} commands wait already. Wait for their answers.")
        else:
            self._calls.append(call)
            self._news.set()

    async def next(self) -> Call | None:
        """The next one; None when nothing waits and nothing will come."""
        while not self._calls:
            if self._closed:
                return None
            self._news = anyio.Event()
            await self._news.wait()
        return self._calls.popleft()

    async def doing(self, call: Call, work: Awaitable[None]) -> None:
        """Do it, unless it is taken back."""
        with anyio.CancelScope() as scope:
            self._job = call, scope
            try:
                await work
            finally:
                self._job = None
                self._free.set()
        if scope.cancelled_caught:
            call.refuse("aborted before it was done")

    async def empty(self) -> None:
        """Wait until all that came so far is done."""
        while self._calls or self._job is not None:
            self._free = anyio.Event()
            await self._free.wait()

    def stop_job(self) -> None:
        """Take back what is being done, where that may be."""
        if self._job is not None and isinstance(self._job[0].asked.request, _STOPPABLE):
            self._job[1].cancel()

    def close(self) -> None:
        """Nothing comes any more; what waits is still done."""
        self._closed = True
        self._news.set()

    def drop(self) -> None:
        """Close, and refuse what waits."""
        self.close()
        while self._calls:
            self._calls.popleft().refuse("the session is ending")
        self._free.set()
