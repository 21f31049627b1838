"""Every process of one command, however it tried to leave: found by group, session, ancestry and a marker variable.

A process group is not enough: `setsid` leaves it. So each command gets a unique value of `MARKER` in its environment, which
children inherit. `/proc` has all four facts; without it (macOS) only the group is known. What clears its environment *and*
leaves the session *and* outlives its parent can't be found.

Signals go to groups, not to processes: the kernel then reaches a group's every member at once, while a list of processes is
old by the time it is read. Whatever was in one session is a group of this command alone, so no stranger is hit. What is only
known from a file (`doubted`) is not believed: there the marker has to be seen, and a group is signalled only where its leader is
one of the command's; others one by one. Every look at `/proc` has a time limit (a process that the kernel holds can block who reads about it), and so has the whole;
looks that are asked for at the same time share one reading.
"""

import os
import re
import secrets
import signal
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import anyio

MARKER = "TRIMTAB_COMMAND"
_INSTANTS = 4
_INSTANT_S = 0.001
_PROC = Path("/proc")
_LOOK_S = 2.0
_KILL_S = 5.0
_SHARED_S = 0.5
"""How long one waits for the reading of somebody else, in seconds: it may be stuck."""
_NO_ONE = -1
_WELL_FORMED = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Proc:
    """One running process; `command` is its command line on one line."""

    pid: int
    parent: int
    group: int
    session: int
    command: str = ""
    born: int = 0
    """When it started, in ticks since the machine did: with it a pid names one process, without it whichever has the number now."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """All live processes as they were read, from `began` on the clock of this process; `marks` are the values of `MARKER` that each has in its environment."""

    began: float
    table: Mapping[int, Proc]
    marks: Mapping[int, frozenset[str]]


class _Readings:
    """Reads `/proc` for all who ask: one that began after a question was asked answers it, too."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._latest: _Reading | None = None

    def since(self, asked: float) -> _Reading:
        """A reading that began at `asked` or later."""
        if not self._lock.acquire(timeout=_SHARED_S):
            return _read_all()
        try:
            if self._latest is None or self._latest.began < asked:
                self._latest = _read_all()
            return self._latest
        finally:
            self._lock.release()


_readings = _Readings()


def new_marker() -> str:
    """A value of `MARKER` that no other command has."""
    return secrets.token_hex(8)


def is_marker(text: str) -> bool:
    """Whether `new_marker` could have made it."""
    return _WELL_FORMED.fullmatch(text) is not None


def members(
    leader: int, marker: str, *, born: int | None = None, doubted: bool = False, asked: float | None = None
) -> tuple[Proc, ...]:
    """Return the live processes of the command whose session leader is (or was) `leader`, by pid. Reads `/proc`.

    `born` is when that leader started: a process that has its number but started at another time is a stranger, with all of its session.
    `asked`: as it was then, on the monotonic clock, or later; without it, now. `doubted`: the leader's session counts only where `born` is right and one of it carries the marker; else only who carries it, and their children.
    """
    if doubted and not is_marker(marker):
        return ()
    reading = _readings.since(time.monotonic() if asked is None else asked)
    table = reading.table
    if born is not None and leader in table and table[leader].born != born:
        leader = _NO_ONE
    marked = {pid for pid, marks in reading.marks.items() if marker in marks}
    near = {p.pid for p in table.values() if leader in (p.pid, p.group, p.session)}
    if doubted and (born is None or leader <= 1 or not marked & near):
        near = set()
    inside = marked | near
    grown = True
    while grown:
        more = {p.pid for p in table.values() if p.parent in inside} - inside
        inside |= more
        grown = bool(more)
    return tuple(replace(p, command=_command(p.pid)) for _, p in sorted(table.items()) if p.pid in inside)


