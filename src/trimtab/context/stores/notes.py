"""Memos: texts that a model puts aside by a key, so that they can leave the window.

    write(key, content) ──▶ temporary file, fsync, read back, compare ──▶ FOLDER/KEY/000003.memo ──▶ MemoInfo
    read(key) ──▶ the newest version, its hash checked          delete(key) ──▶ one more version, which says that it is gone

A version is never overwritten or removed: a later write, or a delete, is a file of its own, and `read(key, version=2)` still finds what
was there. A key may be any text; its folder is named by a readable rest of it and its hash. A file is a JSON line about the content,
then the content itself, so a person can read it with anything.

The one rule: what `write` returned was read back from the disk. When it raises, nothing has changed, and the content must stay where it is.
"""

import hashlib
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Protocol

import msgspec

from trimtab.context.stores.disk import Disk, disk, make_folder, store_errors, sync_folder, timestamp, write_all
from trimtab.context.stores.exclusive import exclusive
from trimtab.types.errors import StoreError
from trimtab.types.text import scrub

_SUFFIX = ".memo"
_SLUG = 32
Now = Callable[[], datetime]


class MemoInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of a memo without its content; the first line of its file."""

    key: str
    """What it is called."""
    summary: str
    """What it holds, in a line."""
    size: int
    """Bytes of the content in UTF-8."""
    hash: str
    """SHA-256 of these bytes, in hexadecimal."""
    version: int
    """Counts from 1 for each key."""
    written: str
    """When; RFC 3339, UTC."""
    deleted: bool = False
    """Whether this version says that the memo is gone."""
    format: int = 1
    """Version of this format."""


class Memo(msgspec.Struct, frozen=True):
    """A memo with its content."""

    info: MemoInfo
    """About it."""
    content: str
    """The text that was put aside."""


class MemoStore(Protocol):
    """Memos by key. Blanks and line ends in a key count as one blank each."""

    def write(self, key: str, content: str, *, summary: str = "") -> MemoInfo:
        """Keep a version that was verified. Raises `StoreError`; then nothing has changed."""
        ...

    def read(self, key: str, *, version: int | None = None) -> Memo | None:
        """Return the newest version, None when there is none or it was deleted; or one version. Raises `StoreError` for a damaged one."""
        ...

    def infos(self) -> tuple[MemoInfo, ...]:
        """Return the newest version of each memo that isn't deleted, by key."""
        ...

    def delete(self, key: str) -> MemoInfo | None:
        """Say that the memo is gone, keep its versions, and return what it was; None when there was none. Raises `StoreError`."""
        ...


class MemoFolder:
    """Memos in a folder, which is made when the first one comes. Safe for threads and for other processes in the same folder."""

    def __init__(self, folder: Path, *, now: Now, disk: Disk = disk) -> None:
        self.folder = folder
        self._now = now
        self._disk = disk

    def write(self, key: str, content: str, *, summary: str = "") -> MemoInfo:
        """Keep a version that was read back and compared. Raises `StoreError`; then nothing has changed."""
        key, content, summary = clean_key(key), scrub(content), scrub(summary)
        with self._locked(key) as place:
            numbers = _numbers(place)
            with suppress(StoreError):  # a damaged version is no reason not to write the next one
                newest = _read(place, numbers[-1]) if numbers else None
                if newest is not None and _same(newest, content, summary):
                    return newest.info
            info = _info(key, content, summary, _next(numbers), self._now())
            _put(place, info, content, self._disk)
        return info

    def read(self, key: str, *, version: int | None = None) -> Memo | None:
        """Return the newest version, None when there is none or it was deleted; or one version. Raises `StoreError` for a damaged one."""
        place = self._place(clean_key(key))
        numbers = _numbers(place)
        if version is not None:
            return _read(place, version) if version in numbers else None
        newest = _read(place, numbers[-1]) if numbers else None
        return None if newest is None or newest.info.deleted else newest

    def infos(self) -> tuple[MemoInfo, ...]:
        """Return the newest version of each memo that isn't deleted, by key, as its first line has it: contents aren't read."""
        found = (_newest_headline(place) for place in _folders(self.folder))
        return tuple(sorted((info for info in found if info and not info.deleted), key=lambda info: info.key))

    def delete(self, key: str) -> MemoInfo | None:
        """Say that the memo is gone, keep its versions, and return what it was; None when there was none. Raises `StoreError`."""
        key = clean_key(key)
        if not _numbers(self._place(key)):
            return None
        with self._locked(key) as place:
            numbers = _numbers(place)
            newest = _newest_headline(place)
            if newest is None or newest.deleted:
                return None
            gone = msgspec.structs.replace(_info(key, "", "", _next(numbers), self._now()), deleted=True)
            _put(place, gone, "", self._disk)
        return newest

    def _place(self, key: str) -> Path:
        slug = re.sub(r"[^A-Za-z0-9]+", "-", key).strip("-")[:_SLUG].lower()
        digest = hashlib.sha256(key.encode()).hexdigest()[:32]
        return self.folder / (f"{slug}-{digest}" if slug else digest)

    @contextmanager
    def _locked(self, key: str) -> Iterator[Path]:
        place = self._place(key)
        if not place.is_dir():
            make_folder(place)
            sync_folder(self.folder)
        with exclusive(place / ".lock"):
            yield place


