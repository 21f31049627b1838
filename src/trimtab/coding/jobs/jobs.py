"""All jobs of a session: started, followed to their end, ended with it.

    start ──▶ process, pipe ──_follow──▶ output captured · closing? ended · its shell and all that it started are gone? told
    adopt ──▶ what a command left ──_watch──▶ the same without a pipe
    mind ──▶ a record of a command that is waited for, while it runs
    look_back ──▶ records of what runs although its session is gone: it stays, and is said

A turn's cancel touches no job. Of what `keep` was said, the pipe goes to a keeper process at once, so that nothing depends on Trimtab any more.
"""

import os
import subprocess
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio
import msgspec

from trimtab.coding.jobs.job import Job, told_s
from trimtab.coding.jobs.records import Records, mark_of, record_of
from trimtab.coding.jobs.spawn import exited, how_it_ended, leave, spawn
from trimtab.coding.sandbox.sandbox import Started
from trimtab.coding.services import Services
from trimtab.coding.telling.tables import counted
from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.capture import Capture, PrivateFolder
from trimtab.coding.tools.process import Finished, Group, Pump, hand_over, look_at_all
from trimtab.types.errors import UsageError

REMEMBERED = 50
"""Jobs that ended and are still listed."""
_DRAIN_S = 0.1
_A_WHILE_S = 1.0
"""How long a command that is waited for runs without a record, in seconds: most are done by then."""
_REST_S = 0.01
_PATIENCE_S = 10.0
"""How long the end of the session waits for its jobs, in seconds: SIGTERM, a grace, SIGKILL."""
_LONGEST_KNOWN = 4
"""Digits of an id that is taken from a record; with more, the ids that follow it would be none any more."""
_NOTED = 5
"""Jobs of earlier sessions that are said one by one."""
_ENDED_WITH = "ended with the session"
BY_MODEL = "ended as asked"
"""What is said of a job that the model ended: it knows."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What jobs have of an open session: where they run, how the person is told and how the model is, and who they belong to."""

    services: Services
    tell: Callable[[str], Awaitable[None]]
    note: Callable[[str], None]
    session: str
    recorded: bool = True
    """Whether a record of every job lies on disk, and not only of those that are kept."""
    emit: Callable[[Job], Awaitable[None]] | None = None
    """Tells watchers of one that is there, or that ended."""