async def stop(
    leader: int, marker: str, *, grace_s: float, born: int | None = None, doubted: bool = False
) -> tuple[Proc, ...]:
    """End every process of the command: SIGTERM, `grace_s` seconds to obey, then SIGKILL until none is left.

    Returns what couldn't be ended in some seconds; mostly nothing. With `born` (as for `members`) the group that has the leader's number is signalled only
    where a process of the command is found in it; `doubted` as for `members`.
    """
    sure = leader if born is None and not doubted else 0
    send = _signal_each if doubted else partial(_signal, sure)
    found = await look(leader, marker, born=born, doubted=doubted)
    send(found or (), signal.SIGTERM)
    with anyio.move_on_after(grace_s):
        if found:
            await wait_all(p.pid for p in found)
        else:
            await anyio.sleep(grace_s if sure and _group_lives(sure) else 0)
    end = anyio.current_time() + _KILL_S
    while True:  # what is in no group that we know may start something between the look and the kill
        send(found or (), signal.SIGKILL)
        found = await look(leader, marker, born=born, doubted=doubted)
        if found == () or anyio.current_time() >= end:
            return found or ()
        send(found or (), signal.SIGKILL)
        with anyio.move_on_after(grace_s):
            await wait_all(p.pid for p in found or ())


async def look(leader: int, marker: str, *, born: int | None = None, doubted: bool = False) -> tuple[Proc, ...] | None:
    """`members` in a thread, for two seconds at most; None when that wasn't enough, so that nobody takes it for nothing."""
    asked = time.monotonic()
    with anyio.move_on_after(_LOOK_S):
        find = partial(members, leader, marker, born=born, doubted=doubted, asked=asked)
        return await anyio.to_thread.run_sync(find, abandon_on_cancel=True)
    return None


def born_at(pid: int) -> int | None:
    """When the process that has this number started (see `Proc.born`); None when there is none, or nobody can say. Reads `/proc`."""
    found = _process(str(pid))
    return found.born if found else None


async def wait_all(pids: Iterable[int]) -> None:
    """Wait until none of these runs any more; on Linux, elsewhere not at all."""
    if sys.platform != "linux":  # nothing to wait on; and without /proc nothing is found
        return
    for pid in pids:
        try:
            handle = os.pidfd_open(pid)
        except OSError:  # already gone
            continue
        try:
            await anyio.wait_readable(handle)
        finally:
            os.close(handle)


def _signal(leader: int, found: Iterable[Proc], number: signal.Signals) -> None:
    for group in {leader, *(p.group for p in found)} - {0, 1, os.getpgrp()}:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)


def _signal_each(found: Iterable[Proc], number: signal.Signals) -> None:
    """Groups whose leader is one of `found`, and the others by themselves: who leads their group may be a stranger."""
    found = tuple(found)
    pids = {p.pid for p in found}
    _signal(0, (p for p in found if p.group in pids), number)
    for proc in found:
        if proc.group not in pids and proc.pid != os.getpid() and born_at(proc.pid) == proc.born:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(proc.pid, number)


def _group_lives(leader: int) -> bool:
    try:
        os.killpg(leader, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _read_all() -> _Reading:
    began = time.monotonic()
    table = {p.pid: p for p in _all_processes()}
    return _Reading(began, table, {pid: marks for pid in table if (marks := _marks(pid))})


def _all_processes() -> Iterable[Proc]:
    try:
        names = os.listdir(_PROC)
    except OSError:
        return
    for name in names:
        if name.isdecimal() and (found := _process(name)) is not None:
            yield found


def _process(name: str) -> Proc | None:
    """A live process, by what `/proc/PID/stat` says (proc(5))."""
    try:
        fields = (_PROC / name / "stat").read_bytes().rpartition(b")")[2].split()
        if fields[0] in (b"Z", b"X"):
            return None
        return Proc(int(name), int(fields[1]), int(fields[2]), int(fields[3]), born=int(fields[19]))
    except (OSError, ValueError, IndexError):
        return None


def _marks(pid: int) -> frozenset[str]:
    """The values of `MARKER` in the environment of a process, mostly none."""
    name = f"{MARKER}=".encode()
    variables = _environment(pid).split(b"\0")
    return frozenset(one[len(name) :].decode("ascii", "replace") for one in variables if one.startswith(name))


def _environment(pid: int) -> bytes:
    """The environment of a process, with a zero byte behind each variable. That of one which has just become another program is empty for an instant: it is read again."""
    place = _PROC / str(pid)
    try:
        for _ in range(_INSTANTS):
            if data := (place / "environ").read_bytes():
                return data
            os.readlink(place / "exe")  # what has no program, the kernel's own and the dead, has no environment either
            time.sleep(_INSTANT_S)
    except OSError:
        pass
    return b""


def _command(pid: int) -> str:
    try:
        words = (_PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""
    return " ".join(words.split())
