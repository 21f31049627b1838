"""Putting one name on disk into a state, whatever stands there now, without ever losing what can't be made again.

what is to be ──made beside──▶ what is there taken away (removed if a copy is kept, else moved aside) ──▶ renamed into its place

The one rule: no link is followed, so what is undone stays where it is; and what changes under our hands is left.
"""

import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from trimtab.coding.checkpoints.aside import Aside
from trimtab.coding.checkpoints.states import FileState, State
from trimtab.coding.checkpoints.store import ContentStore
from trimtab.types.errors import StoreError

Mark: TypeAlias = tuple[int, int, int, int, int] | None
"""By what a change is seen: size, times, number and mode; None for what isn't there."""


def mark_of(path: str, at: int | None = None) -> Mark:
    """The mark of a name."""
    try:
        facts = os.lstat(path) if at is None else os.stat(path, dir_fd=at, follow_symlinks=False)
    except (OSError, ValueError):
        return None
    return facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino, facts.st_mode


def aside_of(store: ContentStore) -> Path:
    """Where files go of which no copy is kept."""
    return store.folder / "large"


def put_back(path: str, now: State, mark: Mark, state: State, store: ContentStore) -> None:
    """Make `path`, which is in state `now`, be in `state`. `mark` is from before `now` was looked at.

    Raises `StoreError` or `OSError` when that can't be, or when it has changed since; what stands there is then as it was.
    """
    folder, name = os.path.split(path)
    if state is not None and os.path.realpath(folder) == folder:
        os.makedirs(folder, exist_ok=True)
    if os.path.realpath(folder) != folder:
        raise StoreError("its folder is now a link to somewhere else")
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        _Place(at, name, now, mark, store, Aside(aside_of(store))).become(state)
    finally:
        os.close(at)


class _Place:
    """A name in an open folder."""

    def __init__(self, at: int, name: str, now: State, mark: Mark, store: ContentStore, aside: Aside) -> None:
        self._at = at
        self._name = name
        self._now = now
        self._mark = mark
        self._store = store
        self._aside = aside

    def become(self, state: State) -> None:
        """Be in that state."""
        if state is None:
            self._require_unchanged()
            self._take_away()
        elif self._has_content_of(state):
            if state.mode or not state.folder:
                self._chmod(state.mode)
        elif state.loose:
            self._require_unchanged()
            self._bring(state)
        elif state.number and self._mark is not None and self._mark[3] == state.number:
            self._write_through(state)
        else:
            self._replace(state)

    def _has_content_of(self, state: FileState) -> bool:
        """Whether only the mode is another one; where the file couldn't be read then, as far as size and time say."""
        if self._now is None or self._now.link:
            return False
        if state.unread and self._mark is not None:
            size, modified, _, number, _ = self._mark
            return state.content == f"unread:{size}:{modified}:{number}"
        return self._now.same_content(state)

    def _chmod(self, mode: int) -> None:
        self._require_unchanged()
        descriptor = os.open(self._name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self._at)
        try:
            os.fchmod(descriptor, mode)
        finally:
            os.close(descriptor)

    def _write_through(self, state: FileState) -> None:
        """The same file, which has other names too, was changed in place, so all of them get the content back. Room is made first."""
        data = self._store.get(state.content)
        descriptor = os.open(self._name, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self._at)
        with open(descriptor, "wb", buffering=0) as file:
            if os.fstat(descriptor).st_ino != state.number:
                raise StoreError("it changed at this very moment")
            self._require_unchanged()
            if data and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(descriptor, 0, len(data))
            view = memoryview(data)
            while view:
                view = view[file.write(view) :]
            os.ftruncate(descriptor, len(data))
            os.fchmod(descriptor, state.mode)
            os.fsync(descriptor)

    def _bring(self, state: FileState) -> None:
        """What was moved aside comes back over a copy of ours, or into the place of what goes aside itself."""
        if self._now is not None and (self._now.loose or self._now.folder):
            self._take_away()
            try:
                self._aside.bring(self._at, self._name, state)
            except BaseException:
                self._restore()
                raise
        else:
            self._aside.bring(self._at, self._name, state)

    def _replace(self, state: FileState) -> None:
        """Make it beside and rename it over: a rename replaces a link and doesn't follow it."""
        beside = f".trimtab-undo-{hashlib.sha256(os.fsencode(self._name)).hexdigest()[:16]}.tmp"
        with suppress(OSError):
            os.unlink(beside, dir_fd=self._at)  # of one that was killed
        try:
            self._make(beside, state)
            self._require_unchanged()
            cleared = state.folder or (self._now is not None and (self._now.folder or self._now.loose))
            if cleared and self._now is not None:
                self._take_away()
            try:
                os.rename(beside, self._name, src_dir_fd=self._at, dst_dir_fd=self._at)
            except BaseException:
                if cleared and self._now is not None:
                    self._restore()
                raise
        except BaseException:
            with suppress(OSError):
                (os.rmdir if state.folder else os.unlink)(beside, dir_fd=self._at)
            raise

    def _make(self, name: str, state: FileState) -> None:
        if state.folder:
            os.mkdir(name, dir_fd=self._at)
            if state.mode:
                os.chmod(name, state.mode, dir_fd=self._at)
        elif state.link:
            os.symlink(state.content, name, dir_fd=self._at)
        else:
            _write(self._at, name, self._store.get(state.content), state.mode)

    def _take_away(self) -> None:
        """Let nothing stand there: what no copy is kept of is moved aside; a folder must be empty."""
        if self._now is None:
            return
        if self._now.folder:
            os.rmdir(self._name, dir_fd=self._at)
        elif self._now.loose:
            self._aside.take(self._at, self._name, self._now)
        else:
            os.unlink(self._name, dir_fd=self._at)

    def _restore(self) -> None:
        """Bring back what was taken away."""
        if self._now is not None and self._now.loose:
            self._aside.bring(self._at, self._name, self._now)
        elif self._now is not None:
            self._make(self._name, self._now)

    def _require_unchanged(self) -> None:
        if mark_of(self._name, self._at) != self._mark:
            raise StoreError("it changed at this very moment")


def _write(at: int, name: str, data: bytes, mode: int) -> None:
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=at)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fchmod(descriptor, stat.S_IMODE(mode))
        os.fsync(descriptor)
