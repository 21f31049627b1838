"""Run one shell command to its end, and no longer.

    open: own session, no stdin, stdout + stderr into one pipe of ours
      ├─ pump: pipe → Capture (and to whoever watches), until end of file
      └─ wait for the *shell*, not for the pipe: a child in the background may hold that for ever
    exit    → a short drain, then the pipe goes to a keeper (`cat >> file`), so that a server left behind still can print
    timeout → the whole tree is stopped, the result says so
    cancel  → the same under a shield, and the cancellation goes on

The pipe is ours rather than the event loop's because an asyncio process isn't "exited" before its pipes are closed.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import anyio
from anyio.abc import Process

from trimtab.coding.tools import process_tree
from trimtab.coding.tools.capture import MAX_FILE_BYTES, Capture, Captured
from trimtab.coding.tools.process_tree import Proc

Watch: TypeAlias = Callable[[bytes], None]
"""Sees output as it comes; must not block."""

GRACE_S = 1.5
_DRAIN_S = 0.1
_CHUNK = 1 << 18
_LOOK_AGAIN_S = 0.02
"""What ended is still being cleared away for a moment."""
_FULL = 1 << 16
"""Bytes that a pipe holds: one that is full is being written faster than it is read."""
_KEEP = "exec 3<&0; { (ulimit -c 0; ulimit -f %d; exec cat); cat >/dev/null; } <&3 3<&- &"
"""The shell ends at once, so the keeper is nobody's zombie. A file is cut off at a size in blocks of 512 bytes; what comes after is thrown away, and nobody is stopped for it."""
_BLOCK = 512


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended. Exactly one of `exit_code` and `signal` is set, unless it `timed_out` (then neither).

    `left_running` are its processes in the background, or those that a timeout couldn't end; `group` tells them from others.
    """

    exit_code: int | None
    signal: str | None
    timed_out: bool
    duration_s: float
    output: Captured
    left_running: tuple[Proc, ...]
    group: "Group"


@dataclass(frozen=True, slots=True)
class Group:
    """What all processes of one command are known by: its session leader's pid and start (None: nobody can say), and the marker in their environment.

    `doubted`: that was read from a file, which anybody may have written.
    """

    leader: int
    marker: str
    born: int | None = None
    doubted: bool = False

    async def look(self) -> tuple[Proc, ...] | None:
        """Those that run; None where that can't be found out in time."""
        return await process_tree.look(self.leader, self.marker, born=self.born, doubted=self.doubted)

    async def gone(self) -> None:
        """Wait until none runs, which a look has to find out."""
        while (left := await self.look()) != ():
            await process_tree.wait_all(one.pid for one in left or ())
            await anyio.sleep(_LOOK_AGAIN_S)

    async def stop(self) -> tuple[Proc, ...]:
        """End them; return what couldn't be ended, mostly nothing."""
        return await process_tree.stop(self.leader, self.marker, grace_s=GRACE_S, born=self.born, doubted=self.doubted)


async def look_at_all(groups: Sequence[Group]) -> list[tuple[Proc, ...] | None]:
    """`Group.look` at each, by one reading of the processes or a few."""
    found: list[tuple[Proc, ...] | None] = [None] * len(groups)

    async def look(number: int, group: Group) -> None:
        found[number] = await group.look()

    async with anyio.create_task_group() as tasks:
        for number, group in enumerate(groups):
            tasks.start_soon(look, number, group)
    return found


Beside: TypeAlias = Callable[[Group], Coroutine[Any, Any, None]]


async def run_command(
    argv: tuple[str, ...],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    timeout_s: float,
    capture: Capture,
    watch: Watch | None = None,
    beside: Beside | None = None,
) -> Finished:
    """Run `argv` until it exits or `timeout_s` seconds have passed; return how it ended and what it printed.

    `capture` is fresh and takes the output. `beside` runs while the command does, is cancelled then, and raises nothing. Raises `OSError` when it can't be started and `ValueError` when an argument holds a NUL. Cancelling stops every
    process the command started.
    """
    started = anyio.current_time()
    pipe: int | None = None
    try:
        process, group, pipe = await _start(argv, cwd=cwd, environment=environment)
        pump = Pump(pipe, capture, watch)
        return await _follow(process, group, pump, started=started, timeout_s=timeout_s, beside=beside)
    except BaseException:
        capture.discard()
        raise
    finally:
        capture.close()
        if pipe is not None:
            os.close(pipe)


