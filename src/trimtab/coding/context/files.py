"""Archived bodies as files: the way back for a model that has no `recall` but can read files.

A body leaves the window only after its file was written and read back.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from trimtab.coding.context.engine import file_name
from trimtab.coding.tools.capture import PrivateFolder
from trimtab.context.asks import Answer, Failed, Kept


@dataclass(frozen=True, slots=True)
class ArchiveFiles:
    """Writes into one private folder."""

    folder: PrivateFolder

    def keep(self, texts: dict[str, str]) -> Answer:
        """Write each text to its file, make sure that it can be read, and answer with the paths."""
        paths: dict[str, str] = {}
        try:
            folder = self.folder.ensure()
            for name, text in texts.items():
                path = folder / file_name(name)
                data = text.encode("utf-8", "surrogateescape")
                if not _holds(path, data):
                    path = self.folder.put(path.name, data)
                    if not _holds(path, data):
                        return Failed(f"{path} can't be read back")
                paths[name] = str(path)
        except (OSError, ValueError) as problem:
            return Failed(str(problem))
        return Kept(paths)


def _holds(path: Path, data: bytes) -> bool:
    try:
        found = path.read_bytes()
    except OSError:
        return False
    return hashlib.sha256(found).digest() == hashlib.sha256(data).digest()
