"""A session as JSON lines: the messages of either vendor, or a session file of our own with nothing left beside it.

Ours keeps every entry of every branch, ids and fields that this version doesn't know included; large bodies stand in it whole.
"""

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from trimtab.context.archive import Archive
from trimtab.context.stores.bodies import BodyStore, inflate
from trimtab.context.vendor.formats import format_named
from trimtab.context.vendor.turns import nothing_known
from trimtab.sessions.export.redacted import value_without_secrets, without_secrets
from trimtab.sessions.export.story import messages_of
from trimtab.types.codec import Entry, encode_entry
from trimtab.types.entries import Header, MessageEntry


def vendor_lines(archive: Archive, bodies: BodyStore, name: str) -> Iterator[bytes]:
    """Yield the conversation in the format `openai` or `anthropic`, a message a line. Edits leave no trace: it is what was said, not what was shown."""
    for message in format_named(name).encode(messages_of(archive, bodies), nothing_known):
        yield msgspec.json.encode(message) + b"\n"


def session_lines(header: Header, archive: Archive, bodies: BodyStore) -> Iterator[bytes]:
    """Yield the lines of a session file."""
    yield encode_entry(header) + b"\n"
    for entry in archive:
        yield json.dumps(_line(entry, bodies), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _line(entry: Entry, bodies: BodyStore) -> dict[str, Any]:
    value = entry.value
    if isinstance(value, MessageEntry):
        whole = msgspec.structs.replace(value, message=without_secrets(inflate(value.message, bodies)))
        data = {**_fields(entry), **msgspec.to_builtins(whole)}
    else:
        data = value_without_secrets(_fields(entry))
    return {**data, "type": entry.type, "id": entry.id, "parent": entry.parent}


def _fields(entry: Entry) -> dict[str, Any]:
    try:
        fields = json.loads(entry.raw.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}
