"""A session that is open: the tree in memory, its file, its bodies and its lock, as one thing.

    append(values) ──queue──▶ leader takes the queue ──stamp: id, parent, time──▶ spill bodies ──▶ one write + fsync
                                                                                       └──▶ archive, fold ──▶ ids to all who wait

Synchronous and safe for threads: the agent calls it in worker threads, and whoever comes while a write is under way joins the next one,
so parallel results share an fsync. Ids are returned, and the tree changes, only after the write is durable.

Without a file (`SessionLog.in_memory`) everything works the same and nothing is kept.
"""

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, Self

import msgspec

from trimtab.context.archive import Archive, Damage, Parked
from trimtab.context.stores.bodies import Bodies, BodyStore, MemoryBodies, inflate, spill
from trimtab.context.stores.commit import GroupCommit, Ticket
from trimtab.context.stores.disk import Disk, disk, make_folder, require_file, timestamp
from trimtab.context.stores.jsonl import SessionFile
from trimtab.context.stores.lock import Owner, SessionLock, this_process
from trimtab.context.uncollected import uncollected
from trimtab.context.window.fold import Conversation
from trimtab.context.window.view import Repairs, View
from trimtab.types.codec import Entry, entry_of
from trimtab.types.entries import (
    FORMAT,
    TIP_TYPES,
    CustomEntry,
    Header,
    KnownEntry,
    LabelEntry,
    LeafEntry,
    MessageEntry,
    ModelChangeEntry,
    RepairEntry,
    SessionInfoEntry,
    ThinkingChangeEntry,
)
from trimtab.types.errors import StoreError, UsageError
from trimtab.types.ids import new_id
from trimtab.types.messages import Message

Now = Callable[[], datetime]
_BLANK: dict[str, Any] = {"id": "", "parent": None, "time": ""}
"""The envelope of a value that is not stamped yet."""


class Sink(Protocol):
    """Where lines become durable."""

    def append(self, lines: Sequence[bytes]) -> None:
        """Return when all lines are durable. Raises `StoreError`."""
        ...

    def close(self) -> None:
        """Let go."""
        ...


class _NoSink:
    def append(self, lines: Sequence[bytes]) -> None:
        pass

    def close(self) -> None:
        pass


@dataclass(slots=True)
class _Batch:
    """Entries that one write makes durable, each with its message whole, and the leaf behind them."""

    leaf: str | None
    entries: list[tuple[Entry, Message | None]] = field(default_factory=list)


