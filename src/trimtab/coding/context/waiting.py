"""The wait for a summary, which a turn can't go on without: a person sees it, and may go on without the summary.

    a plan asks for a summary ──after a moment──▶ told: who writes it, how long at the most, the way out
                              └─skip────────────▶ Failed, and so is what the same plan asks for next: the ladder goes on with a digest

The turn itself isn't touched. What is written beside the conversation (`ahead`) makes nobody wait and isn't told.
"""

from collections.abc import Awaitable, Callable

import anyio

from trimtab.context.asks import Answer, Failed

TELL_AFTER_S = 3.0
"""Seconds; a summary that is there sooner needs no words."""
_STOPPED = Failed("a person didn't want to wait for it")


class SummaryWait:
    """Of one session. `tell` reaches the person, once there is one; `way_out` says, in the words of a frontend, how to go on without a summary."""

    def __init__(self, *, quiet_s: float, most_s: float) -> None:
        self.tell: Callable[[str], Awaitable[None]] | None = None
        self.way_out = ""
        self._limits = f"at most {most_s:g} s, or {quiet_s:g} s without a word"
        self._scope: anyio.CancelScope | None = None
        self._skipped = False

    @property
    def waiting(self) -> bool:
        """Whether a summary is waited for."""
        return self._scope is not None

    def begin(self) -> None:
        """Another plan begins: a summary is worth waiting for again."""
        self._skipped = False

    def skip(self) -> bool:
        """Go on without the summary that is waited for; False when none is."""
        if self._scope is None:
            return False
        self._skipped = True
        self._scope.cancel()
        return True

    async def over(self, ask: Callable[[], Awaitable[Answer]], *, writer: str) -> Answer:
        """Return what `ask` comes to, or that it was skipped."""
        if self._skipped:
            return _STOPPED
        answer: Answer = _STOPPED
        async with anyio.create_task_group() as group:
            group.start_soon(self._tell_later, writer)
            try:
                with anyio.CancelScope() as self._scope:
                    answer = await ask()
            finally:
                self._scope = None  # the turn may have been stopped instead
            group.cancel_scope.cancel()
        return answer

    async def _tell_later(self, writer: str) -> None:
        await anyio.sleep(TELL_AFTER_S)
        if self.tell is not None:
            out = f"; {self.way_out}" if self.way_out else ""
            await self.tell(
                f"the conversation has to get smaller: waiting for a summary by {writer} ({self._limits}){out}"
            )
