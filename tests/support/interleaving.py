"""Two threads, without threads: what another one would do runs between two lines of the first, line after line.

    doing(first, second, code=module, locked=…, line=n)   all of `second` before the n-th line that `first` comes to in that module

So every place where two could meet is tried, the same way each time. Where a lock is held the other would wait, and such places are passed by.
"""

import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any, TypeVar

T = TypeVar("T")


def doing(
    first: Callable[[], T], second: Callable[[], object], *, code: ModuleType, locked: Callable[[], bool], line: int
) -> tuple[T, bool]:
    """Do `first` with `second` inside; return what `first` gave, and whether it came as far as that line."""
    seen, done = 0, False

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal seen, done
        if frame.f_code.co_filename != code.__file__:
            return None
        if event == "line":
            seen += 1
            if seen > line and not done and not locked():
                done = True
                second()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return first(), done
    finally:
        sys.settrace(before)