class SessionLog:
    """An open session. Make one with `create`, `open` or `in_memory`."""

    def __init__(self, header: Header, sink: Sink, bodies: BodyStore, *, now: Now) -> None:
        self.header = header
        self.path: Path | None = None
        self.archive = Archive()
        """The tree; look, don't touch. Other threads may be adding to it."""
        self._sink = sink
        self._bodies = bodies
        self._now = now
        self._lock: SessionLock | None = None
        self._conversation = Conversation(self.archive, whole=lambda message: inflate(message, bodies))
        self._owed: list[tuple[str, dict[str, Any]]] = []
        self._commits = GroupCommit(self._write)
        self._state_guard = threading.Lock()

    @classmethod
    def create(
        cls,
        path: Path,
        cwd: str,
        *,
        now: Now,
        session_id: str | None = None,
        parent_session: str | None = None,
        bodies: Bodies | None = None,
        owner: Owner | None = None,
        disk: Disk = disk,
    ) -> Self:
        """Make a new session file. `bodies` default to `PATH.bodies/`.

        Raises `SessionError` when the path is taken, `SessionLocked`, or `StoreError` when the disk refuses (see `create_or_memory`).
        """
        path = Path(os.path.realpath(path))
        header = new_header(cwd, now=now, session_id=session_id, parent_session=parent_session)
        make_folder(path.parent)
        lock = SessionLock.acquire(path, owner or this_process(now))
        try:
            file = SessionFile.create(path, header, disk=disk)
        except BaseException:
            lock.release()
            raise
        log = cls(header, file, bodies or Bodies(bodies_beside(path)), now=now)
        log.path, log._lock = path, lock
        return log

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        now: Now,
        takeover: bool = False,
        read_only: bool = False,
        cwd: str = "",
        bodies: Bodies | None = None,
        owner: Owner | None = None,
        disk: Disk = disk,
    ) -> Self:
        """Open a session file, however damaged; `cwd` is for a file that holds nothing yet.

        What was found is `damage`; what has to be said about it is written with the next entry. A reader takes no lock and
        writes nothing. Raises `SessionError` when the path is no readable file, `SessionLocked`, or `StoreError`.
        """
        path = Path(os.path.realpath(path))
        require_file(path)
        lock = None if read_only else SessionLock.acquire(path, owner or this_process(now), takeover=takeover)
        try:
            with uncollected():
                file = SessionFile.read(path) if read_only else SessionFile.open(path, disk=disk)
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        if file.found.empty:
            file.header = new_header(cwd, now=now, session_id=file.header.id)
        log = cls(file.header, file, bodies or Bodies(bodies_beside(path)), now=now)
        log.path, log._lock = path, lock
        log._load(file)
        return log

    @classmethod
    def in_memory(cls, cwd: str, *, now: Now) -> Self:
        """A session that is kept nowhere."""
        return cls(new_header(cwd, now=now), _NoSink(), MemoryBodies(), now=now)

    @property
    def cwd(self) -> str:
        """The working folder: the one recorded last. Empty when the file doesn't say."""
        return self.archive.cwd or self.header.cwd

    @property
    def damage(self) -> tuple[Damage, ...]:
        """What was found when the file was opened."""
        return tuple(self.archive.damage)

    @property
    def parked(self) -> tuple[Parked, ...]:
        """Calls that wait for a person."""
        with self._state_guard:
            return self.archive.parked

    def call_ids(self) -> set[str]:
        """Ids of all calls that were ever recorded, on whatever branch."""
        with self._state_guard:
            return self.archive.call_ids()

    @property
    def repairs(self) -> Repairs:
        """How the view differs from the log."""
        with self._state_guard:
            return self._conversation.view.repairs

    def snapshot(self) -> View:
        """The view as it stands: a value that stays as it is whatever comes later."""
        with self._state_guard:
            return self._conversation.view

    def view(self) -> tuple[Message, ...]:
        """The messages of the next request: whole, every call answered, in order."""
        return self.snapshot().messages()

    def append(self, values: Sequence[KnownEntry]) -> tuple[str, ...]:
        """Record entries behind the leaf and return their ids; they are durable then.

        `id`, `parent` and `time` of the values are filled in here. All of a call fail together: raises `StoreError` or `SessionError`.
        """
        return self._commits.append(values) if values else ()

    def append_messages(self, messages: Sequence[Message]) -> tuple[str, ...]:
        """Record messages; they are durable when this returns their entry ids."""
        return self.append([MessageEntry(**_BLANK, message=message) for message in messages])

    def park(self, call_id: str, question: str) -> str:
        """Record that a call waits for a person."""
        return self._one(CustomEntry(**_BLANK, kind="parked", call_id=call_id, data={"question": question}))

    def move_leaf(self, target: str | None) -> str:
        """Go on from another entry (None: before the first). Raises `UsageError` for an unknown one."""
        return self._one(LeafEntry(**_BLANK, target=None if target is None else self._known(target)))

    def label(self, target: str, label: str) -> str:
        """Name an entry; an empty name takes the name away. Raises `UsageError` for an unknown entry."""
        return self._one(LabelEntry(**_BLANK, target=self._known(target), label=label))

    def set_model(self, provider: str, model: str, *, instead_of: str | None = None, reason: str = "") -> str:
        """Record that requests go to another model from here on; `instead_of`: it stands in for that one."""
        change = ModelChangeEntry(**_BLANK, provider=provider, model=model, instead_of=instead_of, reason=reason)
        return self._one(change)

    def set_thinking(self, level: str | None) -> str:
        """Record another thinking level."""
        return self._one(ThinkingChangeEntry(**_BLANK, level=level))

    def set_title(self, title: str) -> str:
        """Record a title."""
        return self._one(SessionInfoEntry(**_BLANK, title=title))

    def set_cwd(self, cwd: str) -> str:
        """Record that the project is somewhere else now."""
        return self._one(SessionInfoEntry(**_BLANK, cwd=cwd))

    def set_policy(self, policy: str) -> str:
        """Record which context policy decides from here on."""
        return self._one(SessionInfoEntry(**_BLANK, policy=policy))

    def set_window(self, window: int, max_output: int) -> str:
        """Record how many tokens prompt and answer may have together from here on, and how many the answer."""
        return self._one(SessionInfoEntry(**_BLANK, window=window, max_output=max_output))

    def set_archived(self, *, archived: bool) -> str:
        """Record that lists leave the session out until something is said in it, or that they show it again."""
        return self._one(SessionInfoEntry(**_BLANK, archived=archived))

    def mend(self) -> int:
        """Write the repair entries that the next append would begin with; return how many. Raises as `append` does."""
        before = len(self.archive)
        self._commits.append(())
        return len(self.archive) - before

    def close(self) -> None:
        """Close the file and free the lock. Closing twice is fine."""
        with self._commits.guard:
            self._sink.close()
            if self._lock is not None:
                self._lock.release()

    def _one(self, value: KnownEntry) -> str:
        return self.append([value])[0]

    def _known(self, entry_id: str) -> str:
        if entry_id not in self.archive:
            raise UsageError(
                f"no entry {entry_id!r} in session {self.header.id}", hint="give the id of one of its entries"
            )
        return entry_id

    def _load(self, file: SessionFile) -> None:
        self.archive.damage.extend(file.found.damage)
        with uncollected():
            for line, entry in file.found.numbered():
                self.archive.add(entry, line=line)
        self._owed = owed_repairs(self.archive)
        if self._lock is not None and (stale := self._lock.stale) is not None:
            self._owed.append(("lock_taken_over", msgspec.to_builtins(stale)))

    def _write(self, tickets: Sequence[Ticket[KnownEntry]]) -> None:
        """Write what all tickets hold with one fsync; only then change the tree. Never called twice at a time."""
        with self._state_guard:
            batch = _Batch(self.archive.leaf)
            interrupted = list(self._conversation.unnoted)
        for kind, detail in (*self._owed, *([("interrupted", {"calls": interrupted})] if interrupted else [])):
            self._stamp(batch, RepairEntry(**_BLANK, kind=kind, detail=detail))
        for ticket in tickets:
            ticket.ids = tuple(self._stamp(batch, value) for value in ticket.values)
        if batch.entries:
            self._sink.append([entry.raw for entry, _ in batch.entries])
        self._owed = []
        with self._state_guard:
            for entry, message in batch.entries:
                self._conversation.take(entry, message=message)

    def _stamp(self, batch: _Batch, value: KnownEntry) -> str:
        """Make a value the batch's next entry and return its id."""
        value = msgspec.structs.replace(value, id=new_id(), parent=batch.leaf, time=timestamp(self._now()))
        whole = None
        if isinstance(value, MessageEntry):
            whole = value.message
            value = msgspec.structs.replace(value, message=spill(whole, self._bodies))
        entry = entry_of(value)
        batch.entries.append((entry, None if entry.refused else whole))
        if isinstance(value, LeafEntry):
            batch.leaf = value.target
        elif entry.type in TIP_TYPES:
            batch.leaf = entry.id
        return entry.id