@dataclass(slots=True)
class Jobs:
    """The jobs of one session. At most `most` of those that it started run at a time; `folder` takes their output."""

    folder: PrivateFolder
    records: Records
    now: Callable[[], float]
    """Seconds since 1970."""
    caps: Caps = field(default_factory=Caps)
    most: int = 8
    after: Callable[[], Awaitable[None]] | None = None
    """Called when one ended: what it left is looked at."""
    heard: Callable[[Job], None] | None = None
    """Called when one is there, and when one ended; must not raise."""
    all: dict[str, Job] = field(default_factory=dict)
    ever: int = 0
    """How many there were."""
    _here: Surroundings | None = None
    _over: anyio.Event = field(default_factory=anyio.Event)
    _pumps: dict[str, tuple[Pump, anyio.CancelScope, anyio.Event]] = field(default_factory=dict)

    def attach(self, here: Surroundings) -> None:
        """The session is open: from now on jobs can be started."""
        self._here = here

    @property
    def running(self) -> tuple[Job, ...]:
        """Those that run, the oldest first."""
        return tuple(job for job in self.all.values() if job.running)

    def get(self, job_id: str) -> Job:
        """The job of that id. Raises `UsageError`."""
        if (job := self.all.get(job_id)) is None:
            raise UsageError(f"there is no job {job_id!r}", hint=f"Jobs: {', '.join(self.all) or 'none'}.")
        return job

    async def start(self, started: Started, *, command: str, cwd: Path, limit_s: float | None, by: str = "") -> Job:
        """Start one, for at most `limit_s` seconds. Raises `UsageError` when too many run, `OSError` and `ValueError` as `spawn` does."""
        here = self._open()
        if sum(not job.kept for job in self.running) >= self.most:
            ids = ", ".join(job.id for job in self.running)
            raise UsageError(f"{self.most} jobs run already ({ids})", hint="End one first, or wait for it.")
        argv, environment = started
        with anyio.CancelScope(shield=True):  # a cancel may not lose a process that was just started
            # The file is made before anything is printed: from then on only the pump's thread writes there.
            capture = Capture(self.folder, self.caps.bash_head_bytes, self.caps.bash_tail_bytes, at_once=True)
            file = await anyio.to_thread.run_sync(capture.to_file)
            try:
                process, group, pipe = await anyio.to_thread.run_sync(spawn, argv, environment, cwd)
            except BaseException:
                await anyio.to_thread.run_sync(capture.discard)
                raise
            job = self._add(command, group, by)
            job.capture, job.file = capture, file
            pump = Pump(pipe, capture, job.see, rest_s=_REST_S)
            here.services.run(partial(self._follow, job, process, pump, limit_s))
            await self._record(job)
            self._hear(job)
            await self._emit(job)
            await here.tell(f"job {job.name} runs in the background; /jobs shows it")
        return job

    async def adopt(self, finished: Finished, *, command: str, by: str = "") -> Job | None:
        """Make a job of what a command left running; None where there is no session to hold it."""
        if self._here is None or self._over.is_set():
            return None
        job = self._add(command, finished.group, by)
        job.file = Path(finished.output.file) if finished.output.file else None
        self._here.services.run(partial(self._watch, job))
        with anyio.CancelScope(shield=True):
            await self._record(job)
            self._hear(job)
            await self._emit(job)
            await self._here.tell(f"job {job.name} was left running by a command; /jobs shows it")
        return job

    async def mind(self, group: Group, *, command: str, by: str = "") -> None:
        """Record a command that is waited for once it takes a while, so that it is found if Trimtab is killed and it isn't. Until cancelled; raises nothing."""
        here, path = self._here, None
        if here is None or not here.recorded:
            return
        await anyio.sleep(_A_WHILE_S)

        def write() -> Path:
            known_as = f"j{self.ever + 1}"
            record = record_of(
                known_as,
                group,
                command=command,
                session=here.session,
                began=self.now(),
                by=by,
                file=None,
                project=self.records.project,
            )
            return self.records.write(msgspec.structs.replace(record, waited=True))

        try:
            with anyio.CancelScope(shield=True), suppress(OSError):
                path = await anyio.to_thread.run_sync(write)
            await anyio.sleep_forever()
        finally:
            if path is not None:
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(self.records.drop, path)

    async def look_back(self) -> tuple[str, ...]:
        """Find jobs whose session is gone and that still run; return what a person should know of them."""
        here, notes = self._open(), list[str]()
        every = await anyio.to_thread.run_sync(self.records.left_behind)
        looks = await look_at_all([record.group for _, record in every])
        for (path, record), left in zip(every, looks, strict=True):
            group = record.group
            if not left:
                if left is not None:
                    self.records.drop(path)
                continue
            again = record.carried and record.session == here.session
            job = self._add(record.command, group, record.by if again else "an earlier session", record.id)
            job.began, job.kept, job.record = record.began, not again, path
            job.file = await anyio.to_thread.run_sync(self.records.output_of, record, self.folder.path)
            here.services.run(partial(self._watch, job))
            if again:
                await self._record(job)
                continue
            why = "was kept" if record.kept else "goes on although its session was cut off"
            pids = ", ".join(str(process.pid) for process in left[:5])
            shell = f"trimtab jobs kill {mark_of(path)}"
            notes.append(f"job {job.name} {why} (pid {pids}); /jobs kill {job.id} ends it (in a shell: {shell})")
        more = len(notes) - _NOTED
        return (*notes[:_NOTED], f"and {counted(more, 'job')} more; /jobs lists them") if more > 0 else tuple(notes)

    async def kill(self, job: Job, *, asked: str) -> bool:
        """End a job with all that it started; False when something of it can't be ended. `asked` says by whom."""
        if not job.running:
            return True
        job.asked = asked
        with anyio.CancelScope(shield=True):
            if await job.group.stop():
                return False
            with anyio.move_on_after(_PATIENCE_S):
                await job.ended.wait()
        return True

    async def keep(self, job: Job) -> None:
        """Let a job go on when the session ends. Raises `UsageError` when it can't be recorded, or runs no more."""
        if not job.running:
            raise UsageError(f"job {job.id} runs no more: {job.ending}")
        if job.kept:
            return
        job.kept = True
        with anyio.CancelScope(shield=True):
            await self._give_pipe_away(job)
            try:
                await self._record(job, must=True)
            except OSError as error:
                job.kept = False
                raise UsageError(f"job {job.id} can't be kept: {error.strerror or error}") from error
            await self._open().tell(
                f"job {job.name} goes on when this session ends (pid {job.group.leader}); trimtab jobs finds it"
            )

    async def carry(self) -> None:
        """The same session is opened again at once: let its jobs go on, and be its jobs there."""
        with anyio.CancelScope(shield=True):
            for job in self.running:
                if not job.kept:
                    job.kept = True
                    await self._give_pipe_away(job)
                    try:
                        await self._record(job, must=True, carried=True)
                    except OSError:
                        job.kept = False  # it ends with this opening then

    async def finish(self) -> None:
        """The session ends: so does every job that isn't kept. Returns when they have."""
        self._over.set()
        with anyio.CancelScope(shield=True), anyio.move_on_after(_PATIENCE_S):
            for job in self.running:
                if not job.kept:
                    await job.ended.wait()

    def _open(self) -> Surroundings:
        if self._here is None or self._over.is_set():
            raise UsageError("no job can be started now: the session isn't open")
        return self._here

    def _add(self, command: str, group: Group, by: str, known: str = "") -> Job:
        """A job more; `known` is the id that it had before."""
        taken = known in self.all or not 0 < len(known.removeprefix("j")) <= _LONGEST_KNOWN
        self.ever = self.ever + 1 if taken else max(self.ever, int(known.removeprefix("j")))
        job = Job(f"j{self.ever}" if taken else known, command, group, self.now(), self.now, by=by)
        self.all[job.id] = job
        past = [one for one in self.all.values() if not one.running]
        for one in past[: max(len(past) - REMEMBERED, 0)]:
            del self.all[one.id]
        return job

    async def _record(self, job: Job, *, must: bool = False, carried: bool = False) -> None:
        """Write its record, where there are records. Raises `OSError` if it `must` be written."""
        here = self._here
        if here is None or not (here.recorded or must):
            return

        def write() -> Path:
            record = record_of(
                job.id,
                job.group,
                command=job.command,
                session=here.session,
                began=job.began,
                by=job.by,
                file=job.file,
                project=self.records.project,
            )
            return self.records.write(msgspec.structs.replace(record, kept=job.kept, carried=carried), job.record)

        try:
            job.record = await anyio.to_thread.run_sync(write)
        except OSError:
            if must:
                raise
        if not job.running:
            await self._forget(job)

    async def _forget(self, job: Job) -> None:
        if job.record is not None:
            await anyio.to_thread.run_sync(self.records.drop, job.record)

    async def _follow(self, job: Job, process: "subprocess.Popen[bytes]", pump: Pump, limit_s: float | None) -> None:
        """See a job through that was started here."""
        scope, pumped = anyio.CancelScope(), anyio.Event()
        self._pumps[job.id] = (pump, scope, pumped)
        timed_out = False
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_pumping, pump, scope, pumped)
                tasks.start_soon(self._heed_the_end, job, tasks.cancel_scope.cancel)
                with anyio.move_on_after(limit_s) as limit:
                    await _gone(job.group, process)
                if timed_out := limit.cancelled_caught:
                    await job.group.stop()
                    with anyio.move_on_after(_PATIENCE_S):
                        await _gone(job.group, process)
                tasks.cancel_scope.cancel()
            if job.kept and self._over.is_set():
                leave(process)
                return
            with anyio.move_on_after(_DRAIN_S):
                if job.id in self._pumps and not pump.ended:
                    await pump.run()
        except BaseException:
            if not job.kept:
                with anyio.CancelScope(shield=True):
                    await job.group.stop()
                    process.poll()
                    await self._ended(job, _ENDED_WITH, failed=False)
            raise
        finally:
            if self._pumps.pop(job.id, None) is not None:
                os.close(pump.pipe)
        ending, failed = how_it_ended(process)
        if timed_out:
            ending, failed = f"timed out after {limit_s:g} s", True
        await self._ended(job, job.asked or ending, failed=failed and not job.asked)

    async def _watch(self, job: Job) -> None:
        """See a job through that others started: there is no pipe, and nobody says how it ended."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._heed_the_end, job, tasks.cancel_scope.cancel)
                await _gone(job.group)
                tasks.cancel_scope.cancel()
        except BaseException:
            if not job.kept:
                with anyio.CancelScope(shield=True):
                    await job.group.stop()
                    await self._ended(job, _ENDED_WITH, failed=False)
            raise
        if not (job.kept and self._over.is_set()):
            await self._ended(job, job.asked or "ended", failed=False)

    async def _heed_the_end(self, job: Job, let_go: Callable[[], None]) -> None:
        """When the session ends, end the job, or let go of one that is kept."""
        await self._over.wait()
        if job.kept:
            let_go()
            return
        job.asked = job.asked or _ENDED_WITH
        with anyio.CancelScope(shield=True):
            await job.group.stop()

    async def _give_pipe_away(self, job: Job) -> None:
        """Let a keeper process take what it prints from now on."""
        if (found := self._pumps.pop(job.id, None)) is None:
            return
        pump, scope, pumped = found
        scope.cancel()
        await pumped.wait()
        await anyio.to_thread.run_sync(hand_over, pump)
        job.capture = None
        await anyio.to_thread.run_sync(pump.capture.close)
        os.close(pump.pipe)

    async def _ended(self, job: Job, ending: str, *, failed: bool) -> None:
        job.ending, job.failed, job.took_s = ending, failed, self.now() - job.began
        here = self._here
        with anyio.CancelScope(shield=True):
            if job.capture is not None:
                await anyio.to_thread.run_sync(job.capture.close)
            await self._forget(job)
            if here is not None:
                words = f"job {job.name} is over: {job.ending}, after {told_s(job.took_s)}"
                await here.tell(words)
                await self._emit(job)
                if job.asked != BY_MODEL:
                    here.note(words)
            if self.after is not None:
                await self.after()
            job.end()
            self._hear(job)

    def _hear(self, job: Job) -> None:
        if self.heard is not None:
            self.heard(job)

    async def _emit(self, job: Job) -> None:
        if self._here is not None and self._here.emit is not None:
            await self._here.emit(job)


async def _pumping(pump: Pump, scope: anyio.CancelScope, pumped: anyio.Event) -> None:
    try:
        with scope, suppress(OSError):
            await pump.run()
    finally:
        pumped.set()


async def _gone(group: Group, process: "subprocess.Popen[bytes] | None" = None) -> None:
    """Wait until the command's shell, where it is a child of ours, and all that it started are gone."""
    if process is not None:
        await exited(process)
    await group.gone()
