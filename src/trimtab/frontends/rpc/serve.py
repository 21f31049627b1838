"""The server: lines in, answers and records out, one session after the other.

    read ──line──▶ a reply ─▶ the dialog that waits
                 ─▶ `now` verbs ─▶ a task each                      get_state, abort, … whatever else runs
                 ─▶ `lane` verbs ─▶ one after the other, in order   prompt, set_model, fork, …; a turn runs beside them
                 ─▶ `queue` verbs ─▶ the same among themselves      steer, follow_up, clear_queue
    end of input ─▶ what was asked for is finished, then out        SIGTERM, SIGINT, SIGHUP, nobody reads ─▶ what runs is stopped, then out

The one rule: every line that asks for something is answered once.
"""

import os
from functools import partial

import anyio

from trimtab.coding.choose import Choice
from trimtab.coding.context.ahead import Start, Work
from trimtab.coding.project import Project
from trimtab.coding.services import bare_group
from trimtab.coding.session import Session
from trimtab.coding.switching import Candidate, carry_over, prepare
from trimtab.coding.toolset import removed_variables
from trimtab.config.hide import hide_variables
from trimtab.frontends.rpc.call import Answer, Call, response
from trimtab.frontends.rpc.desk import Reopening, WireDesk, queued
from trimtab.frontends.rpc.dialogs import WirePerson
from trimtab.frontends.rpc.entries import compaction_in
from trimtab.frontends.rpc.follow import Follower
from trimtab.frontends.rpc.framing import LineReader, TooLong
from trimtab.frontends.rpc.handlers import HANDLERS
from trimtab.frontends.rpc.host import Host
from trimtab.frontends.rpc.jobs import told
from trimtab.frontends.rpc.lane import Lane
from trimtab.frontends.rpc.load import ANYTIME, MOST_WAITING, Load
from trimtab.frontends.rpc.outbox import Outbox
from trimtab.frontends.rpc.requests import Asked, Line, Refused, Reply, read_line
from trimtab.frontends.rpc.stream import Stream, notify
from trimtab.frontends.rpc.streams import taken_over
from trimtab.frontends.rpc.table import REPLY
from trimtab.frontends.signals import CODES, heeded
from trimtab.providers.retry import RetryPolicy
from trimtab.types.errors import TrimtabError

_LARGE = 1 << 18
"""Bytes of a line that is read in a thread."""
_STOPPING_S = 0.6
"""Seconds in which what runs has to end after a signal; pi's client waits one in all."""
_LAST_S = 0.2
"""Seconds in which a client may read the rest after a signal."""
_DRAIN_S = 10.0
"""Seconds without a byte taken, after which a client that has closed its end counts as gone."""


def serve(project: Project, choice: Choice, *, takeover: bool = False) -> int:
    """Serve the client at standard input and output until it leaves; return the exit code. Raises as `open_session` does when the first session can't be opened."""
    with taken_over() as (there, here):
        return anyio.run(partial(converse, project, choice, LineReader(there), Outbox(here), takeover=takeover))


async def converse(
    project: Project,
    choice: Choice,
    reader: LineReader,
    outbox: Outbox,
    *,
    takeover: bool = False,
    signals: bool = True,
) -> int:
    """The same over any two descriptors; without `signals` in a thread that gets none."""
    async with bare_group() as services, anyio.create_task_group() as group:
        server = Server(outbox, services, group)
        for work in (partial(server.read, reader), server.mind_the_reader, server.mind_the_queue, outbox.run):
            group.start_soon(work)
        if signals:
            group.start_soon(server.heed_signals)
        with server.scope:
            await server.sit_down(project, choice, takeover=takeover)
        await server.drain()
        group.cancel_scope.cancel()
    return server.code