def create_or_memory(
    path: Path,
    cwd: str,
    *,
    now: Now,
    session_id: str | None = None,
    parent_session: str | None = None,
    bodies: Bodies | None = None,
    disk: Disk = disk,
) -> tuple[SessionLog, str | None]:
    """Make a new session file, or, where the disk refuses, a session in memory and the notice that says so."""
    try:
        log = SessionLog.create(
            path, cwd, now=now, session_id=session_id, parent_session=parent_session, bodies=bodies, disk=disk
        )
        return log, None
    except StoreError as exc:
        notice = f"this session is kept in memory only and can't be resumed: {exc.message} ({exc.hint})"
        return SessionLog.in_memory(cwd, now=now), notice


def new_header(cwd: str, *, now: Now, session_id: str | None = None, parent_session: str | None = None) -> Header:
    """Return the header of a session that begins now."""
    return Header(session_id or new_id(), cwd, timestamp(now()), FORMAT, parent_session=parent_session)


def bodies_beside(path: Path) -> Path:
    """Return the folder of the bodies of a session file that is not at home."""
    return path.with_name(path.name + ".bodies")


def owed_repairs(archive: Archive) -> list[tuple[str, dict[str, Any]]]:
    """Return kind and detail of the `repair` entries that damage calls for and that the file doesn't hold yet."""
    lines: dict[str, list[int]] = {}
    for damage in archive.damage:
        if (damage.kind, damage.line) not in archive.repaired:
            lines.setdefault(damage.kind, []).append(damage.line)
    return [(kind, {"lines": sorted(set(numbers))}) for kind, numbers in lines.items()]
