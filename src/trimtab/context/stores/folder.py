"""All sessions of a user: where files go, what there is, which one is meant.

    SESSIONS/SLUG-HASH8/TIME_ID.jsonl     SLUG for people, HASH8 of the exact real path of the project: `/a/b_c` is not `/a/b-c`
    BODIES/sha256-…                       large bodies of all of them

Nothing here goes by an index: names are found by looking at file names, and a list reads each file once (the index in front of it, in `trimtab.sessions.index`,
is a cache of that). A file that can't be read is a note in the list, never its end.
"""

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from trimtab.context.archive import Archive
from trimtab.context.stores.bodies import Bodies
from trimtab.context.stores.disk import make_folder
from trimtab.context.stores.jsonl import SessionFile, id_from_name, id_in_header
from trimtab.context.stores.log import SessionLog, bodies_beside, create_or_memory, new_header
from trimtab.context.stores.summary import SessionSummary, modified_at, modified_ns, summarise
from trimtab.types.codec import Entry, copy_line
from trimtab.types.entries import LabelEntry
from trimtab.types.errors import SessionError, TrimtabError, UnknownSession, UsageError
from trimtab.types.ids import new_id
from trimtab.types.text import scrub

_ADDRESS = re.compile(rb"sha256-[0-9a-f]{64}")
_SLUG = 40
_CHILD = re.compile(r"\.child\d+\.jsonl$")
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Listing:
    """Sessions, the one that was written last first, and a sentence for each file that can't be read."""

    sessions: tuple[SessionSummary, ...]
    notes: tuple[str, ...]


