"""Hooks that listen: each has a queue of its own, and one that is slow misses events rather than slow the session down.

feed ──▶ one task that is never slow ──▶ a bounded queue for each hook ──▶ the hook, in a task of its own
                                    └─ full: dropped, counted, and told once the hook has caught up
"""

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio

from trimtab.agent.events import Event, MessageDelta, Notice, Result, SessionOpened, ToolUpdate, TurnEnded, TurnStarted
from trimtab.agent.feed import Watcher
from trimtab.coding.extensions.chain import Hook, HookPoints
from trimtab.coding.extensions.points import Heard

MOST = 256
"""Events that may wait for one hook."""
_OF_PARENTS = (SessionOpened, TurnStarted, TurnEnded, Result, Notice)


class Listener:
    """One hook, and what waits for it."""

    def __init__(self, hook: Hook, where: Mapping[str, Any]) -> None:
        self.hook = hook
        self._where = where
        self.missed = 0
        self._waiting: deque[Event] = deque()
        self._filled = anyio.Event()
        self._over = False

    def put(self, event: Event) -> None:
        """Take an event that the hook is about, if there is room. Deltas are for those only that name them: their ending repeats them."""
        kind = str(type(event).__struct_config__.tag)
        if isinstance(event, MessageDelta | ToolUpdate) and kind not in self.hook.match.names:
            return
        if self.hook.off or not self.hook.match.fits_name(kind):
            return
        if isinstance(event, Notice) and event.message.startswith(f"{self.hook.who}: "):
            return  # what it said itself
        if len(self._waiting) >= MOST:
            self.missed += 1
            return
        self._waiting.append(event)
        self._filled.set()

    def end(self) -> None:
        """Nothing more comes."""
        self._over = True
        self._filled.set()

    async def run(self, points: HookPoints, tell: Callable[[str], Awaitable[None]]) -> None:
        """Tell the hook what waits, until the end."""
        while True:
            while self._waiting:
                await points.event(self.hook, Heard(self._waiting.popleft(), self._where))
            if self.missed:
                missed, self.missed = self.missed, 0
                await tell(f"{self.hook.who} was too slow, and missed {missed:,} events")
            if self._over:
                return
            self._filled = anyio.Event()
            if not self._waiting and not self._over:
                await self._filled.wait()


async def listen(events: Watcher, points: HookPoints, closing: anyio.Event, where: Mapping[str, Any]) -> None:
    """Pass events on to the hooks until the feed or the session closes; what waits then is still told, as long as there is time.

    Of a subagent's session its beginning and end aren't told, since they aren't the person's, and not its notices, which its parent repeats.
    """
    listeners = [Listener(hook, where) for hook in points.at("event")]
    silent: tuple[type, ...] = _OF_PARENTS if where.get("agent") else ()
    with events:

        async def stop() -> None:
            await closing.wait()
            events.close()

        async with anyio.create_task_group() as group:
            for listener in listeners:
                group.start_soon(listener.run, points, points.tell)
            async with anyio.create_task_group() as watching:
                watching.start_soon(stop)
                async for event in events:
                    if isinstance(event, silent):
                        continue
                    for listener in listeners:
                        listener.put(event)
                watching.cancel_scope.cancel()
            for listener in listeners:
                listener.end()
