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
import secrets
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import anyio
from anyio.abc import Process

from trimtab.coding.tools import process_tree
from trimtab.coding.tools.capture import Capture, Captured
from trimtab.coding.tools.process_tree import Proc

Watch: TypeAlias = Callable[[bytes], None]
"""Sees output as it comes; must not block."""

GRACE_S = 1.5
_DRAIN_S = 0.1
_CHUNK = 1 << 18
_KEEP = "exec 3<&0; cat <&3 3<&- &"  # the shell ends at once, so the keeper is nobody's zombie


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended. Exactly one of `exit_code` and `signal` is set, unless it `timed_out` (then neither).

    `left_running` are its processes in the background, or those that a timeout couldn't end.
    """

    exit_code: int | None
    signal: str | None
    timed_out: bool
    duration_s: float
    output: Captured
    left_running: tuple[Proc, ...]


async def run_command(
    argv: tuple[str, ...],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    timeout_s: float,
    capture: Capture,
    watch: Watch | None = None,
) -> Finished:
    """Run `argv` until it exits or `timeout_s` seconds have passed; return how it ended and what it printed.

    `capture` is fresh and takes the output. Raises `OSError` when it can't be started and `ValueError` when an argument holds a NUL. Cancelling stops every
    process the command started.
    """
    started = anyio.current_time()
    marker = secrets.token_hex(8)
    reading, writing = os.pipe()
    try:
        os.set_blocking(reading, False)
        try:
            process = await anyio.open_process(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=writing,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                env={**environment, process_tree.MARKER: marker},
                start_new_session=True,
            )
        finally:
            os.close(writing)
        return await _follow(process, marker, Pump(reading, capture, watch), started=started, timeout_s=timeout_s)
    except BaseException:
        capture.discard()
        raise
    finally:
        capture.close()
        os.close(reading)


@dataclass(slots=True)
class Pump:
    """Moves what comes out of the pipe into the capture. `ended` is set at end of file.

    May be cancelled at any instant and run again: what was read is in the capture.
    """

    pipe: int
    capture: Capture
    watch: Watch | None
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


async def _follow(process: Process, marker: str, pump: Pump, *, started: float, timeout_s: float) -> Finished:
    exited = False
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(pump.run)
            with anyio.move_on_after(timeout_s):
                await process.wait()
                exited = True
            group.cancel_scope.cancel()
        left = () if exited else await _stop(process, marker)
        with anyio.move_on_after(_DRAIN_S):
            if not pump.ended:
                await pump.run()
        if exited:
            left = await process_tree.look(process.pid, marker)
            if left:
                await anyio.to_thread.run_sync(_hand_over, pump)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await _stop(process, marker)
        raise
    code = process.returncode
    output = await anyio.to_thread.run_sync(pump.capture.finish)
    return Finished(
        exit_code=code if exited and code is not None and code >= 0 else None,
        signal=_signal_name(-code) if exited and code is not None and code < 0 else None,
        timed_out=not exited,
        duration_s=anyio.current_time() - started,
        output=output,
        left_running=left,
    )


async def _stop(process: Process, marker: str) -> tuple[Proc, ...]:
    left = await process_tree.stop(process.pid, marker, grace_s=GRACE_S)
    with suppress(ProcessLookupError):
        process.kill()
    with anyio.move_on_after(GRACE_S):  # one that the kernel holds ends when it lets go, or never
        await process.wait()
    return left


def _hand_over(pump: Pump) -> None:
    """Let what still runs go on printing: a `cat` of its own takes the pipe and ends with its last writer."""
    shell = None if pump.ended else shutil.which("sh")
    path = pump.capture.to_file() if shell else None
    if shell is None or path is None:
        return
    os.set_blocking(pump.pipe, True)
    # Without a keeper (no process to be had) what still runs can print no more; the command itself is done all the same.
    with suppress(OSError), path.open("ab") as file:
        subprocess.run(
            [shell, "-c", _KEEP],
            stdin=pump.pipe,
            stdout=file,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            check=False,
        )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
