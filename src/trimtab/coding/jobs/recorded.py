"""Jobs as their records tell of them, for who asks without a session: which run, whose they are, and their end.

    HOME/jobs/PROJECT/*.json ──recorded_jobs──▶ those with processes that run ──▶ listed, shown, ended
                                            └─ none any more, and no session sees to it: the record goes

The one rule: what isn't held by an open session is ended at one word; what is, only by its own name.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

import anyio

from trimtab.coding.jobs.job import Job, told_s
from trimtab.coding.jobs.records import MARK, Record, Records, mark_of
from trimtab.coding.logs import now, session_folder
from trimtab.coding.project import Project
from trimtab.coding.tools.process import look_at_all
from trimtab.types.errors import UsageError

State: TypeAlias = Literal["kept", "open", "waited", "cut off"]
_STATES: dict[State, str] = {
    "kept": "kept",
    "open": "its session is open",
    "waited": "its session waits for it",
    "cut off": "its session was cut off",
}
_FOLDERS = 10_000


@dataclass(frozen=True, slots=True)
class Recorded:
    """A job that runs. `ref` is what one says to mean it: its id, or the beginning of `mark`, its record's name, where another one has that id. `folder` is empty in records that don't say it."""

    job: Job
    ref: str
    mark: str
    state: State
    pids: tuple[int, ...]
    session: str
    folder: str
    records: Records

    @property
    def name(self) -> str:
        """What it is called, and its command."""
        return self.job.name if self.ref == self.job.id else f"{self.ref}: {self.job.name}"

    @property
    def state_told(self) -> str:
        """In words."""
        return _STATES[self.state]

    @property
    def runs(self) -> str:
        """For how long, in words."""
        return told_s(self.job.now() - self.job.began)


def records_folder(project: Project) -> Path:
    """Where the records of jobs of the folder that is worked in lie."""
    return project.home.jobs / session_folder(project).folder_of(str(project.cwd)).name


async def recorded_jobs(project: Project, *, everywhere: bool = False) -> tuple[Recorded, ...]:
    """Those of the folder that is worked in, or of all; the oldest first. Raises `UsageError` where the system has no `/proc` to find them by."""
    if sys.platform != "linux":
        raise UsageError("jobs of sessions are found again on Linux only", hint="In a talk, /jobs lists its own.")
    found = list[tuple[Records, Path, Record, tuple[int, ...]]]()
    every = await anyio.to_thread.run_sync(partial(_all, project, everywhere=everywhere))
    looks = await look_at_all([record.group for _, _, record in every])
    for (records, path, record), left in zip(every, looks, strict=True):
        if left:
            found.append((records, path, record, tuple(one.pid for one in left)))
        elif left is not None and (record.kept or not record.is_owned):
            await anyio.to_thread.run_sync(records.drop, path)
    found.sort(key=lambda one: (one[2].began, len(one[2].id), one[2].id))
    ids = [record.id for _, _, record, _ in found]
    return tuple([await anyio.to_thread.run_sync(_told, *one, ids) for one in found])


async def end_all(jobs: Sequence[Recorded]) -> list[bool]:
    """End them with all that they started, side by side; False for one of which something can't be ended."""
    ended = [False] * len(jobs)

    async def end(number: int, one: Recorded) -> None:
        if await one.job.group.stop():
            return
        ended[number] = True
        if one.job.record is not None:
            await anyio.to_thread.run_sync(one.records.drop, one.job.record)

    async with anyio.create_task_group() as tasks:
        for number, one in enumerate(jobs):
            tasks.start_soon(end, number, one)
    return ended


def meant(found: Sequence[Recorded], ref: str) -> Recorded:
    """The one that `ref` means: an id, or the beginning of a mark. Raises `UsageError`."""
    hits = [one for one in found if one.job.id == ref] or [
        one for one in found if len(ref) >= MARK // 2 and one.mark.startswith(ref)
    ]
    if len(hits) == 1:
        return hits[0]
    refs = ", ".join(one.ref for one in hits or found) or "none"
    if hits:
        raise UsageError(f"{ref!r} may mean {len(hits)} jobs", hint=f"Say which: {refs}.")
    raise UsageError(
        f"there is no job {ref!r} here", hint=f"Jobs of this folder: {refs}. trimtab jobs --all lists all."
    )


def _all(project: Project, *, everywhere: bool) -> list[tuple[Records, Path, Record]]:
    return [
        (records, path, record)
        for folder in (_folders(project.home.jobs) if everywhere else [records_folder(project)])
        for records in [Records(folder, (project.home.sessions,))]
        for path, record in records.found()
    ]


def _folders(jobs: Path) -> Iterator[Path]:
    try:
        with os.scandir(jobs) as entries:
            for number, entry in enumerate(entries):
                if number < _FOLDERS and entry.is_dir(follow_symlinks=False):
                    yield jobs / entry.name
    except OSError:
        return


def _told(records: Records, path: Path, record: Record, pids: tuple[int, ...], ids: Sequence[str]) -> Recorded:
    job = Job(
        record.id,
        record.command,
        record.group,
        record.began,
        lambda: now().timestamp(),
        by=record.by,
        kept=record.kept,
        file=records.output_of(record),
        record=path,
    )
    state: State = "kept"
    if not record.kept:
        state = "cut off" if not record.is_owned else "waited" if record.waited else "open"
    ref = record.id if ids.count(record.id) == 1 else mark_of(path)
    return Recorded(job, ref, path.stem, state, pids, record.session, record.project, records)
