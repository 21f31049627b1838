"""The state of one file: its content by name, and its mode; or where a link leads; or that it is a pipe, socket or device. None stands for what isn't there, or is none of these.

The one rule: no link is followed, neither when a state is looked at nor when it is put back, so what is undone stays where it is.
"""

import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from trimtab.coding.checkpoints.store import ContentStore
from trimtab.types.errors import StoreError

MOST_BYTES = 16 << 20
"""Of a file that is kept; of a larger one only the size and the time are known, so a change is seen and can't be taken back."""

_SPECIAL = "special"


@dataclass(frozen=True, slots=True)
class FileState:
    """A regular file. `content` names what the store keeps, or is `size:time` of what is too large to keep; `mode` are its permission bits. Of a `link`, `content` is where it leads."""

    content: str
    mode: int
    kept: bool = True
    link: bool = False

    @property
    def special(self) -> bool:
        """Whether it is a pipe, socket or device: seen, and never put back or removed."""
        return self.content == _SPECIAL and not self.kept

    def same_content(self, other: "State") -> bool:
        """Whether both hold the same bytes, or lead to the same place, as far as it is known."""
        return other is not None and (self.content, self.kept, self.link) == (other.content, other.kept, other.link)


State: TypeAlias = FileState | None


def state_of(path: str, store: ContentStore) -> State:
    """The state of a regular file, its content kept, of a link, or of what is neither and no folder. A folder, and what can't be read, counts as not there. Raises `StoreError`."""
    try:
        facts = os.lstat(path)
        if stat.S_ISLNK(facts.st_mode):
            return FileState(os.readlink(path), 0, link=True)
        if not stat.S_ISREG(facts.st_mode):
            return None if stat.S_ISDIR(facts.st_mode) else FileState(_SPECIAL, 0, kept=False)
        mode = stat.S_IMODE(facts.st_mode)
        if facts.st_size > MOST_BYTES:
            return FileState(f"{facts.st_size}:{facts.st_mtime_ns}", mode, kept=False)
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        with open(descriptor, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError):
        return None
    return FileState(store.put(data), mode)


def put_back(path: str, state: State, store: ContentStore) -> None:
    """Make `path` be in `state`. Raises `StoreError` or `OSError` when that can't be; what stands there is then as it was.

    What stands at `path` itself is replaced, whatever it is: a link that was put there meanwhile is not written through.
    """
    folder, name = os.path.split(path)
    if state is not None:
        if not state.kept:
            raise StoreError(f"it was too large to be kept ({MOST_BYTES >> 20} MiB at most)")
        if os.path.realpath(folder) == folder:
            os.makedirs(folder, exist_ok=True)
    if os.path.realpath(folder) != folder:
        raise StoreError("its folder is now a link to somewhere else")
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if state is None:
            os.unlink(name, dir_fd=at)
        elif state.link:
            _replace(at, name, lambda beside: os.symlink(state.content, beside, dir_fd=at))
        else:
            data = store.get(state.content)
            _replace(at, name, lambda beside: _write(at, beside, data, state.mode))
    finally:
        os.close(at)


def _replace(at: int, name: str, make: Callable[[str], None]) -> None:
    """Make something beside `name` and rename it over that: a rename replaces a link and doesn't follow it."""
    beside = f".{secrets.token_hex(8)}.tmp"
    try:
        make(beside)
        os.rename(beside, name, src_dir_fd=at, dst_dir_fd=at)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside, dir_fd=at)
        raise


def _write(at: int, name: str, data: bytes, mode: int) -> None:
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=at)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fchmod(descriptor, mode)
        os.fsync(descriptor)


def to_data(state: State) -> Any:
    """The state as it stands in the log."""
    if state is None:
        return None
    more = {"kept": False} if not state.kept else {"link": True} if state.link else {}
    return {"content": state.content, "mode": state.mode, **more}


def from_data(data: Any) -> State:
    """Read what `to_data` wrote; what isn't that counts as not there."""
    if not isinstance(data, dict) or not isinstance(data.get("content"), str) or not isinstance(data.get("mode"), int):
        return None
    kept, link = data.get("kept") is not False, data.get("link") is True
    return FileState(data["content"], data["mode"] & 0o7777, kept=kept, link=link)
