"""tau sessions: JSON lines without a header, a tree by `id` and `parent_id`; times are seconds. The tip is the last entry of the file."""

from typing import Any

from trimtab.sessions.importers.pi_entries import read_entries
from trimtab.sessions.importers.values import is_number, mapping_of, text_of
from trimtab.sessions.recorded import Recording
from trimtab.sessions.source import Source

NAME = "tau"

_TYPES = frozenset(
    {
        "session_info",
        "model_change",
        "thinking_level_change",
        "message",
        "custom_message",
        "compaction",
        "branch_summary",
        "label",
        "custom",
        "leaf",
    }
)


def fits(record: Any) -> bool:
    """Say whether a line is one of these."""
    record = mapping_of(record)
    return text_of(record.get("type")) in _TYPES and "parent_id" in record and is_number(record.get("timestamp"))


def read(source: Source) -> list[Recording]:
    """Return the session in a file."""
    return read_entries(source, NAME)
