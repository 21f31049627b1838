"""pi sessions: JSON lines behind a `session` line. The first version is a list; later ones are a tree by `id` and `parentId`.

Usage is already disjoint. Calls that were aborted carry zeros, which is no usage at all.
"""

from typing import Any

from trimtab.sessions.importers.pi_entries import read_entries
from trimtab.sessions.importers.values import mapping_of, text_of
from trimtab.sessions.recorded import Recording
from trimtab.sessions.source import Source

NAME = "pi"

_ROLES = frozenset({"user", "assistant", "toolResult", "bashExecution"})


def fits(record: Any) -> bool:
    """Say whether a line is one of these."""
    record = mapping_of(record)
    if record.get("type") == "session":
        return "timestamp" in record and "format" not in record
    if record.get("type") != "message" or "parent" in record or "parent_id" in record:
        return False
    return "timestamp" in record and text_of(mapping_of(record.get("message")).get("role")) in _ROLES


def read(source: Source) -> list[Recording]:
    """Return the session in a file."""
    return read_entries(source, NAME)
