"""The state of one name on disk: a file's content by name, and its mode; where a link leads; a folder; or what can't be put back. None stands for what isn't there.

The one rule: no link is followed when a state is looked at, and what is there but can't be read is never taken for what isn't there.
"""

import errno
import os
import stat
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

MOST_BYTES = 16 << 20
"""Of a file that is kept; of a larger one only size, time and number are known, so a change is seen and can't be taken back."""

_SPECIAL, _FOLDER, _UNKNOWN, _UNREAD = "special", "folder", "unknown", "unread"


@dataclass(frozen=True, slots=True)
class FileState:
    """What stands at a name. `content` names what the store keeps, or is `size:time:number` of a file that is too large, and `unread:` and the same of one that can't be read;
    `mode` are its permission bits (0 of a folder: the usual ones). Of a `link`, `content` is where it leads. `number` is the inode of a file with several names, else 0."""

    content: str
    mode: int
    kept: bool = True
    link: bool = False
    number: int = field(default=0, compare=False)

    @property
    def special(self) -> bool:
        """Whether it is a pipe, socket or device: seen, and never put back or removed."""
        return self.content == _SPECIAL and not self.kept

    @property
    def folder(self) -> bool:
        """Whether it is a folder, of which nothing but the mode is known."""
        return self.content == _FOLDER and not self.kept

    @property
    def unknown(self) -> bool:
        """Whether it was there in some way that nobody saw: moved here from elsewhere, or uncovered."""
        return self.content == _UNKNOWN and not self.kept

    @property
    def unread(self) -> bool:
        """Whether it couldn't be read."""
        return self.content.startswith(_UNREAD) and not self.kept

    @property
    def loose(self) -> bool:
        """Whether it is a file of which no copy is kept, so that it may be moved and never removed."""
        return not (self.kept or self.special or self.folder or self.unknown)

    def same_content(self, other: "State") -> bool:
        """Whether both hold the same bytes, or lead to the same place, as far as it is known."""
        if other is None or (self.kept, self.link) != (other.kept, other.link):
            return False
        return self.content == other.content or (self.loose and _facts(self) == _facts(other) != ())


State: TypeAlias = FileState | None
FOLDER = FileState(_FOLDER, 0, kept=False)
"""A folder with the usual mode."""
UNKNOWN = FileState(_UNKNOWN, 0, kept=False)
"""What was there in some way that nobody saw."""


def _facts(state: FileState) -> tuple[str, ...]:
    """Size and time of a file of which no copy is kept: another disk gives it another number."""
    return tuple(state.content.removeprefix(f"{_UNREAD}:").split(":")[:2])


class Keeper(Protocol):
    """Where a content goes that was looked at."""

    def put(self, data: bytes) -> str:
        """Return the name of `data`. Raises `StoreError`."""
        ...


def state_of(path: str, store: Keeper) -> State:
    """The state of a name: a regular file, its content kept, a link, a folder, or what is none of these. Raises `StoreError`."""
    try:
        facts = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        return None if error.errno in (errno.ELOOP, errno.ENAMETOOLONG) else FileState(_UNREAD, 0, kept=False)
    mode = stat.S_IMODE(facts.st_mode)
    if stat.S_ISDIR(facts.st_mode):
        return FileState(_FOLDER, mode, kept=False)
    number = f"{facts.st_size}:{facts.st_mtime_ns}:{facts.st_ino}"
    try:
        if stat.S_ISLNK(facts.st_mode):
            return FileState(os.readlink(path), 0, link=True)
        if not stat.S_ISREG(facts.st_mode):
            return FileState(_SPECIAL, 0, kept=False)
        if facts.st_size > MOST_BYTES:
            return FileState(number, mode, kept=False)
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        with open(descriptor, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError:
        return FileState(f"{_UNREAD}:{number}", mode, kept=False)
    return FileState(store.put(data), mode, number=facts.st_ino if facts.st_nlink > 1 else 0)


def to_data(state: State) -> Any:
    """The state as it stands in the log."""
    if state is None:
        return None
    more = {"kept": False} if not state.kept else {"link": True} if state.link else {}
    return {"content": state.content, "mode": state.mode, **more, **({"number": state.number} if state.number else {})}


def from_data(data: Any) -> State:
    """Read what `to_data` wrote; what isn't that counts as not there."""
    if not isinstance(data, dict) or not isinstance(data.get("content"), str) or not isinstance(data.get("mode"), int):
        return None
    kept, link = data.get("kept") is not False, data.get("link") is True
    number = data.get("number")
    number = number if isinstance(number, int) else 0
    return FileState(data["content"], data["mode"] & 0o7777, kept=kept, link=link, number=number)
