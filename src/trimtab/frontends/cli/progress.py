"""Progress: one line on a terminal that says how far a long command is, and is gone when it ends.

inputs ──watched──▶ the same inputs; before each: `12 of 340: path`      where standard error is no terminal, nothing is written
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from trimtab.frontends.cli.printable import one_line
from trimtab.frontends.cli.screen import shortened, width_of

T = TypeVar("T")
_CLEARED = "\r\x1b[K"


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
