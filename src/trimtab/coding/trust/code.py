"""Code of a project that would run (an extension, a hook, the command of a server) is trusted by its content, beyond the folder.

    files or texts ──read once──▶ bytes ──SHA-256──▶ as stored for this folder and name? ──▶ trusted: run these bytes
                                                  └─▶ new, or changed: a person is shown it, or the difference, and asked

The one rule: what is hashed is what runs. So a decision carries the bytes that it is about; nobody opens the path again. What was trusted is kept as a copy
below Trimtab's home, so that a change can be shown as one.
"""

import hashlib
import os
import re
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from trimtab.coding.tools.diffs import unified
from trimtab.coding.trust.known import read_known, remember_code
from trimtab.coding.trust.place import place_of
from trimtab.context.stores.private import make_private

LARGEST = 4_000_000
"""Bytes of one piece of code; more isn't run."""
LARGEST_COPY = 1_000_000
"""Bytes of a piece that are kept to show a difference later."""
_LONGEST_DIFF = 40_000
_DIGEST = re.compile("[0-9a-f]{64}")

Items: TypeAlias = Mapping[str, bytes | Path]
"""What would run, by a name that stays the same when its content changes."""


@dataclass(frozen=True, slots=True)
class CodeDecision:
    """What may run (`trusted`), and what has to be asked about: `new` and `changed`. All hold the bytes that were judged; `unreadable` says why others aren't there."""

    trusted: Mapping[str, bytes] = field(default_factory=dict)
    new: Mapping[str, bytes] = field(default_factory=dict)
    changed: Mapping[str, bytes] = field(default_factory=dict)
    unreadable: Mapping[str, str] = field(default_factory=dict)


def code_decision(store: Path, folder: Path, items: Items) -> CodeDecision:
    """Say which of the project `folder`'s `items` may run by what `store` (`trust.json`) says. Raises `ConfigError` when that is damaged.

    That the folder itself is trusted comes first, and is not asked here. Another folder at the same path has no trusted code.
    """
    place, known = place_of(folder), read_known(store)
    noted = known.places.get(place.path)
    same = noted is None or (place.identity is not None and noted.is_same(place.identity))
    hashes = known.code.get(place.path, {}) if same else {}
    found, unreadable = read_items(items)
    trusted: dict[str, bytes] = {}
    new: dict[str, bytes] = {}
    changed: dict[str, bytes] = {}
    for name, data in found.items():
        stored = hashes.get(name)
        if stored is None:
            new[name] = data
        else:
            (trusted if stored == digest_of(data) else changed)[name] = data
    return CodeDecision(trusted, new, changed, unreadable)


def trust_code(store: Path, copies: Path, folder: Path, items: Mapping[str, bytes]) -> None:
    """Let `items` (the bytes that were shown) run in the project `folder` from now on; `copies` is the folder that keeps them. Raises `ConfigError`."""
    remember_code(store, place_of(folder), {name: digest_of(data) for name, data in items.items()})
    with suppress(OSError):  # a copy is a convenience
        for data in items.values():
            if len(data) <= LARGEST_COPY:
                _keep(copies, data)
        _sweep(copies, store)


def difference(store: Path, copies: Path, folder: Path, name: str, data: bytes) -> str | None:
    """The difference between what was trusted under `name` and `data`, as hunks; None when the old text wasn't kept, or either is no text, or it is too long."""
    stored = read_known(store).code.get(place_of(folder).path, {}).get(name)
    old = _kept(copies, stored) if stored else None
    if old is None or b"\0" in old + data:
        return None
    return unified(old.decode("utf-8", "replace"), data.decode("utf-8", "replace"), size=_LONGEST_DIFF)


def read_items(items: Items) -> tuple[dict[str, bytes], dict[str, str]]:
    """The bytes of `items`, each file read once, and why others can't be had."""
    found: dict[str, bytes] = {}
    unreadable: dict[str, str] = {}
    for name, item in items.items():
        try:
            data = item if isinstance(item, bytes) else _read(item)
        except OSError as e:
            unreadable[name] = e.strerror or str(e)
            continue
        if len(data) > LARGEST:
            unreadable[name] = f"larger than {LARGEST:,} bytes"
        else:
            found[name] = data
    return found, unreadable


def digest_of(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def _read(path: Path) -> bytes:
    """A file's bytes, one more than may be at most. A link or a pipe is none; `own_path` resolves links that may be followed."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError("no regular file")
        return file.read(LARGEST + 1)


def _keep(copies: Path, data: bytes) -> None:
    path = copies / digest_of(data)
    beside = copies / f".{path.name}.{secrets.token_hex(8)}.tmp"
    make_private(copies)
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as out:
        out.write(data)
    beside.replace(path)


def _kept(copies: Path, digest: str) -> bytes | None:
    """The copy with that hash; None when there is none, or it isn't what it was."""
    if not _DIGEST.fullmatch(digest):
        return None  # other words in the file are no name
    try:
        data = _read(copies / digest)
    except OSError:
        return None
    return data if digest_of(data) == digest else None


def _sweep(copies: Path, store: Path) -> None:
    """Remove copies that no folder's code is any more. A copy is stored after its hash, so one that is listed before hashes are read is known by then."""
    names = [name for name in os.listdir(copies) if _DIGEST.fullmatch(name)]
    used = {digest for hashes in read_known(store).code.values() for digest in hashes.values()}
    for name in set(names) - used:
        (copies / name).unlink(missing_ok=True)
