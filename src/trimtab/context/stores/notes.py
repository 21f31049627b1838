"""Memos: texts that a model puts aside by a key, so that they can leave the window.

    write(key, content) ──▶ temporary file, fsync, read back, compare ──▶ FOLDER/KEY/000003.memo ──▶ MemoInfo
    read(key) ──▶ the newest version, its hash checked          delete(key) ──▶ one more version, which says that it is gone

A version is never overwritten or removed: a later write, or a delete, is a file of its own, and `read(key, version=2)` still finds what
was there. A key may be any text; its folder is named by a readable rest of it and its hash. A fork reads the memos of the session that
it came from, and writes its own.

The one rule: what `write` returned was read back from the disk. When it raises, nothing has changed, and the content must stay where it is.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Protocol

import msgspec

from trimtab.context.stores.disk import Disk, disk, make_folder, sync_folder, timestamp
from trimtab.context.stores.exclusive import exclusive
from trimtab.context.stores.note_files import (
    Memo,
    MemoInfo,
    entries_of,
    headline,
    place_name,
    put_version,
    read_version,
    version_files,
)
from trimtab.types.errors import StoreError
from trimtab.types.text import scrub

Now = Callable[[], datetime]


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
    """Memos in a folder, which is made when the first one comes. Safe for threads and for other processes in the same folder.

    `others` are folders that are only read, the nearest first: those of the sessions that this one was forked from.
    """

    def __init__(self, folder: Path, *, now: Now, others: Iterable[Path] = (), disk: Disk = disk) -> None:
        self.folder = folder
        self._others = tuple(others)
        self._now = now
        self._disk = disk

    def write(self, key: str, content: str, *, summary: str = "") -> MemoInfo:
        """Keep a version that was read back and compared. Raises `StoreError`; then nothing has changed."""
        key, content, summary = clean_key(key), scrub(content), scrub(summary)
        with self._locked(key) as place:
            files = self._newer(key)
            with suppress(StoreError):  # a damaged version is no reason not to write the next one
                newest = read_version(list(files.values())[-1]) if files else None
                if newest is not None and _same(newest, content, summary):
                    return newest.info
            info = _info(key, content, summary, max(files, default=0) + 1, self._now())
            put_version(place, info, content, disk=self._disk)
        return info

    def read(self, key: str, *, version: int | None = None) -> Memo | None:
        """Return the newest version, None when there is none or it was deleted; or one version. Raises `StoreError` for a damaged one."""
        key = clean_key(key)
        if version is not None:
            found = (version_files(folder / place_name(key)).get(version) for folder in (self.folder, *self._others))
            path = next((path for path in found if path is not None), None)
            return None if path is None else read_version(path)
        files = self._newer(key)
        newest = read_version(list(files.values())[-1]) if files else None
        return None if newest is None or newest.info.deleted else newest

    def infos(self) -> tuple[MemoInfo, ...]:
        """Return the newest version of each memo that isn't deleted, by key, as its first line has it: contents aren't read.

        Raises `StoreError`.
        """
        newest: dict[str, MemoInfo] = {}
        for folder in (*reversed(self._others), self.folder):
            for place in entries_of(folder):
                if info := _newest_headline(version_files(place)):
                    newest[place.name] = info
        return tuple(sorted((info for info in newest.values() if not info.deleted), key=lambda info: info.key))

    def delete(self, key: str) -> MemoInfo | None:
        """Say that the memo is gone, keep its versions, and return what it was; None when there was none. Raises `StoreError`."""
        key = clean_key(key)
        if not self._newer(key):
            return None
        with self._locked(key) as place:
            files = self._newer(key)
            newest = _newest_headline(files)
            if newest is None or newest.deleted:
                return None
            gone = msgspec.structs.replace(_info(key, "", "", max(files) + 1, self._now()), deleted=True)
            put_version(place, gone, "", disk=self._disk)
        return newest

    def _newer(self, key: str) -> dict[int, Path]:
        """The versions of the nearest folder that has any, oldest first."""
        found = (version_files(folder / place_name(key)) for folder in (self.folder, *self._others))
        return next((files for files in found if files), {})

    @contextmanager
    def _locked(self, key: str) -> Iterator[Path]:
        place = self.folder / place_name(key)
        if not place.is_dir():
            make_folder(place)
            sync_folder(self.folder)
        with exclusive(place / ".lock"):
            yield place


class MemoDict:
    """Memos of a session without a folder. Safe for threads."""

    def __init__(self, *, now: Now) -> None:
        self._now = now
        self._kept: dict[str, list[Memo]] = {}
        self._guard = Lock()

    def write(self, key: str, content: str, *, summary: str = "") -> MemoInfo:
        """Keep a version."""
        key, content, summary = clean_key(key), scrub(content), scrub(summary)
        with self._guard:
            versions = self._kept.get(key, [])
            if versions and _same(versions[-1], content, summary):
                return versions[-1].info
            memo = Memo(_info(key, content, summary, len(versions) + 1, self._now()), content)
            self._kept.setdefault(key, versions).append(memo)
        return memo.info

    def read(self, key: str, *, version: int | None = None) -> Memo | None:
        """Return the newest version, None when there is none or it was deleted; or one version."""
        with self._guard:
            return self._read(clean_key(key), version)

    def history(self) -> tuple[Memo, ...]:
        """Return every version of every memo, key by key, deletions too: written anew in this order, they make the same store."""
        with self._guard:
            return tuple(memo for versions in self._kept.values() for memo in versions)

    def infos(self) -> tuple[MemoInfo, ...]:
        """Return the newest version of each memo that isn't deleted, by key."""
        with self._guard:
            newest = [versions[-1].info for _, versions in sorted(self._kept.items())]
        return tuple(info for info in newest if not info.deleted)

    def delete(self, key: str) -> MemoInfo | None:
        """Say that the memo is gone, keep its versions, and return what it was; None when there was none."""
        with self._guard:
            memo = self._read(clean_key(key), None)
            if memo is None:
                return None
            versions = self._kept[memo.info.key]
            gone = msgspec.structs.replace(_info(memo.info.key, "", "", len(versions) + 1, self._now()), deleted=True)
            versions.append(Memo(gone, ""))
        return memo.info

    def _read(self, key: str, version: int | None) -> Memo | None:
        versions = self._kept.get(key, [])
        if version is not None:
            return versions[version - 1] if 0 < version <= len(versions) else None
        return versions[-1] if versions and not versions[-1].info.deleted else None


def clean_key(key: str) -> str:
    """Return the key as it is kept: encodable, and one line in any list."""
    return " ".join(scrub(key).split())


def memos_beside(session: Path) -> Path:
    """Return the folder for the memos of a session file that lies outside the home folder."""
    return session.with_name(session.name + ".memos")


def _newest_headline(files: dict[int, Path]) -> MemoInfo | None:
    """What the newest version whose first line can be read says of itself."""
    heads = (headline(path) for path in reversed(files.values()))
    return next((head for head in heads if head is not None), None)


def _info(key: str, content: str, summary: str, version: int, moment: datetime) -> MemoInfo:
    data = content.encode()
    return MemoInfo(key, summary, len(data), hashlib.sha256(data).hexdigest(), version, timestamp(moment))


def _same(memo: Memo, content: str, summary: str) -> bool:
    return not memo.info.deleted and (memo.content, memo.info.summary) == (content, summary)
