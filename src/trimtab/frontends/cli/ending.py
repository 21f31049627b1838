"""Signals that end a command which waits for somebody else's process: it cleans up first, then says by its exit code which one it was.

    with ending() as stop:                SIGINT, SIGTERM, SIGHUP are noted from here on
        with stop.waiting(): …            and raise `Ended` here, at once if one came before

Raised only where the command waits: between two waits nothing is half done. A second signal changes nothing; what is being cleaned up takes moments.

    with breaking_off(said):              the same for work that may be broken off anywhere, since what is kept is kept whole
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import click

from trimtab.coding.telling.printable import one_line
from trimtab.frontends.signals import CODES, heeded


class Ended(BaseException):
    """A signal asked for the end. `code` is the exit code; no handler of errors may take this for one."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Ending:
    """Whether the end was asked for. `code` is the exit code of the first signal."""

    def __init__(self) -> None:
        self.code: int | None = None
        self._waits = False

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let a signal interrupt what happens in here. Raises `Ended`."""
        self._waits = True
        try:
            self._heed()
            yield
        finally:
            self._waits = False

    def note(self, number: int, _frame: FrameType | None) -> None:
        """Take in a signal."""
        if self.code is None:
            self.code = CODES[signal.Signals(number)]
            self._heed()

    def _heed(self) -> None:
        if self._waits and self.code is not None:
            raise Ended(self.code)


@contextmanager
def ending() -> Iterator[Ending]:
    """Note signals while the block runs. Outside the main thread there are none to note."""
    stop = Ending()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, stop.note) for number in heeded()}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def breaking_off(said: Callable[[], str]) -> Iterator[None]:
    """Let a signal break off what happens in here. Then a person is told what `said` returns, and the command ends with the exit code of the signal."""
    with ending() as stop:
        try:
            with stop.waiting():
                yield
        except (Ended, KeyboardInterrupt) as end:
            click.echo(one_line(said()), err=True)
            raise click.exceptions.Exit(end.code if isinstance(end, Ended) else CODES[signal.SIGINT]) from None
