"""One at a time: a conversation is in use while the program's own functions run, and calling it from within one would change it under its feet.

step ──▶ policy(seen) ──▶ step       refused: ContextBusy, which the policy's door catches and tells like any other failure
"""

import threading
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from trimtab.types.errors import UsageError

P = ParamSpec("P")
R = TypeVar("R")


class ContextBusy(UsageError):
    """The conversation is in use: by the call that asked your policy, summarizer or counter, or by another thread."""


class _Held(Protocol):
    _lock: threading.Lock


H = TypeVar("H", bound=_Held)


def alone(method: Callable[Concatenate[H, P], R]) -> Callable[Concatenate[H, P], R]:
    """Refuse to run a method while another one of the same object runs. Raises `ContextBusy`."""

    @wraps(method)
    def guarded(self: H, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if not self._lock.acquire(blocking=False):
            raise ContextBusy(
                f"{method.__name__}() was called while another call of this context runs",
                hint="A policy, summarizer or counter returns what it wants; from several threads, take turns.",
            )
        try:
            return method(self, *args, **kwargs)
        finally:
            self._lock.release()

    return guarded
