"""How much of one client is in hand at once: lines that wait for their answers, and answers that wait to be read.

    a line ──how many, how many bytes──▶ taken, or refused
    a large answer ──alone, once what came before it was read──▶ made

The one rule: memory is bounded by these numbers, whatever a client sends and however slowly it reads.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from trimtab.frontends.rpc import verbs
from trimtab.frontends.rpc.call import Call
from trimtab.frontends.rpc.outbox import Outbox

MOST_WAITING = 8 << 20
"""Bytes that may wait for a client before no more of its lines are read, and no large answer is made."""
_MOST_IN_HAND = 64 << 20
"""Bytes of the lines that have no answer yet. One line alone is taken, however large."""
_AT_ONCE = 256
"""Requests that may be answered side by side; more are refused."""
_GONE_S = 10.0
"""Seconds without a byte taken, after which a client that has closed its end counts as gone."""
ANYTIME = (verbs.Abort, verbs.SetDialogs, verbs.SetEvents)
"""What needs no open session, and is never too much."""
_LARGE = (
    verbs.GetMessages,
    verbs.GetEntries,
    verbs.GetTree,
    verbs.GetForkMessages,
    verbs.GetLastAssistantText,
    verbs.GetContext,
    verbs.Diff,
)
"""What is answered with as much as a session holds."""


class Load:
    """What one client has in hand."""

    def __init__(self, outbox: Outbox) -> None:
        self.answering = 0
        """Requests that are being answered side by side."""
        self.left = False
        """Whether the client has said all it will."""
        self._outbox = outbox
        self._bytes = 0
        self._large = anyio.Lock()

    def take(self, call: Call) -> str:
        """Take a request in hand until it is answered; why not, where it is too much."""
        size = call.asked.size
        if isinstance(call.asked.request, ANYTIME):
            return ""
        if call.asked.verb.way == "now" and self.answering >= _AT_ONCE:
            return f"{_AT_ONCE} commands are being answered already. Wait for their answers."
        if self._bytes and self._bytes + size > _MOST_IN_HAND:
            return f"{self._bytes:,} bytes of commands wait already, and {_MOST_IN_HAND:,} may. Wait for their answers."
        self._bytes += size
        call.done = lambda: self._give_back(size)
        return ""

    def _give_back(self, size: int) -> None:
        self._bytes -= size

    @asynccontextmanager
    async def made(self, call: Call) -> AsyncIterator[None]:
        """Make the answer in here: a large one alone, and once there is room for it."""
        if not isinstance(call.asked.request, _LARGE):
            yield
            return
        async with self._large:
            await self._room()
            yield

    async def _room(self) -> None:
        while self._outbox.size > MOST_WAITING and not self._outbox.broken.is_set():
            before = self._outbox.written
            with anyio.move_on_after(_GONE_S):
                await self._outbox.room(MOST_WAITING)
            if self.left and self._outbox.written == before:
                self._outbox.give_up()
