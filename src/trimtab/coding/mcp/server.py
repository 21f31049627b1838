"""One configured server over the life of a session: started when it is needed, started again when it was lost, given up when that doesn't help.

    idle ──first call──▶ starting ──▶ ready ──ends by itself──▶ idle, and a wait that doubles with each failure in a row
                             └─ fails ──▶ idle, the same        MOST_FAILURES in a row ──▶ given up, until a person restarts it

A call that was under way when its server was lost is never sent again: whether it did anything isn't known. The one rule: nothing here raises but
`McpFailure`, and nothing waits without an end.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, TypeVar

import anyio
from msgspec.structs import replace as changed

from trimtab.coding.mcp.config import ServerConfig
from trimtab.coding.mcp.connection import Connection, McpTimeout, NoWayBack
from trimtab.coding.mcp.failures import McpFailure
from trimtab.coding.mcp.forms import AllowedForms
from trimtab.coding.mcp.listings import Listings
from trimtab.coding.mcp.tail import Tail
from trimtab.coding.mcp.values import Listing
from trimtab.coding.services import Services
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened

T = TypeVar("T")
MOST_FAILURES = 5
_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 60.0
_TIDY_S = 10.0
"""How long one that is lost may take until all that it started is gone."""
_WHERE = 200
_TIMEOUTS = 2
"""So many calls in a row without an answer, and the server is started anew."""

State: TypeAlias = Literal["off", "idle", "starting", "ready", "failed", "login"]
Connect: TypeAlias = Callable[[ServerConfig, Tail, Callable[[], None]], Connection]
"""Makes a connection, not started; the last is called when its listing is another one."""


@dataclass(slots=True)
class Server:
    """A server of a session. `off` says why it isn't used; `changed` is called when its tools are others."""

    config: ServerConfig
    connect: Connect
    services: Services
    listings: Listings
    off: str = ""
    changed: Callable[[], None] = lambda: None
    listing: Listing | None = None
    kept: Listing | None = None
    """What was kept of it from earlier sessions."""
    tail: Tail = field(default_factory=Tail)
    fresh: bool = False
    """Whether the listing was made in this session."""
    legacy: bool = False
    """Whether it turned out to ask back in the middle of a call, which only the older handshake has a way for."""
    failure: McpFailure | None = None
    failures: int = 0
    _timeouts: int = 0
    _not_before: float = 0.0
    _connection: Connection | None = None
    _starting: bool = False
    _turn: anyio.Lock = field(default_factory=anyio.Lock)
    _writing: anyio.Lock = field(default_factory=anyio.Lock)

    @property
    def name(self) -> str:
        """Its name in the settings."""
        return self.config.name

    @property
    def named(self) -> str:
        """Its name and what it is, in a line for people."""
        return f"{one_line(self.name)} ({shortened(one_line(self.config.where), _WHERE)})"

    @property
    def state(self) -> State:
        """What it does now."""
        if self.off:
            return "off"
        if self._starting:
            return "starting"
        if self._connection is not None and self._connection.live:
            return "ready"
        if self.failure is not None:
            return "login" if self.failure.login else "failed"
        return "idle"

    @property
    def allowed(self) -> AllowedForms:
        """The forms of tools that people allowed."""
        return AllowedForms(self.listings.folder / "allowed")

    def known(self) -> Listing:
        """What it offers, as far as that is known."""
        return self.listing or Listing()

    def recollect(self) -> None:
        """Take what was kept of it. Touches the disk."""
        self.listing = self.kept = self.listings.read(self.config.key)
        self.legacy = self.kept is not None and self.kept.legacy

    async def start(self) -> Connection:
        """A connection that can be asked; starts the server if need be. Raises `McpFailure`."""
        if self.off:
            raise McpFailure(self.off)
        async with self._turn:
            if self._connection is not None and self._connection.live:
                return self._connection
            if self._connection is not None:
                with anyio.move_on_after(_TIDY_S):
                    await self._connection.ended.wait()
            self._note_end()
            self._may_start()
            self._starting = True
            try:
                return await self._started()
            finally:
                self._starting = False

    async def ask(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Ask it something. Raises `McpFailure`."""
        connection = await self.start()
        try:
            answer = await work(connection)
        except McpTimeout:
            self._timeouts += 1
            if self._timeouts >= _TIMEOUTS:
                self._timeouts = 0
                connection.leave()
            raise
        except NoWayBack:
            self.legacy = True
            raise
        except McpFailure:
            self._note_end()
            raise
        self.failures = self._timeouts = 0
        return answer

    async def restart(self) -> None:
        """End it and start it, whatever was before. Raises `McpFailure`."""
        await self.stop()
        self.failures, self._not_before, self.failure = 0, 0.0, None
        await self.start()

    async def stop(self) -> None:
        """End it, if it runs."""
        if self._connection is not None:
            self._connection.leave()
            with anyio.move_on_after(10):
                await self._connection.ended.wait()
            self._connection = None

    async def _started(self) -> Connection:
        connection = self.connect(self._agreeing, self.tail, self._listed_anew)
        self._connection = connection

        async def run() -> None:
            heeding = anyio.CancelScope()

            async def heed() -> None:
                with heeding:
                    await self.services.closing.wait()
                    connection.leave()

            async with anyio.create_task_group() as group:
                group.start_soon(heed)
                await connection.run()
                heeding.cancel()

        if self.services.closing.is_set():
            raise McpFailure("the session closes")
        self.services.run(run)
        try:
            await _either(connection.ready, connection.ended)
        except BaseException:
            connection.leave()
            raise
        if not connection.live:
            self.legacy = False  # it may have been another one's: what it needs is found out anew
            self._note_end()
            raise self.failure or McpFailure("it ended")
        self.failure = None
        await self._keep(connection.listing)
        return connection

    @property
    def _agreeing(self) -> ServerConfig:
        """Its configuration, with the handshake that it needs."""
        if not self.legacy:
            return self.config
        return replace(self.config, server=changed(self.config.server, protocol="legacy"))

    def _may_start(self) -> None:
        """Raise `McpFailure` where it ended too often, or too lately."""
        said = self.failure.text if self.failure is not None else ""
        if self.failures >= MOST_FAILURES:
            raise McpFailure(
                f"it failed {self.failures} times and isn't started again ({said}); /mcp restart {self.name} does"
            )
        left = self._not_before - anyio.current_time()
        if left > 0:
            login = self.failure is not None and self.failure.login
            raise McpFailure(f"{said}; it may be started again in {left:.0f} seconds", login=login)

    def _note_end(self) -> None:
        """Count it where a connection ended by itself."""
        connection = self._connection
        if connection is None or not connection.ended.is_set():
            return
        self._connection = None
        if connection.failure is None:
            return
        self.failure = connection.failure
        self.failures += 1
        wait = 0.0 if self.failures == 1 else min(_FIRST_WAIT_S * 2 ** (self.failures - 2), _LONGEST_WAIT_S)
        self._not_before = anyio.current_time() + wait

    def _listed_anew(self) -> None:
        connection = self._connection
        if connection is not None:
            self.services.run(lambda: self._keep(connection.listing))

    async def _keep(self, listing: Listing) -> None:
        self.fresh = True
        listing = changed(listing, legacy=self.legacy)
        if listing == self.listing:
            return
        self.listing = listing
        self.changed()
        async with self._writing:  # one after the other, the last one last
            await anyio.to_thread.run_sync(self.listings.write, self.config.key, self.known())


async def _either(one: anyio.Event, other: anyio.Event) -> None:
    async with anyio.create_task_group() as group:

        async def wait(event: anyio.Event) -> None:
            await event.wait()
            group.cancel_scope.cancel()

        group.start_soon(wait, one)
        group.start_soon(wait, other)
