"""One session's events to the client, as fast as it takes them.

    feed ─▶ watcher ─▶ Stream.records ─▶ outbox, while it has room

A client that stops reading holds up the agent for as long as the feed is patient; then the events until it reads again are lost to it, and it is told so. The session goes on.
"""

from collections.abc import Callable

import anyio

from trimtab.agent.events import Event, MessageEnded
from trimtab.agent.feed import Feed
from trimtab.frontends.rpc.joining import Joining
from trimtab.frontends.rpc.outbox import Outbox
from trimtab.frontends.rpc.stream import Stream
from trimtab.frontends.rpc.values import Json
from trimtab.types.messages import Message, User

_WAITING = 256
"""Events that may wait for a client, each as large as a message may be."""
_PATIENCE_S = 90.0
"""How long the end of a turn waits until the client was told of all that was in it; longer than the feed is patient."""


class Follower:
    """Subscribed from the beginning. `run` in a task until the feed closes."""

    def __init__(self, feed: Feed, stream: Stream, outbox: Outbox, *, queued: Callable[[], Json]) -> None:
        self._feed = feed
        self._stream = stream
        self._outbox = outbox
        self._queued = queued
        self._watcher = feed.subscribe(max_events=_WAITING)
        self._seen = 0
        self._moved = anyio.Event()

    async def run(self) -> None:
        """Pass events on."""
        while True:
            joining = Joining(self._watcher)
            while (events := await joining.next()) is not None:
                for event in events:
                    await self._show(event)
            if not self._watcher.dropped:
                return
            self._watcher = self._feed.subscribe(max_events=_WAITING)
            self._outbox.put({"type": "trimtab.events_lost", "running": self._stream.running})
            self._see(self._feed.statistics().published)

    async def _show(self, event: Event) -> None:
        for record in self._stream.records(event):
            self._outbox.put(record)
        if isinstance(event, MessageEnded) and _was_queued(event.message):
            self._outbox.put({"type": "queue_update", **self._queued()})
        self._see(event.seq)
        await self._outbox.room()

    async def told(self) -> None:
        """Wait until all that was published so far has been passed on, or was lost."""
        until = self._feed.statistics().published
        with anyio.move_on_after(_PATIENCE_S):
            while self._seen < until:
                self._moved = anyio.Event()
                await self._moved.wait()

    def _see(self, seq: int) -> None:
        self._seen = max(self._seen, seq)
        self._moved.set()


def _was_queued(message: Message) -> bool:
    return isinstance(message, User) and message.origin in ("steering", "follow_up")