class Server:
    """One client. `services` is where what runs beside its sessions lives, `group` where what answers it does."""

    def __init__(self, outbox: Outbox, services: Start, group: anyio.abc.TaskGroup) -> None:
        self.scope = anyio.CancelScope()
        self.code = 0
        self._outbox = outbox
        self._services = services
        self._group = group
        self._lane = Lane()
        self._queue = Lane()
        self._person = WirePerson(outbox.put)
        self._host = Host(outbox, self._person, group.start_soon, self._lane.stop_job)
        self._ready = anyio.Event()
        """Set while a session is open, and at the end."""
        self._load = Load(outbox)
        self._quiet = anyio.Event()
        self._moving: list[tuple[Call, Answer]] = []
        """Requests that are answered once the session that they asked for is there."""

    async def read(self, reader: LineReader) -> None:
        """Take lines until there are no more; then nobody answers questions either."""
        while (line := await reader.next()) is not None:
            self._take(await _read(line))
            await self._outbox.room(MOST_WAITING)
        self._load.left = True
        self._person.leave()
        self._outbox.look()
        self._lane.close()
        self._queue.close()

    def _take(self, line: Line | None) -> None:
        match line:
            case None:
                pass
            case Reply():
                if not self._person.hear(line):
                    error = "no such question is open: it was answered, or its time is up"
                    self._outbox.put(response(REPLY, id=line.id, error=error))
            case Refused():
                self._outbox.put(response(line.command, id=line.id, error=line.error))
            case Asked():
                self._begin(Call(line, self._outbox.put))

    def _begin(self, call: Call) -> None:
        if refusal := self._load.take(call):
            call.refuse(refusal)
            return
        match call.asked.verb.way:
            case "lane":
                self._lane.add(call)
            case "queue":
                self._queue.add(call)
            case "now":
                self._load.answering += 1
                self._group.start_soon(self._now, call)

    async def mind_the_queue(self) -> None:
        """Queue what is to be queued, in order."""
        while (call := await self._queue.next()) is not None:
            await self._queue.doing(call, self._once_open(call))

    async def _once_open(self, call: Call) -> None:
        await self._ready.wait()
        if self._host.open is None:
            call.refuse("the session is ending")
        else:
            await self._handle(call)

    async def _now(self, call: Call) -> None:
        try:
            async with self._load.made(call):  # before the session is looked at, for it may be another one by then
                await (self._handle(call) if isinstance(call.asked.request, ANYTIME) else self._once_open(call))
        finally:
            self._load.answering -= 1
            self._quiet.set()

    async def _handle(self, call: Call) -> None:
        try:
            data = await HANDLERS[type(call.asked.request)](self._host, call.asked.request, call)
        except TrimtabError as e:
            call.refuse(e)
        except OSError as e:  # a name that no disk takes, a folder that is closed to us
            call.refuse(f"{call.asked.verb.name}: {e.strerror or e}")
        else:
            self._done(call, data)

    def _done(self, call: Call, data: Answer) -> None:
        if call.later:
            return
        if call.asked.verb.way == "lane" and self._host.desk.following is not None:
            self._moving.append((call, data))
        else:
            call.answer(data)

    async def heed_signals(self) -> None:
        """The first one stops what runs, a second one doesn't wait."""
        with anyio.open_signal_receiver(*heeded()) as signals:
            async for number in signals:
                if self.code:
                    os._exit(CODES[number])
                self.code = CODES[number]
                self._group.start_soon(self._stop)

    async def mind_the_reader(self) -> None:
        """When nobody reads, stop."""
        await self._outbox.broken.wait()
        await self._stop()

    async def _stop(self) -> None:
        """End what runs, in an orderly way if it takes moments."""
        self._person.leave()
        self._queue.drop()
        self._lane.drop()
        self._lane.stop_job()
        if self._host.open is None:
            self.scope.cancel()
            return
        desk = self._host.desk
        desk.interrupt()
        for scope in tuple(desk.commands):
            scope.cancel()
        await anyio.sleep(_STOPPING_S)
        self.scope.cancel()

    async def sit_down(self, project: Project, choice: Choice, *, takeover: bool) -> None:
        """One session after the other, until the client leaves."""
        try:
            here: Candidate | None = await prepare(
                project, choice, person=self._person, takeover=takeover, start=self._services
            )
            while here is not None:
                left = here.session
                async with here.stack:
                    following = await self._sit(left)
                reopened = isinstance(following, Reopening)
                here = await self._reopened(following) if isinstance(following, Reopening) else following
                if here is not None:
                    for note in await carry_over(left, here.session, reopened=reopened):
                        self._outbox.put(notify(note, "warning"))
        finally:
            self._lane.drop()
            self._queue.drop()
            self._ready.set()

    async def _sit(self, session: Session) -> Candidate | Reopening | None:
        """Serve over one session; return what to go on with."""
        hide_variables(removed_variables(session.project))  # a project that is trusted by now may name more
        async with anyio.create_task_group() as group:
            desk, follower = self._open(session, group)
            group.start_soon(follower.run)
            session.work_beside(partial(self._beside, session, group), between_turns=True)
            session.context.transcript.wait.way_out = "trimtab.skip_summary ends the wait"
            try:
                await session.announce()
                self._settle_in()
                await self._work(desk)
                if desk.following is None:
                    await desk.idle()
                    await self._all_answered()
                    await session.take_leave()
                    await follower.told()
            except BaseException:
                await desk.give_back()
                raise
            finally:
                self._host.open, self._ready = None, anyio.Event()
            group.cancel_scope.cancel()
        return desk.following

    def _open(self, session: Session, group: anyio.abc.TaskGroup) -> tuple[WireDesk, Follower]:
        """The desk for a session, and who tells of it."""
        archive, said = session.log.archive, session.project.settings.providers.get(session.model.provider)
        most = said.max_retries if said is not None else None
        stream = Stream(
            model=lambda: session.model,
            compaction=lambda entry_id: compaction_in(archive, entry_id),
            retries=lambda: RetryPolicy().max_retries if most is None else most,
            events=self._host.events,
        )
        follower = Follower(session.feed, stream, self._outbox, queued=lambda: queued(session))
        desk = WireDesk(
            session,
            put=self._outbox.put,
            person=self._person,
            start=group.start_soon,
            services=self._services,
            told=follower.told,
            ended=lambda: stream.ended,
        )
        session.jobs.heard = lambda job: self._outbox.put(told(session, job))
        self._host.open = desk, stream
        return desk, follower

    def _beside(self, session: Session, group: anyio.abc.TaskGroup, work: Work) -> None:
        """Start what a session does beside its turns; a name that comes of it is told."""

        async def run() -> None:
            before = session.log.archive.title
            await work()
            if (name := session.log.archive.title) != before:
                self._outbox.put({"type": "session_info_changed", "name": name})

        group.start_soon(run)

    def _settle_in(self) -> None:
        """Answer who asked for this session, and those who waited meanwhile."""
        moving, self._moving = self._moving, []
        for call, data in moving:
            call.answer(data)
        self._ready.set()

    async def _work(self, desk: WireDesk) -> None:
        """Do what is asked for in order, until the client leaves or goes elsewhere."""
        while desk.following is None and not desk.left and (call := await self._lane.next()) is not None:
            await self._queue.empty()  # a prompt takes along what was queued before it
            await self._lane.doing(call, self._handle(call))
        if desk.left:
            self._lane.drop()
            self._queue.close()

    async def _reopened(self, again: Reopening) -> Candidate:
        """The same session in its project as it is now, or as it was when that can't be."""
        try:
            return await prepare(again.project, again.choice, person=self._person, start=self._services)
        except TrimtabError as e:
            text = f"{e.message}; it goes on as it was" + (f"\n{e.hint}" if e.hint else "")
            self._outbox.put(notify(text, "error"))
            return await prepare(again.before, again.choice, person=self._person, start=self._services)

    async def _all_answered(self) -> None:
        await self._queue.empty()
        while self._load.answering:
            self._quiet = anyio.Event()
            await self._quiet.wait()

    async def drain(self) -> None:
        """Let the client read the rest, as long as it reads."""
        for call, _ in self._moving:
            call.refuse("the session is ending")
        self._outbox.close()
        while self._outbox.size and not self._outbox.broken.is_set():
            before = self._outbox.written
            with anyio.move_on_after(_LAST_S if self.code else _DRAIN_S):
                await self._outbox.room(0)
            if self.code or self._outbox.written == before:
                return


async def _read(line: bytes | TooLong) -> Line | None:
    """What a line says; a long one is read in a thread."""
    if isinstance(line, TooLong) or len(line) < _LARGE:
        return read_line(line)
    return await anyio.to_thread.run_sync(read_line, line)
