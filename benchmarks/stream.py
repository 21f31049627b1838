"""Deltas per second: through HTTP, provider, loop and feed (goal: 20,000), through loop and feed alone, and publishes of the feed alone (goal: 200,000).

Seconds are CPU seconds of this process: on a core of its own they are what a clock shows. The server of the first is another process, so its
work doesn't count. Run alone: python -m benchmarks.stream
"""

import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import anyio

from benchmarks.fake_server import Server, fake_server
from benchmarks.table import Row, render
from trimtab.agent import Agent, Feed
from trimtab.agent.events import MessageDelta
from trimtab.agent.ports import Provider
from trimtab.providers.http import HttpProvider
from trimtab.providers.openai_chat import OpenAIChat
from trimtab.providers.wire import Endpoint
from trimtab.types import ModelInfo, ModelRequest, StreamEvent
from trimtab.types.stream import Ended, PartDelta, PartStarted

DELTAS = 50_000
CHUNK = 50
"""Deltas per network read: the provider gives the event loop a turn after so many."""
ROUNDS = 3


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


async def loop_rate(provider: Provider, model: str) -> float:
    """Deltas per second of CPU with one watcher. Raises `RuntimeError` when the answer isn't whole."""
    feed = Feed(now=time.time)
    agent = Agent(provider, model=ModelInfo(provider="bench", id=model, api="openai-chat"), feed=feed)

    async def watch() -> None:
        async for _ in watcher:
            pass

    watcher = feed.subscribe()
    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        start = time.process_time()
        turn = await agent.prompt("go")
        seconds = time.process_time() - start
        feed.close()
    if len(turn.text) != DELTAS * len("word"):
        raise RuntimeError(f"the answer has {len(turn.text)} characters: {turn.reason}")
    return DELTAS / seconds


async def http_rate(server: Server) -> float:
    """The same with the answer from a server."""
    model = f"words-{DELTAS}"
    provider = HttpProvider(Endpoint("bench", "openai-chat", server.url), OpenAIChat())
    try:
        return await loop_rate(provider, model)
    finally:
        await provider.aclose()


async def feed_rate() -> float:
    """Publishes of joined deltas per second, one watcher that reads now and then."""
    feed = Feed(now=time.time)
    watcher = feed.subscribe()
    delta = MessageDelta(message_id="m", part=0, kind="text", text="word")
    start = time.process_time()
    for n in range(DELTAS):
        await feed.publish(delta)
        if n % 1000 == 0:
            watcher.pending()
    return DELTAS / (time.process_time() - start)


def _median(rate: Callable[[], Awaitable[float]]) -> float:
    async def measure() -> float:
        return await rate()

    return statistics.median(anyio.run(measure) for _ in range(ROUNDS))


def stream_rows(server: Server) -> list[Row]:
    """All three rates."""
    anyio.run(http_rate, server)  # the server builds its answer at the first request
    whole = _median(lambda: http_rate(server))
    alone = _median(lambda: loop_rate(Flood(), "flood"))
    feed = _median(feed_rate)
    return [
        Row("HTTP + provider + loop + feed", f"{whole:,.0f} deltas/s", ">= 20,000", whole >= 20_000),
        Row("loop + feed", f"{alone:,.0f} deltas/s", ">= 20,000", alone >= 20_000),
        Row("feed", f"{feed:,.0f} publishes/s", ">= 200,000", feed >= 200_000),
    ]


if __name__ == "__main__":
    with fake_server() as running:
        print(render(stream_rows(running)))
