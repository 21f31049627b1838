"""Memories as records: what a line of their file says, and the fold that makes memories of lines.

    {"op": "memorize"|"update"|"append"|"delete", "key", "time", …}  ──fold──▶ {key: Memory}

Nothing here touches a disk. A line that can't be read is skipped and counted: it was torn by a crash, or a newer version wrote it.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias, assert_never

import msgspec


class Memory(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing to remember across sessions of a project. Times are RFC 3339, UTC."""

    key: str
    """What it is called."""
    summary: str
    """What it says, in a line."""
    content: str = ""
    """All that it says."""
    entities: tuple[str, ...] = ()
    """Names of what it is about: modules, people, services."""
    episodes: tuple[str, ...] = ()
    """What happened when, such as `2026-03-01: moved to port 4711`."""
    relations: tuple[str, ...] = ()
    """Sentences that join two entities, such as `the gateway calls the ledger`."""
    source: tuple[str, ...] = ()
    """Where it comes from: paths, handles, a session."""
    created: str = ""
    """When the key was first used."""
    updated: str = ""
    """When it last changed."""


class _Record(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="op"):
    key: str
    """The memory that it is about."""
    time: str = ""
    """When; RFC 3339, UTC. The store fills it in."""


class _Facts(_Record, frozen=True, omit_defaults=True, kw_only=True):
    summary: str | None = None
    """As in `Memory`; null: left as it is."""
    content: str | None = None
    """The same."""
    entities: tuple[str, ...] | None = None
    """The same."""
    episodes: tuple[str, ...] | None = None
    """The same."""
    relations: tuple[str, ...] | None = None
    """The same."""
    source: tuple[str, ...] | None = None
    """The same."""


class Memorize(_Facts, frozen=True, omit_defaults=True, kw_only=True, tag="memorize"):
    """Says all there is to a key; what an earlier memory of it said is replaced."""


class Update(_Facts, frozen=True, omit_defaults=True, kw_only=True, tag="update"):
    """Replaces the fields that it holds."""


class Append(_Facts, frozen=True, omit_defaults=True, kw_only=True, tag="append"):
    """Adds to the fields that it holds: content on a new line, names that aren't there yet. A summary is replaced."""


class Delete(_Record, frozen=True, omit_defaults=True, kw_only=True, tag="delete"):
    """The key is forgotten; its lines stay in the file."""


Record: TypeAlias = Memorize | Update | Append | Delete
Facts: TypeAlias = Memorize | Update | Append
_LISTS = ("entities", "episodes", "relations", "source")
_decoder = msgspec.json.Decoder(Record)


def decode_records(data: bytes) -> tuple[list[Record], int]:
    """Return the records in the bytes of a file, and how many lines could not be read."""
    records: list[Record] = []
    bad = 0
    for line in data.split(b"\n"):
        if not line.strip(b" \t\r\0"):
            continue
        try:
            records.append(_decoder.decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            bad += 1
    return records, bad


def fold(records: Iterable[Record], onto: Mapping[str, Memory]) -> dict[str, Memory]:
    """Return the memories `onto` after `records`. An update or addition to a key that isn't there begins it."""
    memories = dict(onto)
    for record in records:
        known = memories.get(record.key)
        match record:
            case Delete():
                memories.pop(record.key, None)
            case Memorize():
                created = known.created if known else record.time
                memories[record.key] = _changed(Memory(record.key, "", created=created), record)
            case Update() | Append():
                memories[record.key] = _changed(known or Memory(record.key, "", created=record.time), record)
            case _:
                assert_never(record)
    return memories


def _changed(memory: Memory, record: Facts) -> Memory:
    adds = isinstance(record, Append)
    values: dict[str, object] = {"updated": record.time}
    if record.summary is not None:
        values["summary"] = record.summary
    if record.content is not None:
        values["content"] = f"{memory.content}\n{record.content}" if adds and memory.content else record.content
    for name in _LISTS:
        given: tuple[str, ...] | None = getattr(record, name)
        if given is not None:
            values[name] = tuple(dict.fromkeys((*getattr(memory, name), *given))) if adds else given
    return msgspec.structs.replace(memory, **values)
