"""Events with the deltas of one part joined, for a moment: a record's head is as long as a line of text.

delta, delta, delta ──50 ms or 1 KiB──▶ one        an ending ──▶ at once, behind the delta before it
"""

import anyio
from msgspec.structs import replace

from trimtab.agent.events import Event, MessageDelta
from trimtab.agent.feed import Watcher

_WAIT_S = 0.05
_CHARS = 1_024


class Joining:
    """What a watcher sees, fewer deltas at a time."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._held: MessageDelta | None = None
        self._deadline = 0.0

    async def next(self) -> tuple[Event, ...] | None:
        """The next events, in order; None at the end."""
        while True:
            event: Event | None = None
            ended = False
            wait_s = None if self._held is None else max(self._deadline - anyio.current_time(), 0)
            with anyio.move_on_after(wait_s):
                try:
                    event = await anext(self._watcher)
                except StopAsyncIteration:
                    ended = True
            if isinstance(event, MessageDelta):
                if before := self._hold(event):
                    return before
            elif event is not None:
                return (*self._take(), event)
            elif held := self._take():
                return held
            elif ended:
                return None

    def _hold(self, delta: MessageDelta) -> tuple[Event, ...]:
        """Keep a delta for a moment; return what doesn't wait any longer."""
        held = self._held
        if held is not None and (held.message_id, held.part, held.kind) == (delta.message_id, delta.part, delta.kind):
            self._held = replace(delta, text=held.text + delta.text)
            return self._take() if len(self._held.text) >= _CHARS else ()
        before = self._take()
        self._held, self._deadline = delta, anyio.current_time() + _WAIT_S
        return before

    def _take(self) -> tuple[Event, ...]:
        held, self._held = self._held, None
        return () if held is None else (held,)