@dataclass(slots=True)
class Pump:
    """Moves what comes out of the pipe into the capture. `ended` is set at end of file.

    May be cancelled at any instant and run again: what was read is in the capture. After each full read it rests `rest_s` seconds, which holds up who prints without end.
    """

    pipe: int
    capture: Capture
    watch: Watch | None = None
    rest_s: float = 0.0
    ended: bool = False

    async def run(self) -> None:
        """Move until the end of the file."""
        while True:
            await anyio.wait_readable(self.pipe)
            try:
                data = os.read(self.pipe, _CHUNK)
            except BlockingIOError:
                continue
            if not data:
                self.ended = True
                return
            if self.watch:
                self.watch(data)
            if self.capture.wants_disk(len(data)):
                # What was read is nowhere else: the command may end, and this be cancelled, between the read and the write.
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(self.capture.feed, data)
            else:
                self.capture.feed(data)
            if self.rest_s and len(data) >= _FULL:
                await anyio.sleep(self.rest_s)


async def _start(argv: tuple[str, ...], *, cwd: Path, environment: Mapping[str, str]) -> tuple[Process, Group, int]:
    marker = process_tree.new_marker()
    reading, writing = os.pipe()
    try:
        os.set_blocking(reading, False)
        process = await anyio.open_process(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env={**environment, process_tree.MARKER: marker},
            start_new_session=True,
        )
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    with anyio.CancelScope(shield=True):  # nobody else knows of the process yet
        born = await anyio.to_thread.run_sync(process_tree.born_at, process.pid)
    return process, Group(process.pid, marker, born), reading


async def _follow(
    process: Process, group: Group, pump: Pump, *, started: float, timeout_s: float, beside: Beside | None
) -> Finished:
    exited = False
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pump.run)
            if beside is not None:
                tasks.start_soon(beside, group)
            with anyio.move_on_after(timeout_s):
                await process.wait()
                exited = True
            tasks.cancel_scope.cancel()
        left = () if exited else await stop_process(process, group)
        with anyio.move_on_after(_DRAIN_S):
            if not pump.ended:
                await pump.run()
        if exited:
            found = await group.look()
            left = found or ()
            if found != ():  # nobody may be able to say: a keeper without a writer ends at once
                await anyio.to_thread.run_sync(hand_over, pump)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await stop_process(process, group)
        raise
    code = process.returncode
    output = await anyio.to_thread.run_sync(pump.capture.finish)
    return Finished(
        exit_code=code if exited and code is not None and code >= 0 else None,
        signal=signal_name(-code) if exited and code is not None and code < 0 else None,
        timed_out=not exited,
        duration_s=anyio.current_time() - started,
        output=output,
        left_running=left,
        group=group,
    )


async def stop_process(process: Process, group: Group) -> tuple[Proc, ...]:
    """End a command that runs, with all that it started; return what couldn't be ended, mostly nothing."""
    left = await process_tree.stop(group.leader, group.marker, grace_s=GRACE_S)
    with suppress(ProcessLookupError):
        process.kill()
    with anyio.move_on_after(GRACE_S):  # one that the kernel holds ends when it lets go, or never
        await process.wait()
    return left


def hand_over(pump: Pump) -> None:
    """Let what still runs go on printing: a keeper of its own takes the pipe, writes as much as a file may hold, and ends with the last writer."""
    shell = None if pump.ended else shutil.which("sh")
    if shell is None:
        return
    os.set_blocking(pump.pipe, True)
    # The file as it was opened, never by its name: what was printed before may have put something else there. Without one, what is printed is thrown away.
    pump.capture.to_file()
    file = pump.capture.handle
    # Without a keeper (no process to be had) what still runs can print no more; the command itself is done all the same.
    with suppress(OSError):
        subprocess.run(
            [shell, "-c", _KEEP % (MAX_FILE_BYTES // _BLOCK)],
            stdin=pump.pipe,
            stdout=subprocess.DEVNULL if file is None else file,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            check=False,
        )


def signal_name(number: int) -> str:
    """The signal in words."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
