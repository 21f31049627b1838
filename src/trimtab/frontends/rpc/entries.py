"""The log in pi's shapes: its entries, the tree they make, and what can be forked from.

message, model_change, label, … ──▶ pi's entry of that kind          what pi has none for ──▶ custom, with our entry in `data`
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from trimtab.context.archive import Archive
from trimtab.frontends.rpc.outbox import record_line
from trimtab.frontends.rpc.values import Json, message_of
from trimtab.types.codec import Entry
from trimtab.types.edits import Compact
from trimtab.types.entries import (
    EditEntry,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionInfoEntry,
    ThinkingChangeEntry,
)
from trimtab.types.errors import UsageError
from trimtab.types.messages import User
from trimtab.types.models import ModelInfo

_SAID = frozenset({"prompt", "follow_up", "steering"})
_BAD = (msgspec.MsgspecError, UnicodeError, RecursionError)


def entry_of(entry: Entry, model: ModelInfo) -> Json:
    """An entry. A message that is too long for a line of the log holds its head, and where the rest is (`body`)."""
    base: Json = {"type": "custom", "id": entry.id, "parentId": entry.parent, "timestamp": entry.time}
    value = entry.value
    match value:
        case MessageEntry():
            return {**base, "type": "message", "message": message_of(value.message, time=entry.time, model=model)}
        case ModelChangeEntry():
            return {**base, "type": "model_change", "provider": value.provider, "modelId": value.model}
        case ThinkingChangeEntry():
            return {**base, "type": "thinking_level_change", "thinkingLevel": value.level or "default"}
        case LabelEntry():
            return {**base, "type": "label", "targetId": value.target, "label": value.label or None}
        case SessionInfoEntry(title=str() as title):
            return {**base, "type": "session_info", "name": title}
        case EditEntry(edit=Compact()):
            return {**base, "type": "compaction", **compaction_of(value)}
        case _:
            return {**base, "customType": f"trimtab.{entry.type}", "data": _raw(entry)}


def compaction_of(entry: EditEntry) -> Json:
    """What a summary came to."""
    assert isinstance(entry.edit, Compact)
    return {
        "summary": entry.edit.summary,
        "firstKeptEntryId": entry.edit.first_kept or "",
        "tokensBefore": entry.before_tokens or 0,
        "estimatedTokensAfter": entry.after_tokens or 0,
        "details": {
            "entryId": entry.id,
            "author": entry.author,
            "reason": entry.reason,
            "targets": len(entry.edit.targets),
        },
    }


def compaction_in(archive: Archive, entry_id: str) -> Json | None:
    """The same for an entry of that id; None for one that is no summary."""
    entry = archive.get(entry_id)
    value = entry.value if entry else None
    return compaction_of(value) if isinstance(value, EditEntry) and isinstance(value.edit, Compact) else None


def entries_of(entries: Sequence[Entry], model: ModelInfo, since: str | None) -> list[Json]:
    """The entries, or those behind `since`. Raises `UsageError` for an unknown one."""
    if since is not None:
        place = next((n for n, entry in enumerate(entries) if entry.id == since), None)
        if place is None:
            raise UsageError(f"Entry not found: {since[:100]}", hint="Ask without `since` for all of them.")
        entries = entries[place + 1 :]
    return [entry_of(entry, model) for entry in entries]


def tree_of(entries: Sequence[Entry], labels: Mapping[str, str], model: ModelInfo) -> msgspec.Raw:
    """The entries as JSON, each with what hangs on it. What hangs on nothing that is there is a root too.

    Written without recursion: a conversation is one branch, mostly, and so as deep as it is long.
    """
    below: dict[str | None, list[Entry]] = {}
    known = {entry.id for entry in entries}
    for entry in entries:
        parent = entry.parent if entry.parent in known else None
        below.setdefault(parent, []).append(entry)
    pieces: list[bytes] = [b"["]
    todo: list[Entry | bytes] = [b"]", *_listed(below.get(None, []))]
    while todo:
        each = todo.pop()
        if isinstance(each, bytes):
            pieces.append(each)
            continue
        label = labels.get(each.id)
        head: Json = {"entry": entry_of(each, model), **({"label": label} if label else {})}
        pieces.append(record_line(head).rstrip()[:-1] + b',"children":[')
        todo += [b"]}", *_listed(below.get(each.id, []))]
    return msgspec.Raw(b"".join(pieces))


def _listed(entries: list[Entry]) -> list[Entry | bytes]:
    """Entries with commas between them, the first at the end."""
    listed: list[Entry | bytes] = []
    for entry in reversed(entries):
        listed += [b",", entry] if listed else [entry]
    return listed


def said_in(path: Sequence[Entry]) -> Iterator[tuple[str, str | None, str]]:
    """What a person said on a branch: entry, the one before it, words."""
    for entry in path:
        value = entry.value if entry.type == "message" else None
        if isinstance(value, MessageEntry) and isinstance(value.message, User) and value.message.origin in _SAID:
            yield entry.id, entry.parent, "".join(value.message.said)


def _raw(entry: Entry) -> Any:
    try:
        return msgspec.json.decode(entry.raw)
    except _BAD:
        return {}
