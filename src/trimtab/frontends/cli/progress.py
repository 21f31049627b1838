"""Progress: one line on a terminal that says how far a long command is, and is gone when it ends.

inputs ───watched───▶ the same inputs; before each: `12 of 340: path`                          where standard error is no terminal, nothing is written
results ──arriving──▶ the same results; after each: `━━━━──────── 12 of 36, 2 min left: name`
executor ─Watched──▶ the same executor; whatever it maps arrives so                            `told` writes a line that stays, above the one that is shown
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import click

from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened
from trimtab.frontends.cli.screen import width_of

if TYPE_CHECKING:
    from trimtab.lab.executor import Executor

T = TypeVar("T")
Item = TypeVar("Item")
_CLEARED = "\r\x1b[K"
_BAR = 24
"""Characters of a bar."""


def watched(items: Sequence[T], said: Callable[[T], str]) -> Iterator[T]:
    """Yield each item, and tell a person at standard error which one it is. The line goes with the last one, or when whoever reads stops."""
    if not sys.stderr.isatty():
        yield from items
        return
    width = (width_of(sys.stderr) or 80) - 1
    try:
        for number, item in enumerate(items, 1):
            line = shortened(one_line(f"{number:,} of {len(items):,}: {said(item)}"), width)
            sys.stderr.write(_CLEARED + line)
            sys.stderr.flush()
            yield item
    finally:
        sys.stderr.write(_CLEARED)
        sys.stderr.flush()


def arriving(
    results: Iterable[T], total: int, said: Callable[[T], str], *, now: Callable[[], float] = time.monotonic
) -> Iterator[T]:
    """Yield each of `total` results as it comes, and tell a person at standard error how far it is, and how long the rest takes if it goes on so."""
    if not total or not sys.stderr.isatty():
        yield from results
        return
    width = (width_of(sys.stderr) or 80) - 1
    begun = now()
    try:
        _tell(_bar(0, total), width)
        for number, result in enumerate(results, 1):
            left = (now() - begun) / number * (total - number)
            _tell(f"{_bar(number, total)}, {_duration(left)} left: {one_line(said(result))}", width)
            yield result
    finally:
        sys.stderr.write(_CLEARED)
        sys.stderr.flush()


class Watched:
    """An executor, of which a person is told how far it is. `doing`: what is done to the items, by the name of the function that does it."""

    def __init__(self, executor: "Executor", doing: Mapping[str, str]) -> None:
        self._executor, self._doing = executor, doing

    def map(self, function: Callable[[Item], T], items: Iterable[Item]) -> Iterator[T]:
        """Yield what the executor yields."""
        given = list(items)
        doing = self._doing.get(function.__name__, "")
        return arriving(self._executor.map(function, given), len(given), lambda _: doing)

    def close(self) -> None:
        """Close the executor."""
        self._executor.close()


def told(line: str) -> None:
    """Say a line at standard error, in place of what is shown of progress there."""
    click.echo(f"{_CLEARED if sys.stderr.isatty() else ''}{one_line(line)}", err=True)


def _tell(line: str, width: int) -> None:
    sys.stderr.write(_CLEARED + shortened(line, width))
    sys.stderr.flush()


def _bar(number: int, total: int) -> str:
    full = _BAR * number // total if total else _BAR
    return f"{'━' * full}{'─' * (_BAR - full)} {number:,} of {total:,}"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
