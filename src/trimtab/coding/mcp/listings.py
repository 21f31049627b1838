"""What servers offered when they were last asked, a file for each configuration, so that a session needn't start one to know its tools.

    ServerConfig.key ──▶ CACHE/mcp/KEY.json ──▶ Listing      gone, damaged, of another version ──▶ None: it is asked

A cache in every sense: nothing is lost with it, and a server that is started corrects it.
"""

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from trimtab.coding.mcp.values import Listing
from trimtab.context.stores.private import make_private

_FORMAT = 1
_LARGEST = 40_000_000


class _Kept(msgspec.Struct, frozen=True):
    format: int
    listing: Listing


@dataclass(frozen=True, slots=True)
class Listings:
    """The files in one folder. All of it touches the disk."""

    folder: Path

    def read(self, key: str) -> Listing | None:
        """What was kept under `key`."""
        try:
            with self._file(key).open("rb") as file:
                kept = msgspec.json.decode(file.read(_LARGEST), type=_Kept)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        return kept.listing if kept.format == _FORMAT else None

    def write(self, key: str, listing: Listing) -> None:
        """Keep it; what can't be kept is asked again."""
        path = self._file(key)
        beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
        with suppress(OSError):
            make_private(self.folder)
            fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(fd, "wb") as out:
                out.write(msgspec.json.encode(_Kept(_FORMAT, listing)))
            beside.replace(path)

    def forget(self, key: str) -> None:
        """Have it asked again."""
        self._file(key).unlink(missing_ok=True)

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.json"