class SessionFolder:
    """The sessions below one folder. Makes nothing before a session is written."""

    def __init__(self, sessions: Path, bodies: Path, *, now: Callable[[], datetime]) -> None:
        self.sessions = sessions
        self.bodies = bodies
        self._now = now

    def folder_of(self, cwd: str) -> Path:
        """Return the folder of a project's sessions."""
        real = os.path.realpath(cwd)
        slug = re.sub(r"[^A-Za-z0-9]+", "-", os.path.basename(real)).strip("-")[:_SLUG] or "root"
        return self.sessions / f"{slug}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:8]}"

    def new_path(self, cwd: str, session_id: str) -> Path:
        """Return the path for a session that begins now."""
        stamp = self._now().astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
        return self.folder_of(cwd) / f"{stamp}_{session_id}.jsonl"

    def bodies_of(self, path: Path) -> Bodies:
        """Return where a session file keeps its bodies: with all others, or beside it when it lies elsewhere."""
        beside = bodies_beside(path)
        if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.sessions)):
            return Bodies(self.bodies, others=(beside,))
        return Bodies(beside, others=(self.bodies,))

    def begin(self, cwd: str, *, parent_session: str | None = None) -> tuple[SessionLog, str | None]:
        """Make a new session, that comes from another one perhaps; where the disk refuses, one in memory and the notice that says so."""
        session_id = new_id()
        path = self.new_path(cwd, session_id)
        bodies = self.bodies_of(path)
        return create_or_memory(
            path, cwd, now=self._now, session_id=session_id, parent_session=parent_session, bodies=bodies
        )

    def open_or_create(self, path: Path, cwd: str, *, takeover: bool = False) -> SessionLog:
        """Open the session file that a user named, or make it. Raises as `SessionLog.open` and `SessionLog.create` do."""
        if path.exists():
            return self.open(path, takeover=takeover, cwd=cwd)
        return SessionLog.create(path, cwd, now=self._now, bodies=self.bodies_of(path))

    def open(self, path: Path, *, takeover: bool = False, read_only: bool = False, cwd: str = "") -> SessionLog:
        """Open a session with the bodies it belongs to. Raises as `SessionLog.open` does."""
        bodies = self.bodies_of(path)
        return SessionLog.open(path, now=self._now, takeover=takeover, read_only=read_only, cwd=cwd, bodies=bodies)

    def listing(self, cwd: str | None = None) -> Listing:
        """List the sessions of one project, or all."""
        found: list[SessionSummary] = []
        notes: list[str] = []
        for path in self.paths(cwd):
            try:
                found.append(summarise(path))
            except SessionError as exc:
                notes.append(exc.message)
        found.sort(key=lambda s: (s.modified, s.path.name), reverse=True)
        return Listing(tuple(found), (*notes, *self.unread(cwd)))

    def unread(self, cwd: str | None = None) -> tuple[str, ...]:
        """A sentence for each folder whose sessions nobody can see, of one project or all: there being none is something else."""
        folders = [self.folder_of(cwd)] if cwd is not None else [self.sessions, *_entries_of(self.sessions)]
        return tuple(note for folder in folders if (note := _unread(folder)))

    def find(self, ref: str, cwd: str) -> Path:
        """Return the file that `ref` means: an id, the start of one, a path, or `last` (of the project in `cwd`).

        Raises `UnknownSession`, with the candidates when there are several, and `SessionError` where nobody can look.
        """
        if ref == "last":
            return self._last(cwd)
        path = Path(cwd, os.path.expanduser(ref))
        if os.sep in ref or ref.endswith(".jsonl"):
            if os.path.isfile(path):
                return path
            raise UnknownSession(
                f"no session file {ref!r}", hint="`trimtab sessions list` (in a talk: /resume) shows what there is"
            )
        by_id = [(id_from_name(path), path) for path in self.paths(None)]
        hits = [p for i, p in by_id if i == ref] or [
            p for i, p in by_id if ref and i.startswith(ref) and not is_child(p)
        ]
        if not hits and ref:  # one that worked for another: the name says whose it is
            children = [(i, id_in_header(p), p) for i, p in by_id if is_child(p)]
            hits = [p for _, own, p in children if own == ref] or [
                p for i, own, p in children if own.startswith(ref) or i.startswith(ref)
            ]
        if len(hits) == 1:
            return hits[0]
        if not hits and os.path.isfile(path):  # False also for what no disk takes as a name
            return path
        if hits:
            names = ", ".join(id_from_name(p) for p in hits[:_SHOWN]) + (", …" if len(hits) > _SHOWN else "")
            raise UnknownSession(f"{ref!r} fits {len(hits)} sessions: {names}", hint="give more of the id, or a path")
        raise self._none(
            f"no session {ref!r}", None, hint="`trimtab sessions list` (in a talk: /resume) shows what there is"
        )

    def fork(self, source: Path, *, cwd: str, at: str | None = None, to: Path | None = None) -> Path:
        """Copy the path to entry `at` (id, start of one, or label; default: the leaf) to a new session and return its file.

        Lines are copied as they are, so that what this version doesn't know survives; labels of copied entries come along. The copy of an archived session isn't.
        No lock is needed. Raises `UsageError` for an unknown entry, `SessionError`, `StoreError`.
        """
        file = SessionFile.read(source)
        archive = Archive()
        for line, entry in file.found.numbered():
            archive.add(entry, line=line)
        kept = list(archive.path(_one_entry(archive, at))) if at is not None else list(archive.path())
        ids = {entry.id for entry in kept}
        labels = [
            entry
            for entry in archive
            if entry.type == "label" and isinstance(value := entry.value, LabelEntry) and value.target in ids
        ]
        header = new_header(cwd, now=self._now, parent_session=file.header.id)
        path = to or self.new_path(cwd, header.id)
        lines = [copy_line(entry) for entry in (*kept, *(_hung_on(label, kept[-1].id, ids) for label in labels))]
        self._copy_bodies(source, path, lines)
        make_folder(path.parent)
        SessionFile.create(path, header, lines=lines).close()
        if archive.archived:
            self.set_archived(path, archived=False)
        return path

    def set_archived(self, path: Path, *, archived: bool) -> bool:
        """Put a session away, with those that worked for it, or take it back; return whether it wasn't so already. It stays as old as it was: lists go by when something was said.

        Raises as `SessionLog.open` does: one that somebody has open is left alone.
        """
        changed = False
        for one in (path, *children_of(path)):
            at = modified_ns(one)
            log = self.open(one)
            try:
                if log.archive.archived != archived:
                    changed = True
                    log.set_archived(archived=archived)
                    os.utime(one, ns=(at, at))
            finally:
                log.close()
        return changed

    def _copy_bodies(self, source: Path, path: Path, lines: list[bytes]) -> None:
        """Bring along what the lines refer to, where the copy keeps its bodies elsewhere."""
        old, new = self.bodies_of(source), self.bodies_of(path)
        if old.folder == new.folder:
            return
        for address in sorted({match.decode() for line in lines for match in _ADDRESS.findall(line)}):
            if (data := old.get(address)) is not None:
                new.put(data)

    def _last(self, cwd: str) -> Path:
        """The session of this project that was written last and isn't archived; one that was moved here is found by what it says."""
        real = scrub(os.path.realpath(cwd))  # as a file can say it: a name that isn't UTF-8 loses its odd bytes there
        refused, away = "", ""
        for scope in (cwd, None):
            for path in sorted(self.paths(scope), key=modified_at, reverse=True):
                try:
                    summary = summarise(path)
                except SessionError as exc:
                    refused = refused or (exc.message if scope is not None else "")
                    continue
                if (
                    not is_child(path)
                    and summary.entries
                    and summary.cwd
                    and scrub(os.path.realpath(summary.cwd)) == real
                ):
                    if not summary.archived:
                        return path
                    away = away or summary.id
        if away:
            raise UnknownSession(
                f"all sessions in {cwd!r} are archived",
                hint=f"trimtab sessions list --archived shows them; {away} is the last one",
            )
        raise self._none(
            f"no session in {cwd!r} yet",
            cwd,
            refused=refused,
            hint='trimtab -p "…" starts one; `trimtab sessions list --all` shows those of other folders',
        )

    def passed_over(self, path: Path, cwd: str) -> str:
        """Why a file that was written after `path`, the last session of the project in `cwd` that can be read, can't be; empty where there is none."""
        since = modified_at(path)
        for newer in sorted(self.paths(cwd), key=modified_at, reverse=True):
            if modified_at(newer) <= since:
                break
            try:
                SessionFile.read(newer)
            except SessionError as exc:
                return exc.message
        return ""

    def _none(self, what: str, cwd: str | None, *, refused: str = "", hint: str) -> TrimtabError:
        """The error that there is no such session, or that nobody can say so."""
        why = next(iter(self.unread(cwd)), refused)
        if not why:
            return UnknownSession(what, hint=hint)
        return SessionError(
            f"no session can be gone on with: {why}",
            hint="make it readable for you, or name a session file by its path",
        )

    def paths(self, cwd: str | None) -> Iterator[Path]:
        """The files that may be sessions: of one project, or all."""
        folders = [self.folder_of(cwd)] if cwd is not None else _entries_of(self.sessions)
        for folder in folders:
            yield from (path for path in _entries_of(folder) if path.suffix == ".jsonl")


