"""The door to the code of extensions: a function is called with a time limit, and its failure becomes words.

    plain function ──▶ a thread of its own, which dies with the process; the loop goes on meanwhile
    async function ──▶ the loop, in a scope with a deadline
                └─ raises, exits, takes too long ──▶ HookFailed

A thread that hangs can't be ended: it is left behind, and holds nothing of ours but the pipe end that `_Call` closes.
"""

import asyncio
import contextvars
import inspect
import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import anyio

from trimtab.agent.ports import Deferred
from trimtab.coding.telling.hidden import without_invisible
from trimtab.types.text import scrub

T = TypeVar("T")
LONGEST = 500
"""Characters of what foreign code says about its failure."""


class HookFailed(Exception):
    """Code or a command of others failed, hung or made no sense; the message is for people."""


async def call_foreign(function: Callable[..., Any], *arguments: Any, limit_s: float) -> Any:
    """Return what `function` returns, awaited where that is to be awaited. Raises `HookFailed`."""
    with anyio.move_on_after(limit_s) as scope:
        try:
            if inspect.iscoroutinefunction(function):
                result = await function(*arguments)
            else:
                result = await in_thread(function, *arguments)
                result = await result if inspect.isawaitable(result) else result
        except (HookFailed, Deferred):
            raise
        except (Exception, SystemExit, KeyboardInterrupt) as problem:
            raise HookFailed(said(problem)) from problem
        except anyio.get_cancelled_exc_class() as problem:
            if is_cancelled():
                raise
            raise HookFailed(said(problem)) from problem
    if scope.cancel_called:  # also where it kept its cancel off, and answered after its time
        raise HookFailed(f"no answer within {limit_s:g} s")
    return result


def is_cancelled() -> bool:
    """Whether somebody cancelled this task, so that a cancel that comes out of foreign code isn't that code's own."""
    if anyio.get_current_task().has_pending_cancellation():
        return True
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def make_foreign(make: Callable[[], T]) -> T:
    """Return what `make` makes, at once: for what has to be there before anything goes on. Raises `HookFailed`."""
    try:
        return make()
    except (Exception, SystemExit, KeyboardInterrupt) as problem:
        raise HookFailed(said(problem)) from problem


async def in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a plain `function` returns, from a thread that can be left behind when this is cancelled. Raises what it raises."""
    call = _Call(contextvars.copy_context(), function, arguments)
    try:
        threading.Thread(target=call.run, name="trimtab extension", daemon=True).start()
        await anyio.wait_readable(call.reading)
    finally:
        call.close()
    return call.result()


def said(problem: BaseException) -> str:
    """A failure of foreign code in one line of words; it may not even have any."""
    try:
        text = " ".join(str(problem).split())
    except Exception:  # noqa: BLE001 - foreign code: an exception of others may not have words
        text = ""
    kind = type(problem).__name__
    return scrub(without_invisible(f"{kind}: {text[: 2 * LONGEST]}" if text else kind))[:LONGEST]


class _Call:
    """One call in a thread; the end of a pipe says when it is over, on every event loop."""

    def __init__(self, context: contextvars.Context, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.reading, self._writing = os.pipe()
        self._lock = threading.Lock()
        self._open = True
        self._context, self._function, self._arguments = context, function, arguments
        self._value: Any = None
        self._problem: BaseException | None = None

    def run(self) -> None:
        """Call, and say that it is over, unless nobody waits any more."""
        try:
            self._value = self._context.run(self._function, *self._arguments)
        except BaseException as problem:  # noqa: BLE001 - raised again where the call is awaited
            self._problem = problem
        with self._lock:
            if self._open:
                os.write(self._writing, b".")

    def close(self) -> None:
        """Nobody waits any more."""
        with self._lock:
            self._open = False
            os.close(self.reading)
            os.close(self._writing)

    def result(self) -> Any:
        """What it returned; raises what it raised. A cancel or an interrupt that comes out of a thread is nobody's but the function's own."""
        match self._problem:
            case None:
                return self._value
            case Exception():
                raise self._problem
            case _:
                raise HookFailed(said(self._problem)) from self._problem
