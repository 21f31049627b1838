"""Which folder a decision is about, and by what it is known again.

    where one works ──project_root──▶ its repository, or the folder itself ──place_of──▶ real path + inode + time of birth

A path alone says too little: another folder may be put there. An inode alone too: file systems give the number of a folder that is gone to the next
one that is made. The device is left out: its number changes with a reboot or a container. Source of the structure that `statx` fills: linux/stat.h.
"""

import ctypes
import os
import struct
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_EMPTY_PATH = 0x1000
_BIRTH = 0x800
_BIRTH_AT = 0x50
_OTHERS = frozenset({"node_modules", "site-packages", ".git"})
"""Folders that hold what others wrote, installed or made by a tool."""
_ONLY_NAME = getattr(os, "O_PATH", os.O_RDONLY)


@dataclass(frozen=True, slots=True)
class Identity:
    """What stays the same for as long as a folder exists: its inode, and when it was made (nanoseconds since 1970; None where that isn't known)."""

    inode: int
    born: int | None = None

    def is_same(self, other: "Identity") -> bool:
        """Whether both are of one folder: all that is known of both agrees."""
        return self.inode == other.inode and (self.born == other.born or None in (self.born, other.born))


@dataclass(frozen=True, slots=True)
class Place:
    """A folder: its real path, and what identifies it (None when it isn't there)."""

    path: str
    identity: Identity | None


def place_of(folder: str | os.PathLike[str]) -> Place:
    """The place that `folder` leads to."""
    real = os.path.realpath(folder)
    try:
        fd = os.open(real, _ONLY_NAME | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return Place(real, None)
    try:
        status = os.fstat(fd)
        return Place(real, Identity(status.st_ino, _born(fd, status)))
    except OSError:
        return Place(real, None)
    finally:
        os.close(fd)


def _born(fd: int, status: os.stat_result) -> int | None:
    """When the file behind `fd` was made; None where the system doesn't tell."""
    if sys.platform != "linux":
        seconds = getattr(status, "st_birthtime", None)
        return None if seconds is None else round(seconds * 1_000_000_000)
    statx = getattr(ctypes.CDLL(None), "statx", None)
    answer = ctypes.create_string_buffer(256)
    if statx is None or statx(fd, b"", _EMPTY_PATH, _BIRTH, answer) != 0:
        return None
    (told,) = struct.unpack_from("I", answer)
    seconds, nanoseconds = struct.unpack_from("qI", answer, _BIRTH_AT)
    return int(seconds) * 1_000_000_000 + int(nanoseconds) if told & _BIRTH else None


def project_root(cwd: Path, *, home: str | None = None) -> Path:
    """The folder that a decision about `cwd` is about, as a real path: the repository that it lies in, else itself.

    A `.git` that somebody else put above it makes no repository of it, nor does one in the `home` folder or above that: it would take in far too much. What was
    installed into a repository is no part of it.
    """
    real = os.path.realpath(cwd)
    too_wide = set(_upward(os.path.realpath(home))) if home else set()
    for folder in _upward(real):
        if folder in too_wide and folder != real:
            break
        if has_git(folder):
            return Path(folder) if _of_one_owner(real, folder, os.path.join(folder, ".git")) else Path(real)
        if os.path.basename(folder) in _OTHERS:
            break
    return Path(real)


def _of_one_owner(*paths: str) -> bool:
    try:
        return len({os.lstat(path).st_uid for path in paths}) == 1
    except OSError:
        return False


def has_git(folder: str) -> bool:
    """Whether a repository, a worktree or a submodule begins at `folder`."""
    return os.path.lexists(os.path.join(folder, ".git"))


def is_foreign(inner: str, outer: str) -> bool:
    """Whether the real path `inner` lies outside of `outer`, or in a repository of its own inside it, or in what was installed there."""
    for folder in _upward(inner):
        if folder == outer:
            return False
        if has_git(folder) or os.path.basename(folder) in _OTHERS:
            return True
    return True


def lies_in(inner: str, outer: str) -> bool:
    """Whether the real path `inner` is `outer` or below it."""
    return inner == outer or inner.startswith(outer.rstrip(os.sep) + os.sep)


def spelled_alike(one: str, other: str) -> bool:
    """Whether two paths differ at most as a file system that doesn't tell case or composed letters apart has them differ."""
    return _folded(one) == _folded(other)


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path.casefold())


def _upward(path: str) -> Iterator[str]:
    yield path
    while (above := os.path.dirname(path)) != path:
        path = above
        yield path


def above(path: str) -> Iterator[str]:
    """The folders above the real path `path`, the nearest first."""
    found = _upward(path)
    next(found)
    yield from found
