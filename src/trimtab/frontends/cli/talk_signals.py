"""What signals mean to a talk, from its first question to the end of its last session.

    SIGINT ──▶ the session that is talked with decides: a question, a summary, a turn, a warning, or the end      no session yet: the end
    SIGTERM, SIGHUP ──▶ the end: the turn is cut off, jobs are ended, sessions closed; the exit code says which one it was

The one rule: nothing is left to what a signal does by itself, which would end this process and leave what it started. While a session is closed, a signal is only noted.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import anyio

from trimtab.frontends.signals import CODES, heeded, let_go_of_terminal


class Sitting(Protocol):
    """The talk over one session."""

    left: bool

    def interrupt(self) -> bool:
        """Take in a Ctrl-C; False when it means to leave."""
        ...


@dataclass(slots=True)
class TalkSignals:
    """Hears them for as long as `heed` runs. `code` is the exit code of the first one that ends the talk, None until then."""

    code: int | None = None
    _sitting: tuple[Sitting, Callable[[], None]] | None = None
    _opening: anyio.CancelScope | None = None
    _heeding: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    async def heed(self) -> None:
        """Wait for signals until `close`."""
        with self._heeding, anyio.open_signal_receiver(*heeded()) as signals:
            async for number in signals:
                self._take(number)

    def close(self) -> None:
        """Hear no more."""
        self._heeding.cancel()

    @contextmanager
    def opening(self) -> Iterator[None]:
        """A session is being opened, which any signal gives up. Then what comes after this isn't reached: `code` says why."""
        with anyio.CancelScope() as self._opening:
            if self.code is not None:
                self._opening.cancel()
            try:
                yield
            finally:
                self._opening = None

    @contextmanager
    def sitting(self, sitting: Sitting, leave: Callable[[], None]) -> Iterator[None]:
        """For this long `sitting` is what a signal means; `leave` ends it."""
        self._sitting = (sitting, leave)
        try:
            yield
        finally:
            self._sitting = None

    def _take(self, number: signal.Signals) -> None:
        if number == signal.SIGHUP:
            let_go_of_terminal()
        if self._sitting is not None:
            sitting, leave = self._sitting
            if number == signal.SIGINT:
                if sitting.interrupt():
                    return
            else:
                self.code = self.code or CODES[number]
            sitting.left = True
            leave()
        elif self._opening is not None:
            self.code = self.code or CODES[number]
            self._opening.cancel()
        elif number != signal.SIGINT:
            self.code = self.code or CODES[number]
