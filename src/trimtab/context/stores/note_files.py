"""The files of one memo: a version each, written once, checked whenever it is read.

    FOLDER/the-ledger-3f…/000002.memo     a JSON line about the content (`MemoInfo`), then the content itself

A version gets its name only after what lies under a temporary one was synced, read back and compared.
"""

import hashlib
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

import msgspec

from trimtab.context.stores.disk import Disk, store_errors, sync_folder, write_all
from trimtab.types.errors import StoreError

_SUFFIX = ".memo"
_SLUG = 32


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


def place_name(key: str) -> str:
    """Return the name of a memo's folder: what is readable of its key, and the key's hash."""
    slug = re.sub(r"[^A-Za-z0-9]+", "-", key).strip("-")[:_SLUG].lower()
    digest = hashlib.sha256(key.encode()).hexdigest()[:32]
    return f"{slug}-{digest}" if slug else digest


def version_files(place: Path) -> dict[int, Path]:
    """Return the versions in a memo's folder, oldest first; none where there is no such folder. Raises `StoreError`."""
    files = {int(stem): path for path in entries_of(place) if (stem := _number_in(path.name)).isdecimal()}
    return dict(sorted(files.items()))


def entries_of(folder: Path) -> list[Path]:
    """Return what lies in a folder; nothing where it doesn't exist. Raises `StoreError` for one that can't be looked into."""
    with store_errors(folder):
        try:
            with os.scandir(folder) as found:
                return [Path(entry.path) for entry in found]
        except (FileNotFoundError, NotADirectoryError):
            return []


def put_version(place: Path, info: MemoInfo, content: str, *, disk: Disk) -> None:
    """Write a version that wasn't there, and return when it was read back. Raises `StoreError`, and leaves nothing then."""
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


def read_version(path: Path) -> Memo:
    """Return a version whose content is what its hash says. Raises `StoreError`."""
    with store_errors(path):
        data = path.read_bytes()
    head, _, content = data.partition(b"\n")
    info = _decode(head)
    if info is None or hashlib.sha256(content).hexdigest() != info.hash:
        raise StoreError(f"memo file {str(path)!r} is damaged", hint="check the disk; earlier versions lie beside it")
    return Memo(info, content.decode("utf-8", "replace"))


def headline(path: Path) -> MemoInfo | None:
    """Return what a version says of itself, or None when that can't be read. Its content isn't looked at."""
    try:
        with open(path, "rb") as file:
            return _decode(file.readline())
    except OSError:
        return None


def _decode(line: bytes) -> MemoInfo | None:
    try:
        return msgspec.json.decode(line, type=MemoInfo)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _number_in(name: str) -> str:
    return name.removesuffix(_SUFFIX) if name.endswith(_SUFFIX) and name.isascii() else ""
