"""Standard output for the answer alone: what code of others prints, or a program that it starts, lands on standard error.

fd 1 ─▶ a private copy, for what is said here        sys.stdout, and whoever writes to 1 ─▶ standard error
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO


@contextmanager
def own_output() -> Iterator[TextIO]:
    """Give the stream that leads to standard output; at the end everything is as before."""
    before = sys.stdout
    with _copied(before) as out:
        sys.stdout = sys.stderr
        try:
            yield out
        finally:
            sys.stdout = before


@contextmanager
def _copied(stream: TextIO) -> Iterator[TextIO]:
    """A stream of its own on the descriptor of `stream`, which leads to standard error meanwhile; the same stream where it isn't standard output itself."""
    try:
        is_real = stream.fileno() == 1
    except (OSError, ValueError):
        is_real = False
    if not is_real:
        yield stream
        return
    stream.flush()
    there = os.dup(1)
    out = open(os.dup(there), "w", encoding=stream.encoding, errors=stream.errors)  # noqa: SIM115 - closed below
    try:
        os.dup2(2, 1)
        yield out
        out.flush()
    finally:
        os.dup2(there, 1)
        os.close(there)
        with suppress(OSError):  # the reader is gone, which was said when it was written to
            out.close()
