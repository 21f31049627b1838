"""One writer for each session file: an advisory lock beside it that says who holds it.

    SESSION.jsonl.lock    {"pid", "boot_id", "host", "started"}    under flock for as long as the session is open

The kernel frees the flock when its process dies, so on one machine the flock alone decides, and a record left behind only tells that
the last writer crashed. Another machine may share the folder without sharing locks: its record is believed until a person says otherwise.

A program that the dead process was just starting shares its flock until it is that program, so the flock of a dead owner is waited for.

The file is removed while the flock is held, and whoever got a flock checks that the name still means the same file: otherwise two
processes could each lock "the" file, one of them already unlinked.
"""

import fcntl
import os
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Self

import msgspec

from trimtab.context.stores.disk import store_error, store_errors, timestamp
from trimtab.types.errors import SessionLocked

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_PATIENCE_S = 2.0
_TRY_EVERY_S = 0.01


class Owner(msgspec.Struct, frozen=True):
    """Who writes a session. `boot_id` is empty where the system tells none; `started` is RFC 3339."""

    pid: int
    boot_id: str
    host: str
    started: str


class SessionLock:
    """The lock of one session file, held. `stale` is the owner that it was taken over from, if any."""

    def __init__(self, path: Path, fd: int, stale: Owner | None) -> None:
        self.path = path
        self.stale = stale
        self._fd: int | None = fd

    @classmethod
    def acquire(cls, session: Path, owner: Owner, *, takeover: bool = False) -> Self:
        """Lock `session` for `owner`. Raises `SessionLocked` when another process has it, `StoreError` when no lock can be made.

        `takeover` believes no record of another machine.
        """
        path = session.with_name(session.name + ".lock")
        while True:
            with store_errors(path):
                fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                _flock(fd, path, session, owner)
                if not _is_still(path, fd):
                    os.close(fd)
                    continue
                stale = _read(fd)
                if stale is not None and stale.host != owner.host and not takeover:
                    raise _locked(
                        session, stale, "--takeover if that machine is done with it, or --fork to go on in a copy"
                    )
                with store_errors(path):
                    os.ftruncate(fd, 0)
                    os.pwrite(fd, msgspec.json.encode(owner) + b"\n", 0)
            except BaseException:
                with suppress(OSError):
                    os.close(fd)
                raise
            return cls(path, fd, stale)

    def release(self) -> None:
        """Free the lock and remove its file. Releasing twice is fine."""
        if self._fd is None:
            return
        fd, self._fd = self._fd, None
        with suppress(OSError):
            if _is_still(self.path, fd):
                self.path.unlink()
        os.close(fd)


def this_process(now: Callable[[], datetime]) -> Owner:
    """Return this process as an owner."""
    boot_id = ""
    with suppress(OSError):
        boot_id = _BOOT_ID.read_text("ascii").strip()
    return Owner(pid=os.getpid(), boot_id=boot_id, host=os.uname().nodename, started=timestamp(now()))


def _flock(fd: int, path: Path, session: Path, owner: Owner) -> None:
    for _ in range(round(_PATIENCE_S / _TRY_EVERY_S)):
        try:
            return fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not is_dead(_read(fd), owner):
                break
            time.sleep(_TRY_EVERY_S)
        except OSError as exc:
            raise store_error(path, exc) from exc
    raise _locked(session, _read(fd), "--fork goes on in a copy; the other process frees it when it ends")


def is_dead(holder: Owner | None, owner: Owner) -> bool:
    """Say whether `holder` was a process of this machine that is no more."""
    if holder is None or (holder.host, holder.boot_id) != (owner.host, owner.boot_id):
        return False
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _locked(session: Path, owner: Owner | None, hint: str) -> SessionLocked:
    who = f"process {owner.pid} on {owner.host} since {owner.started}" if owner else "another process"
    return SessionLocked(f"session {str(session)!r} is in use by {who}", hint=hint)


def _is_still(path: Path, fd: int) -> bool:
    """Say whether `path` names the file that `fd` is."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(fd))
    except FileNotFoundError:
        return False


def _read(fd: int) -> Owner | None:
    try:
        return msgspec.json.decode(os.pread(fd, 4096, 0), type=Owner)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
