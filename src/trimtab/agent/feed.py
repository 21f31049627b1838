"""The feed: one stream of events, any number of watchers, two delivery classes.

A *delta* is joined with the one before it while it waits in a watcher's buffer, and is dropped (counted) when the buffer is full: the
ending repeats its content. An *ending* (everything else) always gets in; the publisher then waits until the watcher has room again, at
most `patience_s`, and a watcher that stalls longer is dropped. So a slow watcher slows the agent for a moment, a dead one can't stop it,
and neither costs another watcher an event.

Order needs no lock: an event is in every buffer before anything is awaited.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType

import anyio
from msgspec.structs import replace

from trimtab.agent.events import Event, MessageDelta, ToolUpdate


@dataclass(frozen=True, slots=True)
class FeedStatistics:
    """Counts since the feed began; `watchers` is how many there are now."""

    published: int
    watchers: int
    dropped_deltas: int
    dropped_watchers: int


class _Joined:
    """Consecutive deltas of one part or call, waiting as one. `seq` and `time` are those of the last."""

    __slots__ = ("event", "seq", "texts", "time")

    def __init__(self, event: MessageDelta | ToolUpdate, seq: int, time: str) -> None:
        self.event = event
        self.texts = [event.text]
        self.seq = seq
        self.time = time

    def takes(self, other: MessageDelta | ToolUpdate) -> bool:
        """True when `other` continues this one."""
        mine = self.event
        if isinstance(mine, MessageDelta):
            return (
                isinstance(other, MessageDelta)
                and mine.part == other.part
                and mine.message_id == other.message_id
                and mine.kind == other.kind
            )
        return isinstance(other, ToolUpdate) and mine.call_id == other.call_id

    def value(self) -> Event:
        """The event to deliver."""
        return replace(self.event, text="".join(self.texts), seq=self.seq, time=self.time)


class Watcher:
    """One reader of the feed: `async for event in watcher`, and `with` (or `close`) to stop.

    `max_events` and `max_delta_chars` bound what waits. `dropped`: the feed gave this watcher up because it stalled; iteration has ended.
    """

    def __init__(self, feed: "Feed", *, max_events: int, max_delta_chars: int) -> None:
        self.dropped = False
        self.dropped_deltas = 0
        self._feed = feed
        self._max_events = max_events
        self._max_delta_chars = max_delta_chars
        self._slots: deque[Event | _Joined] = deque()
        self._delta_chars = 0
        self._closed = False
        self._filled: anyio.Event | None = None
        self._drained: anyio.Event | None = None

    def __aiter__(self) -> "Watcher":
        """Return itself."""
        return self

    async def __anext__(self) -> Event:
        """Wait for the next event. Ends when the feed or the watcher is closed and nothing waits. A cancel loses no event."""
        while not self._slots:
            if self._closed:
                raise StopAsyncIteration
            self._filled = anyio.Event()
            await self._filled.wait()
        return self._pop()

    def __enter__(self) -> "Watcher":
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def pending(self) -> tuple[Event, ...]:
        """Take everything that waits now, without waiting."""
        return tuple(self._pop() for _ in range(len(self._slots)))

    def close(self) -> None:
        """Stop watching; what waits can still be read."""
        self._feed._forget(self)
        self._end()

    def _pop(self) -> Event:
        slot = self._slots.popleft()
        if isinstance(slot, _Joined):
            event = slot.value()
            self._delta_chars -= sum(map(len, slot.texts))
        else:
            event = slot
        if self._drained is not None and not self._full:
            self._drained.set()
        return event

    @property
    def _full(self) -> bool:
        return len(self._slots) > self._max_events

    def _put(self, event: Event) -> None:
        self._slots.append(event)
        if self._filled is not None:
            self._filled.set()

    def _put_delta(self, event: MessageDelta | ToolUpdate, seq: int, time: str) -> None:
        size = len(event.text)
        last = self._slots[-1] if self._slots else None
        joins = isinstance(last, _Joined) and last.takes(event)
        if self._delta_chars + size > self._max_delta_chars or not (joins or len(self._slots) < self._max_events):
            self.dropped_deltas += 1
            return
        self._delta_chars += size
        if isinstance(last, _Joined) and joins:
            last.texts.append(event.text)
            last.seq, last.time = seq, time
            return
        self._slots.append(_Joined(event, seq, time))
        if self._filled is not None:
            self._filled.set()

    async def _room(self) -> None:
        while self._full and not self._closed:
            if self._drained is None or self._drained.is_set():
                self._drained = anyio.Event()
            await self._drained.wait()

    def _end(self) -> None:
        self._closed = True
        for event in (self._filled, self._drained):
            if event is not None:
                event.set()

    def _give_up(self) -> None:
        self.dropped = True
        self._slots.clear()
        self._delta_chars = 0
        self._end()


class Feed:
    """Where events are published. `now` gives seconds since the epoch; without it, events carry no time."""

    def __init__(self, *, now: Callable[[], float] | None = None, patience_s: float = 5.0) -> None:
        self._now = now
        self._patience_s = patience_s
        self._watchers: list[Watcher] = []
        self._seq = 0
        self._ms = -1
        self._time = ""
        self._dropped_watchers = 0
        self._dropped_deltas = 0

    def subscribe(self, *, max_events: int = 4096, max_delta_chars: int = 1 << 20) -> Watcher:
        """Return a watcher that sees every event from here on. It must be read while the agent runs (see `patience_s`)."""
        watcher = Watcher(self, max_events=max_events, max_delta_chars=max_delta_chars)
        self._watchers.append(watcher)
        return watcher

    async def publish(self, event: Event) -> None:
        """Number and date `event`, give it to every watcher, and wait for those that are full (endings only)."""
        self._seq += 1
        time = self._stamp()
        if isinstance(event, MessageDelta | ToolUpdate):
            for watcher in self._watchers:
                watcher._put_delta(event, self._seq, time)
            return
        dated = replace(event, seq=self._seq, time=time)
        full: list[Watcher] = []
        for watcher in self._watchers:
            watcher._put(dated)
            if watcher._full:
                full.append(watcher)
        for watcher in full:
            with anyio.move_on_after(self._patience_s) as scope:
                await watcher._room()
            if scope.cancelled_caught and watcher in self._watchers:
                self._dropped_watchers += 1
                self._forget(watcher)
                watcher._give_up()

    def close(self) -> None:
        """End every watcher once it has read what waits."""
        for watcher in tuple(self._watchers):
            watcher.close()

    def statistics(self) -> FeedStatistics:
        """Return the counts."""
        dropped = self._dropped_deltas + sum(w.dropped_deltas for w in self._watchers)
        return FeedStatistics(self._seq, len(self._watchers), dropped, self._dropped_watchers)

    def _forget(self, watcher: Watcher) -> None:
        if watcher in self._watchers:
            self._watchers.remove(watcher)
            self._dropped_deltas += watcher.dropped_deltas

    def _stamp(self) -> str:
        """RFC 3339, UTC, milliseconds; made once per millisecond."""
        if self._now is None:
            return ""
        ms = int(self._now() * 1000)
        if ms != self._ms:
            self._ms = ms
            moment = datetime.fromtimestamp(ms // 1000, UTC)
            self._time = f"{moment:%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"
        return self._time
