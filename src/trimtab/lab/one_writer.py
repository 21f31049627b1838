"""One writer for a folder of results: rows of two benches would mix, and two trainings would go on from each other's half-done steps.

    FOLDER/bench.lock, FOLDER/train.lock    who writes there; gone when it ends

The lock is that of a session (`context/stores/lock.py`), and here only the kernel's part of it decides: whoever was killed holds nothing any more, whatever
record it left, and on whatever machine that was.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from trimtab.context.stores.lock import Owner, SessionLock, this_process
from trimtab.lab.files import REFUSALS, bytes_of
from trimtab.types.errors import SessionLocked, StoreError, UsageError


@contextmanager
def one_writer(folder: Path, name: str) -> Iterator[None]:
    """Make `folder`, and be the one `name` that writes there. Raises `UsageError` where another one does, `StoreError` where none can."""
    room = "Make room, or name another folder with --out."
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as problem:
        raise UsageError(f"{str(folder)!r} is no folder", hint="Name a folder with --out.") from problem
    except OSError as problem:
        raise StoreError(f"{str(folder)!r} can't be written: {problem.strerror}", hint=room) from problem
    try:
        lock = SessionLock.acquire(folder / name, this_process(lambda: datetime.now(UTC)), takeover=True)
    except SessionLocked as problem:
        raise UsageError(
            f"another trimtab {name} writes in {str(folder)!r}{_who(folder / f'{name}.lock')}",
            hint="Wait until it ends, or name another folder with --out.",
        ) from problem
    except StoreError as problem:
        raise StoreError(problem.message, hint=room) from problem
    try:
        yield
    finally:
        lock.release()


def _who(path: Path) -> str:
    try:
        owner = msgspec.json.decode(bytes_of(path), type=Owner)
    except (OSError, *REFUSALS):
        return ""
    return f": process {owner.pid}, since {owner.started}"