def child_path(parent: Path, taken: Collection[Path] = ()) -> Path:
    """A file that isn't there yet, nor among those that are `taken`, beside that of the session `parent`, for one that works for it."""
    names = (parent.with_name(f"{parent.stem}.child{number}.jsonl") for number in count(1))
    return next(path for path in names if path not in taken and not path.exists())


def children_of(path: Path) -> list[Path]:
    """The files of the sessions that work, or worked, for that of `path`, and for those."""
    return [one for one in _entries_of(path.parent) if one.name.startswith(f"{path.stem}.child") and is_child(one)]


def is_child(path: Path) -> bool:
    """Whether the session of this file works, or worked, for another one."""
    return _CHILD.search(path.name) is not None


def _unread(folder: Path) -> str:
    """Why nobody can see what is in a folder; empty where that can be seen, or there is no folder."""
    try:
        os.scandir(folder).close()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as exc:
        return f"the folder {str(folder)!r} can't be read: {exc.strerror}"
    return ""


def _entries_of(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _one_entry(archive: Archive, ref: str) -> str:
    hits = archive.matches(ref)
    if len(hits) == 1:
        return hits[0]
    what = f"{ref!r} fits {len(hits)} entries" if hits else f"no entry {ref!r}"
    raise UsageError(f"{what} in this session", hint="give the id or the label of one entry")


def _hung_on(label: Entry, leaf: str, ids: set[str]) -> Entry:
    """Return a label entry whose parent is in the copy too."""
    return label if label.parent in ids else replace(label, parent=leaf)
