"""Where work runs: here, in processes of this machine, or on a cluster. The same items give the same results in the same order, wherever that is.

    items ──Executor.map(function)──▶ results, in the order of the items
               └ Here · Processes · OnRay: see executor_for

The one seam for everything that plays many stories. A function that is mapped is at the top of a module, and takes and gives values that can be pickled; what is
drawn in it comes from seeds that stand in its item, never from where it runs. What a worker remembers between items (stories that it has prepared, texts that it has counted) saves
time and changes nothing.
"""

import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.pool import ThreadPool
from typing import Any, Protocol, TypeVar

from trimtab.types.errors import TrimtabError, UsageError
from trimtab.types.extras import install_hint

CONNECT_S = 20.0
"""Seconds that a Ray cluster has to answer."""
Item = TypeVar("Item")
Result = TypeVar("Result")


class WorkerLost(TrimtabError):
    """A process that worked for us ended before its work did."""


class Executor(Protocol):
    """Maps a function over items. Close it when nothing more comes."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the result of each item, in order, each as soon as all before it are there. What the function raises is raised where its result would be."""
        ...

    def close(self) -> None:
        """End whatever was started for it."""
        ...


class Here:
    """In this process, one after another."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield each result when it is asked for."""
        return map(function, items)

    def close(self) -> None:
        """Nothing was started."""


class Processes:
    """In `workers` processes of this machine, which are started when the first item comes and kept until `close`.

    They are started anew, not forked, so they hold nothing that this process held by chance. An interrupt at the terminal ends them at once, without a word of theirs,
    and none outlives this process.
    """

    def __init__(self, workers: int) -> None:
        context = multiprocessing.get_context("spawn")
        theirs, self._hold = context.Pipe(duplex=False)
        self._theirs = theirs
        self._pool = ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(theirs,))
        self._unread = 0

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Hand out all items, and yield the results in order. Raises `WorkerLost`."""
        self._unread += 1
        try:
            yield from self._pool.map(function, items)
        except BrokenProcessPool as problem:
            raise WorkerLost(
                "a worker process ended before its work did", hint="Is there memory for as many? Try fewer workers."
            ) from problem
        self._unread -= 1

    def close(self) -> None:
        """End the processes. What nobody waits for any more is broken off: results that weren't read to the last one."""
        if self._unread:
            self._hold.close()
        self._pool.shutdown(cancel_futures=True)
        self._hold.close()
        self._theirs.close()


class OnRay:
    """On a Ray cluster: the one at `address`, else a new one of `workers` processes on this machine, which is nobody else's and ends with it.

    No call of Ray's that waits is made in the thread that signals come to: what a handler raises in there is lost, and a cluster that was half begun would be left behind.
    """

    def __init__(self, workers: int, address: str = "") -> None:
        self._ray = _ray()
        quiet: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
        if not address:
            self._begin(lambda: self._ray.init(address="local", num_cpus=workers, include_dashboard=False, **quiet))
            return
        _require_reachable(address)
        try:
            self._begin(lambda: within(CONNECT_S, lambda: self._ray.init(address=address, **quiet)))
        except (ConnectionError, ValueError, TimeoutError) as problem:
            raise _nobody_at(address, problem) from problem

    def _begin(self, init: Callable[[], object]) -> None:
        """Begin. Where a signal breaks in, what is being begun is waited for and ended."""
        self._beginner = ThreadPool(1)  # kept till the end: a cluster ends with the thread that began it
        begun = self._beginner.apply_async(init)
        try:
            with _handlers_kept():
                begun.get()
        except BaseException:
            with _handlers_kept():
                begun.wait(CONNECT_S)
            if not begun.ready() or begun.successful():
                signal.alarm(0)  # with which Ray aborts a process that takes its time after SIGTERM
                self._ray.shutdown()
            self._beginner.terminate()
            raise

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Hand out all items, and yield the results in order."""
        remote = self._ray.remote(function)
        waiting = [remote.remote(item).future() for item in items]
        for future in waiting:
            yield self._result(future)

    def _result(self, future: Any) -> Any:
        """What came of an item. Ray wraps what the function raised: the caller gets the error itself, as everywhere else."""
        try:
            return future.result()
        except self._ray.exceptions.RayTaskError as problem:
            raise problem.cause from problem

    def close(self) -> None:
        """Leave the cluster, and end it if it was started for this."""
        self._ray.shutdown()
        self._beginner.terminate()


def executor_for(workers: int, *, ray: bool = False, address: str = "") -> Executor:
    """Return what maps with so many workers; one alone is this process. `ray`: on a Ray cluster, the one at `address` if there is one given.

    Raises `UsageError` for fewer than one worker, and for Ray where it isn't installed or doesn't answer.
    """
    if workers < 1:
        raise UsageError(f"{workers} workers can't do anything", hint="Give 1 or more.")
    if ray or address:
        return OnRay(workers, address)
    return Here() if workers == 1 else Processes(workers)


def _require_reachable(address: str) -> None:
    """Raise `UsageError` where nobody listens: Ray would try again and again for minutes. An address without a port is left to Ray."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_S).close()
    except (OSError, OverflowError, UnicodeError) as problem:
        raise _nobody_at(address, problem) from problem


def _nobody_at(address: str, problem: Exception) -> UsageError:
    late = f" within {CONNECT_S:g} s" if isinstance(problem, TimeoutError) else ""
    return UsageError(
        f"no Ray cluster answers at {address!r}{late}",
        hint="Give the address that `ray start` said, or play here: leave out --ray-address.",
    )


def within(seconds: float, work: Callable[[], object]) -> None:
    """Do what may wait for ever in C, where no signal and no exception reaches it. Raises what it raises, or `TimeoutError`; then it is left behind, and ends with this process."""
    with ThreadPool(1) as pool:  # its thread keeps no process alive
        try:
            pool.apply_async(work).get(seconds)
        except multiprocessing.TimeoutError as problem:
            raise TimeoutError from problem


@contextmanager
def _handlers_kept() -> Iterator[None]:
    """Whoever handled signals does so afterwards too: Ray puts a handler of its own in front, which aborts this process, and nobody cleans up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _begin(hold: Connection) -> None:
    """An interrupt ends a worker: whoever gave it work tells what happened. So does the end of that process, however it came: nobody else would end what it left waiting.

    And so does that process when it lets go of `hold`.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(hold, parent.sentinel), daemon=True).start()


def _end_with(*ends: Connection | int) -> None:
    wait(ends)
    os._exit(1)


def _ray() -> Any:
    try:
        import ray  # noqa: PLC0415 - an extra
    except ImportError as problem:
        raise UsageError("Ray isn't installed", hint=f"{install_hint('ray')} Or leave out --ray.") from problem
    return ray
