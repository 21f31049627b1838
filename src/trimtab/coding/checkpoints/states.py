"""The state of one file: its content by name, and its mode. None stands for a file that isn't there."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from trimtab.coding.checkpoints.store import ContentStore
from trimtab.coding.tools.disk import save
from trimtab.types.errors import StoreError

MOST_BYTES = 16 << 20
"""Of a file that is kept; of a larger one only the size and the time are known, so a change is seen and can't be taken back."""


@dataclass(frozen=True, slots=True)
class FileState:
    """A regular file. `content` names what the store keeps, or is `size:time` of what is too large to keep; `mode` are its permission bits."""

    content: str
    mode: int
    kept: bool = True

    def same_content(self, other: "State") -> bool:
        """Whether both hold the same bytes, as far as it is known."""
        return other is not None and (self.content, self.kept) == (other.content, other.kept)


State: TypeAlias = FileState | None


def state_of(path: str, store: ContentStore) -> State:
    """The state of a regular file, its content kept. Anything else, and what can't be read, counts as not there. Raises `StoreError`."""
    try:
        facts = os.lstat(path)
        if not stat.S_ISREG(facts.st_mode):
            return None
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
    """Make `path` be in `state`. Raises `StoreError`, `OSError` or `ToolFailure` when that can't be; the file is then as it was."""
    if os.path.realpath(os.path.dirname(path)) != os.path.dirname(path):
        raise StoreError("its folder is now a link to somewhere else")
    if state is None:
        os.unlink(path)
        return
    if not state.kept:
        raise StoreError(f"it was too large to be kept ({MOST_BYTES >> 20} MiB at most)")
    data = store.get(state.content)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    before = os.stat(path) if os.path.lexists(path) else None
    save(Path(path), data, shown=path, before=before)
    os.chmod(path, state.mode)


def to_data(state: State) -> Any:
    """The state as it stands in the log."""
    if state is None:
        return None
    return {"content": state.content, "mode": state.mode, **({} if state.kept else {"kept": False})}


def from_data(data: Any) -> State:
    """Read what `to_data` wrote; what isn't that counts as not there."""
    if not isinstance(data, dict) or not isinstance(data.get("content"), str) or not isinstance(data.get("mode"), int):
        return None
    return FileState(data["content"], data["mode"] & 0o7777, kept=data.get("kept") is not False)
