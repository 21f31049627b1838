"""What is wrong with a session file, and what lies around that nobody needs.

    file ──scan, archive──▶ damage, that a repair entry speaks of or not
    home ──names──▶ leftovers: what belongs to a session that is gone, locks of dead processes, unfinished copies, bodies that no session names

Looking changes nothing. `mend` appends what the next writer would, `remove` takes one session away.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from trimtab.context.archive import Archive, Damage
from trimtab.context.stores.disk import store_errors
from trimtab.context.stores.folder import SessionFolder
from trimtab.context.stores.jsonl import SessionFile
from trimtab.context.stores.lock import Owner, SessionLock, is_dead, this_process
from trimtab.context.stores.log import Now, SessionLog, bodies_beside

_ADDRESS = re.compile(rb"sha256-[0-9a-f]{64}")
_PART = re.compile(r"\..*\.(\d{1,9})\.part")
"""A copy that the process of that number was making."""
_BESIDE = (".jsonl.outputs", ".jsonl.bodies", ".jsonl.archive", ".jsonl.lock")
"""What stands beside a session file, under its name and one of these endings."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A session file and its damage. `mended`: a repair entry speaks of all of it."""

    path: Path
    id: str
    entries: int
    damage: tuple[Damage, ...]
    mended: bool


@dataclass(frozen=True, slots=True)
class Leftover:
    """Something that can be removed: where, why nobody needs it, and how many bytes it takes."""

    path: Path
    why: str
    size: int


def check(path: Path) -> Checked:
    """Look at one file. Raises `SessionError` when it is no session or can't be read."""
    file = SessionFile.read(path)
    archive = Archive()
    archive.damage.extend(file.found.damage)
    for line, entry in file.found.numbered():
        archive.add(entry, line=line)
    mended = all((one.kind, one.line) in archive.repaired for one in archive.damage)
    return Checked(path, file.header.id, len(archive), tuple(archive.damage), mended)


def mend(folder: SessionFolder, path: Path) -> int:
    """Append the repair entries that the damage of a file calls for; return how many. Raises `SessionLocked`, `SessionError` or `StoreError`."""
    log: SessionLog = folder.open(path)
    try:
        return log.mend()
    finally:
        log.close()


def leftovers(folder: SessionFolder, checkpoints: Path, *, now: Now) -> tuple[Leftover, ...]:
    """What lies in the folders of all sessions, among the bodies and among the `checkpoints`, and belongs to nothing."""
    me = this_process(now)
    found = [one for place in _folders(folder.sessions) for one in _in_folder(place, me)]
    if not folder.unread(None):  # else nobody knows what the sessions there still need
        inhabited = {path.parent.name for path in folder.paths(None)}
        found += [
            Leftover(path, "for /undo in a project that has no session here any more", size_of(path))
            for path in _folders(checkpoints)
            if path.name not in inhabited
        ]
        found += _bodies(folder)
    return tuple(sorted(found, key=lambda one: str(one.path)))


def _folders(root: Path) -> list[Path]:
    try:
        return [path for path in sorted(root.iterdir()) if path.is_dir() and not path.is_symlink()]
    except OSError:
        return []


def _in_folder(place: Path, me: Owner) -> Iterator[Leftover]:
    names = {path.name for path in _entries(place)}
    for path in _entries(place):
        ending = next((end for end in _BESIDE if path.name.endswith(end)), None)
        session = path.name[: -len(ending)] + ".jsonl" if ending else ""
        if (part := _PART.fullmatch(path.name)) and not _lives(int(part[1])):
            yield Leftover(path, "a copy that was never finished", size_of(path))
        elif ending == ".jsonl.lock" and _left(path, me):
            yield Leftover(path, "the lock of a process that is gone", size_of(path))
        elif ending not in (None, ".jsonl.lock") and session not in names:
            yield Leftover(path, "of a session that is gone", size_of(path))


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _left(lock: Path, me: Owner) -> bool:
    """Whether the process that a lock names is no more."""
    with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
        owner = msgspec.json.decode(lock.read_bytes()[:4096], type=Owner)
        return owner.host == me.host and (owner.boot_id != me.boot_id or is_dead(owner, me))
    return False


def _bodies(folder: SessionFolder) -> Iterator[Leftover]:
    """Bodies that no session names: those of sessions that are gone. None, where a session can't be read."""
    kept = [path for path in _entries(folder.bodies) if not path.is_dir()]
    if not kept:
        return
    named: set[str] = set()
    for path in folder.paths(None):
        try:
            if path.is_file():
                named.update(address.decode() for address in _ADDRESS.findall(path.read_bytes()))
        except OSError:
            return
    for path in kept:
        if path.name not in named:
            yield Leftover(path, "a body that no session names", size_of(path))


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def size_of(path: Path) -> int:
    """Bytes of a file, or of all in a folder; links count as themselves."""
    with suppress(OSError):
        if path.is_symlink() or not path.is_dir():
            return path.lstat().st_size
        return sum(size_of(Path(entry.path)) for entry in os.scandir(path))
    return 0


def remove(path: Path, *, now: Now) -> int:
    """Remove a session: its file, and the folders under its name; return how many bytes that were. Nothing else goes.

    Raises `SessionLocked` when somebody has it open, `StoreError` when the disk refuses.
    """
    places = [bodies_beside(path), *(path.with_name(path.name + end) for end in (".outputs", ".archive"))]
    lock = SessionLock.acquire(path, this_process(now))
    try:
        size = sum(size_of(place) for place in (path, *places) if place.is_symlink() or place.exists())
        with store_errors(path):
            path.unlink()
            for place in places:
                if place.is_symlink():
                    place.unlink()
                elif place.is_dir():
                    shutil.rmtree(place)
    finally:
        lock.release()
    return size
