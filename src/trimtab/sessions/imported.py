"""A recording of another agent, as a session file of ours.

    recording ──events in order, with their times──▶ a file beside its place ──all in──▶ its place

The id comes from the content, so the same recording is the same session and is found, not doubled. What a session of ours has no place for is said.
"""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from trimtab.context.stores.bodies import BodyStore, spill
from trimtab.context.stores.disk import make_folder, store_errors, sync_folder, timestamp
from trimtab.context.stores.folder import SessionFolder
from trimtab.context.stores.jsonl import SessionFile, id_from_name
from trimtab.sessions.importers.gathering import CUT, LEFT_OUT
from trimtab.sessions.recorded import Compacted, Event, Recording
from trimtab.types.codec import encode_entry, encode_message
from trimtab.types.entries import FORMAT, CustomEntry, Header, MessageEntry
from trimtab.types.text import scrub

KIND = "import"
"""Of the entry that says where a session came from."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of one recording. `path` is where it lies, or would; `known`: it was there already. `lost` says what was left out, `notes` what else there is to know."""

    recording: Recording
    id: str
    path: Path
    messages: int
    known: bool
    lost: tuple[str, ...]
    notes: tuple[str, ...]


def import_recording(recording: Recording, folder: SessionFolder, cwd: str, *, dry_run: bool = False) -> Imported:
    """Make a session of `recording` in the project `cwd`, unless it is there already. Raises `StoreError`, and then no session is left."""
    session_id = _id_of(recording)
    began = next((event.time for event in recording.events if event.time), None)
    path = folder.folder_of(cwd) / f"{_stamp(began)}_{session_id}.jsonl"
    messages = [event for event in recording.events if not isinstance(event, Compacted)]
    lost = tuple(_lost(recording))
    notes = tuple(note for note in recording.notes if not note.startswith(LEFT_OUT) and note != CUT)
    there = next((one for one in folder.paths(None) if id_from_name(one) == session_id), None)
    if there is not None or dry_run:
        return Imported(recording, session_id, there or path, len(messages), there is not None, lost, notes)
    make_folder(path.parent)
    header = Header(session_id, cwd, timestamp(_moment(began)), FORMAT)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        SessionFile.create(part, header, lines=_lines(recording, session_id, lost, folder.bodies_of(path))).close()
        with store_errors(path):
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    sync_folder(path.parent)
    return Imported(recording, session_id, path, len(messages), known=False, lost=lost, notes=notes)


def _lines(recording: Recording, session_id: str, lost: tuple[str, ...], bodies: BodyStore) -> Iterator[bytes]:
    """Where it comes from, and all that was said, an entry each. Times never go back; ids come from the content, too."""
    latest = next((event.time for event in recording.events if event.time), None)
    data = {
        "from": recording.format,
        "file": os.path.basename(recording.file),
        "id": recording.id,
        "cwd": recording.cwd,
        "lost": list(lost),
    }
    envelope: dict[str, Any] = {"id": _entry_id(session_id, 0), "parent": None, "time": timestamp(_moment(latest))}
    yield encode_entry(CustomEntry(**envelope, kind=KIND, data=data))
    said = (event for event in recording.events if not isinstance(event, Compacted))
    for number, event in enumerate(said, 1):
        latest = max(latest or 0.0, event.time or 0.0)
        parent, time = _entry_id(session_id, number - 1), timestamp(_moment(latest))
        message = spill(event.message, bodies)
        yield encode_entry(MessageEntry(id=_entry_id(session_id, number), parent=parent, time=time, message=message))


def _entry_id(session_id: str, number: int) -> str:
    return hashlib.sha256(f"{session_id} {number}".encode()).hexdigest()[:16]


def _id_of(recording: Recording) -> str:
    """The id that this content always gets, whatever its file is called or packed in."""
    digest = hashlib.sha256(recording.format.encode())
    for event in recording.events:
        digest.update(_digested(event))
    return digest.hexdigest()[:16]


def _digested(event: Event) -> bytes:
    if isinstance(event, Compacted):
        return b"\0compacted" + scrub(event.summary).encode()
    try:
        return b"\0" + encode_message(event.message)
    except (UnicodeEncodeError, msgspec.MsgspecError):
        return b"\0" + repr(event.message).encode("utf-8", "replace")


def _lost(recording: Recording) -> Iterator[str]:
    """What a session of ours has no place for, and what could not be read, in words."""
    compactions = [event for event in recording.events if isinstance(event, Compacted)]
    if compactions:
        many = "1 compaction" if len(compactions) == 1 else f"{len(compactions)} compactions"
        yield f"{many}: what was said before is kept whole instead, and shortened again where the window demands it"
    if recording.system:
        yield "the system prompt: Trimtab's own takes its place"
    if recording.bad_lines:
        many = "1 damaged line" if recording.bad_lines == 1 else f"{recording.bad_lines:,} damaged lines"
        yield f"what nobody can read of {many}"
    if recording.cut:
        yield "the end of a file that is cut short"
    yield from (note.removeprefix(LEFT_OUT) for note in recording.notes if note.startswith(LEFT_OUT))


def _stamp(began: float | None) -> str:
    return _moment(began).strftime("%Y%m%dT%H%M%SZ")


def _moment(time: float | None) -> datetime:
    try:
        return datetime.fromtimestamp(time or 0.0, UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(0.0, UTC)
