"""Deltas per second through a provider, the loop and the feed (goal: 20,000), and publishes per second of the feed alone (goal: 200,000).

Run: python benchmarks/stream.py
"""

import time
from collections.abc import AsyncIterator

import anyio

from trimtab.agent import Agent, Feed
from trimtab.agent.events import MessageDelta
from trimtab.types import ModelInfo, ModelRequest, StreamEvent
from trimtab.types.stream import Ended, PartDelta, PartStarted

DELTAS = 100_000
CHUNK = 50
"""Deltas per network read: the provider gives the event loop a turn after so many."""


class Flood:
    """Streams four-character deltas as fast as it is asked."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """One long answer."""
        yield PartStarted(0, "text")
        for n in range(DELTAS):
            if n % CHUNK == 0:
                await anyio.lowlevel.checkpoint()
            yield PartDelta(0, "text", "word")
        yield Ended("stop")


async def loop_rate() -> tuple[float, int]:
    """Deltas per second with one watcher, and how many events the watcher saw."""
    feed = Feed(now=time.time)
    agent = Agent(Flood(), model=ModelInfo(provider="bench", id="flood", api="scripted"), feed=feed)
    seen = 0

    async def watch() -> None:
        nonlocal seen
        async for _ in watcher:
            seen += 1

    watcher = feed.subscribe()
    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        start = time.perf_counter()
        await agent.prompt("go")
        seconds = time.perf_counter() - start
        feed.close()
    return DELTAS / seconds, seen


async def feed_rate() -> float:
    """Publishes of joined deltas per second, one watcher that reads now and then."""
    feed = Feed(now=time.time)
    watcher = feed.subscribe()
    delta = MessageDelta(message_id="m", part=0, kind="text", text="word")
    start = time.perf_counter()
    for n in range(DELTAS):
        await feed.publish(delta)
        if n % 1000 == 0:
            watcher.pending()
    return DELTAS / (time.perf_counter() - start)


def main() -> None:
    """Print both figures."""
    rate, seen = anyio.run(loop_rate)
    print(f"loop: {rate:,.0f} deltas/s through provider, loop and feed ({seen:,} events seen by the watcher)")
    print(f"feed: {anyio.run(feed_rate):,.0f} publishes/s")


if __name__ == "__main__":
    main()