class MemoDict:
    """Memos of a session without a folder. Not safe for two threads at once."""

    def __init__(self, *, now: Now) -> None:
        self._now = now
        self._kept: dict[str, list[Memo]] = {}

    def write(self, key: str, content: str, *, summary: str = "") -> MemoInfo:
        """Keep a version."""
        key, content, summary = clean_key(key), scrub(content), scrub(summary)
        versions = self._kept.setdefault(key, [])
        if not versions or not _same(versions[-1], content, summary):
            versions.append(Memo(_info(key, content, summary, len(versions) + 1, self._now()), content))
        return versions[-1].info

    def read(self, key: str, *, version: int | None = None) -> Memo | None:
        """Return the newest version, None when there is none or it was deleted; or one version."""
        versions = self._kept.get(clean_key(key), [])
        if version is not None:
            return versions[version - 1] if 0 < version <= len(versions) else None
        return versions[-1] if versions and not versions[-1].info.deleted else None

    def infos(self) -> tuple[MemoInfo, ...]:
        """Return the newest version of each memo that isn't deleted, by key."""
        newest = (versions[-1].info for _, versions in sorted(self._kept.items()))
        return tuple(info for info in newest if not info.deleted)

    def delete(self, key: str) -> MemoInfo | None:
        """Say that the memo is gone, keep its versions, and return what it was; None when there was none."""
        memo = self.read(key)
        if memo is None:
            return None
        versions = self._kept[memo.info.key]
        gone = msgspec.structs.replace(_info(memo.info.key, "", "", len(versions) + 1, self._now()), deleted=True)
        versions.append(Memo(gone, ""))
        return memo.info


def clean_key(key: str) -> str:
    """Return the key as it is kept: encodable, and one line in any list."""
    return " ".join(scrub(key).split())


def _info(key: str, content: str, summary: str, version: int, moment: datetime) -> MemoInfo:
    data = content.encode()
    return MemoInfo(key, summary, len(data), hashlib.sha256(data).hexdigest(), version, timestamp(moment))


def _same(memo: Memo, content: str, summary: str) -> bool:
    return not memo.info.deleted and (memo.content, memo.info.summary) == (content, summary)


def _put(place: Path, info: MemoInfo, content: str, disk: Disk) -> None:
    """Write a version under another name, read it back, and give it its name only when it is what was written."""
    path = place / f"{info.version:06d}{_SUFFIX}"
    temporary = place / f".{path.name}.{secrets.token_hex(4)}"
    data = msgspec.json.encode(info) + b"\n" + content.encode()
    try:
        with store_errors(path):
            fd = disk.open(temporary, create=True)
            try:
                write_all(disk, fd, data)
            finally:
                os.close(fd)
            if temporary.read_bytes() != data:
                raise StoreError(f"{str(path)!r} reads otherwise than it was written", hint="check the disk")
            temporary.rename(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(place)


def _read(place: Path, number: int) -> Memo:
    path = place / f"{number:06d}{_SUFFIX}"
    with store_errors(path):
        data = path.read_bytes()
    head, _, content = data.partition(b"\n")
    info = _decode(head)
    if info is None or hashlib.sha256(content).hexdigest() != info.hash:
        hint = "earlier versions lie beside it" if number > 1 else "it can't be read; check the disk"
        raise StoreError(f"memo file {str(path)!r} is damaged", hint=hint)
    return Memo(info, content.decode("utf-8", "replace"))


def _newest_headline(place: Path) -> MemoInfo | None:
    """What the newest version whose first line can be read says of itself."""
    heads = (_headline(place, number) for number in reversed(_numbers(place)))
    return next((head for head in heads if head is not None), None)


def _headline(place: Path, number: int) -> MemoInfo | None:
    try:
        with open(place / f"{number:06d}{_SUFFIX}", "rb") as file:
            return _decode(file.readline())
    except OSError:
        return None


def _decode(line: bytes) -> MemoInfo | None:
    try:
        return msgspec.json.decode(line, type=MemoInfo)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _numbers(place: Path) -> list[int]:
    """The versions in a folder, oldest first."""
    names = (entry.name for entry in _entries(place) if entry.name.endswith(_SUFFIX))
    return sorted(int(stem) for name in names if (stem := name.removesuffix(_SUFFIX)).isdecimal())


def _next(numbers: list[int]) -> int:
    return numbers[-1] + 1 if numbers else 1


def _folders(folder: Path) -> Iterator[Path]:
    return (Path(entry.path) for entry in _entries(folder) if entry.is_dir())


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []
