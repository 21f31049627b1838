"""Where long work lets whoever waits for it stop it: a signal or Ctrl-C is obeyed in the middle of a large compaction, and not behind it.

    who runs the work ──lend(check)──▶ facts, names, observation, the steps of a compaction: breathe() ──check() raises──▶ the work is left

The one rule: only work that has changed nothing yet breathes.
"""

from collections.abc import Callable
from contextvars import ContextVar

_check: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)


def lend(check: Callable[[], None]) -> None:
    """Have `check` asked by all work of this context; it raises where nobody wants the work any more."""
    _check.set(check)


def breathe() -> None:
    """Stop here if nobody wants the work any more."""
    check = _check.get()
    if check is not None:
        check()
