"""Where the extensions in Trimtab's home came from: `.added.json` beside them.

    {"format": 1, "extensions": {"NAME": {"source": …, "ref": …, "commit": …, "package": …, "files": {PATH: SHA-256}}}}

The one rule: an extension without an entry is the person's own, and nothing here takes it away.
"""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

import msgspec

from trimtab.coding.extensions.find import NAME
from trimtab.coding.telling.printable import one_path
from trimtab.types.errors import ConfigError

_LARGEST = 10_000_000


class Added(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where one came from, and what its files were; `files` are hashes (SHA-256) by paths in it."""

    source: str
    ref: str = ""
    commit: str = ""
    package: bool = False
    files: dict[str, str] = {}


class _Record(msgspec.Struct, frozen=True):
    format: int = 1
    extensions: dict[str, Added] = {}


def read_record(folder: Path) -> dict[str, Added]:
    """What is known of the extensions in `folder`. Raises `ConfigError` when the record can't be read."""
    path = folder / ".added.json"
    try:
        with open(path, "rb") as file:
            found = msgspec.json.decode(file.read(_LARGEST), type=_Record)
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.MsgspecError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise ConfigError(
            f"{one_path(path)} can't be read: {why}", hint="Move it away; the extensions stay, as your own."
        ) from None
    if found.format != 1:
        raise ConfigError(f"{one_path(path)} was written by a newer Trimtab", hint="Update Trimtab.")
    odd = next((name for name in found.extensions if not NAME.fullmatch(name)), None)
    if odd is not None:
        raise ConfigError(
            f"{one_path(path)} names an extension {one_path(odd)}",
            hint="Move it away; the extensions stay, as your own.",
        )
    return found.extensions


def write_record(folder: Path, extensions: Mapping[str, Added]) -> None:
    """Put it in place of the old one. Raises `OSError`."""
    beside = folder / f".added.{secrets.token_hex(8)}.tmp"
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as out:
            out.write(msgspec.json.format(msgspec.json.encode(_Record(extensions=dict(extensions)))))
            out.flush()
            os.fsync(out.fileno())
        beside.replace(folder / ".added.json")
    finally:
        beside.unlink(missing_ok=True)
