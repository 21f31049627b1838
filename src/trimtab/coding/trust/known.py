"""What was answered so far: `trust.json`, which people may read and edit.

    {"folders": {"/real/path": "folder" | "below" | "never"},
     "places":  {"/real/path": {"inode": 7, "born": 1700000000000000000}},      which folder it was
     "code":    {"/real/path": {"NAME": "SHA-256 of what may run"}}}

The one rule: what can't be read trusts nothing, and what isn't understood is kept. An entry without a place is of its path alone, as older versions wrote it.
"""

import json
import os
import secrets
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from trimtab.coding.trust.answers import STORED, StoredAnswer
from trimtab.coding.trust.place import Identity, Place
from trimtab.context.stores.disk import sync_folder
from trimtab.context.stores.exclusive import exclusive
from trimtab.context.stores.private import make_private
from trimtab.types.errors import ConfigError, StoreError

T = TypeVar("T")
_Data: TypeAlias = dict[str, Any]
_SECTIONS = ("folders", "places", "code")
_LARGEST = 64_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored answer. `identity` is that of the folder that was there; None in what an older version wrote."""

    path: str
    answer: StoredAnswer
    identity: Identity | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """All stored answers by path; `places` says which folders those were, `code` has the hashes of what may run, by folder and name."""

    folders: Mapping[str, Entry] = field(default_factory=dict)
    places: Mapping[str, Identity] = field(default_factory=dict)
    code: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def read_known(file: Path) -> Known:
    """Read the answers; none when there is no file. Raises `ConfigError` when the file is damaged, or others may write it."""
    data = _read(file)
    places = {path: place for path, value in data["places"].items() if (place := _identity(value)) is not None}
    folders = {
        path: Entry(path, answer, places.get(path))
        for path, word in data["folders"].items()
        if (answer := _answer(word)) is not None
    }
    code = {
        path: {name: digest for name, digest in hashes.items() if isinstance(digest, str)}
        for path, hashes in data["code"].items()
        if isinstance(hashes, dict)
    }
    return Known(folders, places, code)


def remember(file: Path, place: Place, answer: StoredAnswer) -> None:
    """Store an answer about `place`. Code that was trusted stays so if it is the same folder and the answer no `never`. Raises `ConfigError`."""

    def change(data: _Data) -> None:
        before = _identity(data["places"].get(place.path))
        other = before is not None and place.identity is not None and not before.is_same(place.identity)
        if answer == "never" or other:
            data["code"].pop(place.path, None)
        data["folders"][place.path] = answer
        _note(data, place)

    _edit(file, change)


def remember_code(file: Path, place: Place, digests: Mapping[str, str]) -> None:
    """Store the hashes of what may run in `place`, by name. Raises `ConfigError`."""

    def change(data: _Data) -> None:
        listed = data["code"].get(place.path)
        before = _identity(data["places"].get(place.path))
        other = before is not None and place.identity is not None and not before.is_same(place.identity)
        kept = listed if isinstance(listed, dict) and not other else {}
        data["code"][place.path] = {**kept, **digests}
        if place.path not in data["folders"]:
            _note(data, place)

    _edit(file, change)


def forget(file: Path, path: str) -> bool:
    """Take out all that is stored about the folder `path`; False when nothing was. Raises `ConfigError`."""

    def change(data: _Data) -> bool:
        return any([data[section].pop(path, None) is not None for section in _SECTIONS])

    return _edit(file, change) if path in _paths(_read(file)) else False


def _paths(data: _Data) -> set[str]:
    return {path for section in _SECTIONS for path in data[section]}


def _note(data: _Data, place: Place) -> None:
    if place.identity is None:
        data["places"].pop(place.path, None)
    else:
        data["places"][place.path] = {"inode": place.identity.inode, "born": place.identity.born}


def _answer(word: object) -> StoredAnswer | None:
    return next((answer for answer in STORED.values() if word == answer), None)


def _identity(value: object) -> Identity | None:
    if not isinstance(value, dict):
        return None
    inode, born = value.get("inode"), value.get("born")
    return Identity(inode, born if isinstance(born, int) else None) if isinstance(inode, int) else None


def _read(file: Path) -> _Data:
    """The file's content with each section there. Raises `ConfigError`."""
    text = _text(file)
    try:
        data = json.loads(text) if text is not None else {}
    except (ValueError, RecursionError) as e:
        raise _damaged(file, str(e)) from None
    if not isinstance(data, dict):
        raise _damaged(file, "it holds no table")
    for section in _SECTIONS:
        if not isinstance(data.setdefault(section, {}), dict):
            raise _damaged(file, f"{section!r} in it is no table")
    return data


def _text(file: Path) -> str | None:
    try:
        fd = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as e:
        raise _damaged(file, e.strerror or str(e)) from None
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):  # before a file is made of it, which a folder can't be
        os.close(fd)
        raise _damaged(file, "it is no regular file")
    with os.fdopen(fd, "rb") as stream:
        _refuse_foreign(file, status)
        try:
            return stream.read(_LARGEST).decode("utf-8")
        except (OSError, UnicodeDecodeError) as e:
            raise _damaged(file, str(e)) from None


def _refuse_foreign(file: Path, status: os.stat_result) -> None:
    if status.st_mode & 0o022:
        raise ConfigError(
            f"{file} isn't believed: other users may write it (mode {stat.S_IMODE(status.st_mode):o}), so nothing is trusted",
            hint=f"Look at what it says, then: chmod 600 {file}",
        )
    if os.geteuid() not in (0, status.st_uid) and status.st_uid != 0:
        raise ConfigError(
            f"{file} isn't believed: it belongs to another user, so nothing is trusted",
            hint="Set TRIMTAB_HOME to a folder of yours, or move the file away.",
        )


def _damaged(file: Path, why: str) -> ConfigError:
    return ConfigError(
        f"{file} can't be read: {why}; nothing is trusted",
        hint="Correct the file, or move it away; folders will be asked about again.",
    )


def _edit(file: Path, change: Callable[[_Data], T]) -> T:
    real = Path(os.path.realpath(file))  # a link to a file elsewhere stays one
    try:
        make_private(real.parent)
        with exclusive(real.with_name(f".{real.name}.lock")):
            data = _read(real)
            result = change(data)
            kept = {name: value for name, value in data.items() if value or name not in _SECTIONS}
            _replace(real, json.dumps(kept, indent=2, sort_keys=True) + "\n")
            return result
    except (OSError, StoreError) as e:
        why = (e.strerror if isinstance(e, OSError) else None) or str(e)
        raise ConfigError(
            f"the decision to trust can't be kept in {file}: {why}",
            hint="Use --trust once, or set TRIMTAB_HOME to a folder you may write.",
        ) from None


def _replace(file: Path, text: str) -> None:
    beside = file.with_name(f".{file.name}.{secrets.token_hex(8)}.tmp")
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(fd)
        beside.replace(file)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    sync_folder(file.parent)
