"""Our own session files, as a recording: the path of the leaf.

    lines ──scan──▶ entries ──archive──▶ path of the leaf ──▶ messages whole again, compactions that stand

Edits other than compactions leave no trace: a recording holds what was said, not what was shown. A compaction that was reverted is none.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from trimtab.context.archive import Archive
from trimtab.context.stores.bodies import Bodies, BodyStore, MemoryBodies, inflate
from trimtab.context.stores.log import bodies_beside
from trimtab.context.stores.scan import scan
from trimtab.sessions.importers.gathering import left_out
from trimtab.sessions.importers.values import mapping_of, moment_of, text_of
from trimtab.sessions.recorded import Answered, Came, Compacted, Event, Recording
from trimtab.sessions.source import Source
from trimtab.types.codec import Entry
from trimtab.types.edits import Compact
from trimtab.types.entries import EditEntry, MessageEntry, RevertEntry
from trimtab.types.messages import Assistant, Message, Thinking, User

NAME = "trimtab"

_ENTRIES = frozenset({"message", "edit", "revert", "label", "leaf", "model_change", "thinking_change", "repair"})


def fits(record: Any) -> bool:
    """Say whether a line is one of ours."""
    record = mapping_of(record)
    if record.get("type") == "session":
        return "format" in record or "created" in record
    return text_of(record.get("type")) in _ENTRIES and {"id", "parent", "time"} <= record.keys()


def read(source: Source) -> list[Recording]:
    """Return the session in a file."""
    found = scan(source.data())
    archive = Archive()
    for line, entry in found.numbered():
        archive.add(entry, line=line)
    path = archive.path()
    reverted = _reverted(path)
    bodies = _bodies(source)
    events = [event for entry in path if (event := _event(entry, reverted, bodies)) is not None]
    header = found.header
    answers = [event.message for event in events if isinstance(event, Answered)]
    models = [(m.model, m.provider) for m in answers if m.usage is not None] or [(m.model, m.provider) for m in answers]
    model, provider = max(models, key=models.count, default=("", ""))
    return [
        Recording(
            file=source.name,
            format=NAME,
            model=model,
            events=tuple(events),
            provider=provider,
            window=archive.window,
            id=header.id if header is not None else "",
            cwd=archive.cwd or (header.cwd if header is not None else ""),
            bad_lines=sum(damage.kind in ("refused", "salvaged", "unreadable") for damage in found.damage),
            notes=tuple(_notes(path, others=len(archive) - len(path), reverted=reverted)),
        )
    ]


def _notes(path: Sequence[Entry], *, others: int, reverted: set[str]) -> Iterator[str]:
    """What of the file is no part of what was said."""
    if others:
        yield left_out(others, "entries of other branches")
    edits = [e for e in path if isinstance(v := e.value, EditEntry) and not isinstance(v.edit, Compact)]
    if standing := sum(entry.id not in reverted for entry in edits):
        yield left_out(standing, "edits of what the model saw: it is whole again")


def _event(entry: Entry, reverted: set[str], bodies: BodyStore) -> Event | None:
    time = moment_of(entry.time)
    match entry.value:
        case MessageEntry(message=message):
            return _said(inflate(message, bodies), time, entry.id)
        case EditEntry(edit=Compact(summary=summary), before_tokens=before, author=author) if entry.id not in reverted:
            return Compacted(summary, None, time, before, author)
        case _:
            return None


def _said(message: Message, time: float | None, entry_id: str) -> Event:
    if not isinstance(message, Assistant):
        return Came(message, time, injected=isinstance(message, User) and message.origin == "verify")
    thoughts = [part for part in message.parts if isinstance(part, Thinking)]
    unseen = any(not part.text and part.signature for part in thoughts)
    reasoned = message.usage is not None and message.usage.reasoning > 0 and not any(part.text for part in thoughts)
    return Answered(message, time, id=entry_id, hidden_thinking=unseen or reasoned)


def _reverted(path: Sequence[Entry]) -> set[str]:
    """Ids of what doesn't stand: reverted, by a revert that stands itself. Read backwards, so each revert is known before its target."""
    gone: set[str] = set()
    for entry in reversed(path):
        if entry.type == "revert" and entry.id not in gone and isinstance(value := entry.value, RevertEntry):
            gone.add(value.target)
    return gone


def _bodies(source: Source) -> BodyStore:
    """Bodies lie beside a file, or beside the folder of all sessions."""
    if source.path is None:
        return MemoryBodies()
    return Bodies(bodies_beside(source.path), others=tuple(p / "bodies" for p in source.path.absolute().parents[1:3]))
