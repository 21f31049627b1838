"""Standard input and output, taken over: from here on nothing else of the process, and no program that it starts, reads or writes the protocol.

fd 0 ─▶ a private copy; what reads 0 finds nothing        fd 1 ─▶ a private copy; what writes to 1 lands on standard error
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def taken_over() -> Iterator[tuple[int, int]]:
    """Give the descriptors of the protocol, in and out. At the end they are closed, and the standard ones stay where they were put."""
    sys.stdout.flush()
    there, here = os.dup(0), os.dup(1)  # not inherited
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        yield there, here
    finally:
        for fd in (nothing, there, here):
            os.close(fd)
