"""A process that may outlive Trimtab: started in a session of its own, waited for without being owned.

The event loop's own processes are killed when the loop lets go of them; one that is kept must not be.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import anyio

from trimtab.coding.tools import process_tree
from trimtab.coding.tools.process import Group, signal_name

_left: list["subprocess.Popen[bytes]"] = []
"""Kept processes of sessions that were closed; whoever leaves another one reaps those that ended."""


def spawn(
    argv: tuple[str, ...], environment: Mapping[str, str], cwd: Path
) -> tuple["subprocess.Popen[bytes]", Group, int]:
    """Start `argv`; return the process, what it and all that it starts are known by, and the reading end of the pipe with its output.

    Waits until it was started. Raises `OSError`, and `ValueError` when an argument holds a NUL.
    """
    marker = process_tree.new_marker()
    reading, writing = os.pipe()
    try:
        os.set_blocking(reading, False)
        process = subprocess.Popen(
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
    return process, Group(process.pid, marker, process_tree.born_at(process.pid)), reading


async def exited(process: "subprocess.Popen[bytes]") -> None:
    """Wait until the process itself has exited; it is reaped then."""
    if sys.platform == "linux":
        await process_tree.wait_all([process.pid])
        await anyio.to_thread.run_sync(process.wait)
    else:
        await anyio.to_thread.run_sync(process.wait, abandon_on_cancel=True)


def how_it_ended(process: "subprocess.Popen[bytes]") -> tuple[str, bool]:
    """In words, and whether that is a failure."""
    code = process.returncode
    if code is None:
        return "", False
    return (f"killed by {signal_name(-code)}", True) if code < 0 else (f"exit {code}", code != 0)


def leave(process: "subprocess.Popen[bytes]") -> None:
    """Let it go on without us."""
    _left[:] = [one for one in (*_left, process) if one.poll() is None]
