"""One live connection to a server: a task that enters the SDK's client, waits, and leaves it; whoever has a question asks it from outside.

    Services.run(connection.run) ── start, within its time ── list ──▶ `ready`
                                 └─ waits: closing │ lost │ the list changed ─▶ listed again, not more often than once a second
    call, read, prompt ──in the caller's task, within their time──▶ plain JSON, or `McpFailure`
    left, lost or failed ──▶ `ended`; who still waits for an answer hears why

Contexts of the SDK are entered and left in that one task, as structured concurrency wants it. Foreign code runs here, so this is a door
(docs/adr/0006): whatever it raises becomes a `McpFailure`, and no server takes a session down.
"""

import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import anyio

from trimtab import __version__
from trimtab.coding.mcp.failures import McpFailure, in_words
from trimtab.coding.mcp.harmless import MOST_PROMPTS, MOST_TOOLS, listing_of
from trimtab.coding.mcp.sdk import load
from trimtab.coding.mcp.tail import Tail
from trimtab.coding.mcp.values import Listing
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened

Progress: TypeAlias = Callable[[str], Awaitable[None]]
Elicit: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Answers what a server asks a person, in the protocol's shapes."""
_PAGES = 100
_QUIET_S = 1.0
_CLOSED, _CLOSED_WORDS = -32000, "Connection closed"
"""The SDK's code and words for a request whose connection ends."""
_INVALID, _NO_WAY_BACK = -32600, "no back-channel"
"""The SDK's code and words, on a server's side, for what it can't ask over this revision."""
_CAUSE_S = 5.0
_UPDATE_S = 0.1
_LONGEST_CALL_S = 3_600.0
"""A call ends then, whatever signs of life the server gives."""


@dataclass(slots=True)
class Way:
    """How the server is reached: `open` makes the SDK's transport once the SDK is loaded; `lost` is set by it when the server is gone; `why` explains a failure better than
    the SDK can; `gone` says whether after it nothing more will come over this connection."""

    open: Callable[[], Any]
    lost: anyio.Event = field(default_factory=anyio.Event)
    why: Callable[[], McpFailure | None] = lambda: None
    gone: Callable[[McpFailure], bool] = lambda failure: False


@dataclass(slots=True)
class Asking:
    """What a server may ask for: a person's answers, and in which folders one works (none: it can't ask)."""

    elicit: Elicit
    roots: tuple[Path, ...]


class Connection:
    """One server, running. Made once, `run` once."""

    def __init__(
        self,
        way: Way,
        asking: Asking,
        tail: Tail,
        *,
        start_timeout_s: float,
        timeout_s: float,
        changed: Callable[[], None],
        legacy: bool = False,
    ) -> None:
        """`changed` is called when the listing is another one. `legacy`: only revisions with a handshake are agreed on."""
        self.ready = anyio.Event()
        self.ended = anyio.Event()
        self.listing = Listing()
        self.failure: McpFailure | None = None
        """Why it ended, unless it was left."""
        self._way = way
        self._asking = asking
        self._tail = tail
        self._start_timeout_s = start_timeout_s
        self._timeout_s = timeout_s
        self._changed = changed
        self._legacy = legacy
        self._outdone = False
        self._client: Any = None
        self._leave = anyio.Event()
        self._news = anyio.Event()
        self._waiting: set[anyio.CancelScope] = set()
        self._questions: set[anyio.CancelScope] = set()

    @property
    def live(self) -> bool:
        """Whether it can be asked."""
        return self.ready.is_set() and not self.ended.is_set() and not self._over and not self._outdone

    def leave(self) -> None:
        """End it."""
        self._leave.set()

    async def run(self) -> None:
        """Start it, keep it, end it; never raises but for a cancellation."""
        try:
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as group:
                    group.start_soon(self._heed, scope)
                    await load()
                    scope.deadline = anyio.current_time() + self._start_timeout_s
                    async with self._open() as client:
                        self.listing = await self._list(client)
                        scope.deadline = math.inf
                        self._client = client
                        self.ready.set()
                        group.start_soon(self._listen, client)
                        await self._follow(client)
                    group.cancel_scope.cancel()
            if scope.cancelled_caught and not self.ready.is_set() and not self._leave.is_set():
                last = self._tail.telling()
                words = f"; its last words: {last}" if last else ""
                self.failure = McpFailure(f"it didn't start within {self._start_timeout_s:g} seconds{words}")
        except Exception as exc:  # noqa: BLE001 - foreign code: how a server or the SDK fails is told, and ends nothing else
            if not self._leave.is_set():
                self.failure = self._said(exc)
        finally:
            if self._way.lost.is_set() and self.failure is None and not self._leave.is_set():
                self.failure = self._way.why() or McpFailure("it ended")
            self.ended.set()
            for waiting in tuple(self._waiting):
                waiting.cancel()

    async def call(self, tool: str, arguments: Mapping[str, Any], progress: Progress) -> Mapping[str, Any]:
        """Call a tool. Raises `McpFailure`."""
        teller = _Teller(progress, self._alive)
        return await self._asked(
            lambda: self._client.call_tool(tool, dict(arguments), progress_callback=teller.progress)
        )

    async def read(self, uri: str) -> Mapping[str, Any]:
        """Read a resource. Raises `McpFailure`."""
        return await self._asked(lambda: self._client.read_resource(uri))

    async def resources(self) -> list[Mapping[str, Any]]:
        """The resources, and templates of their addresses. Raises `McpFailure`."""
        found = await self._pages("list_resources", "resources")
        return [*found, *await self._pages("list_resource_templates", "resourceTemplates")]

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> Mapping[str, Any]:
        """A prompt, filled in. Raises `McpFailure`."""
        return await self._asked(lambda: self._client.get_prompt(name, dict(arguments) or None))

    async def _pages(self, method: str, field_name: str) -> list[Mapping[str, Any]]:
        try:
            found = await self._ask(lambda: _all_pages(getattr(self._client, method), field_name, MOST_TOOLS))
        except McpFailure:
            if method == "list_resource_templates":  # many servers have none, and say so by an error
                return []
            raise
        return list(found)

    async def _asked(self, work: Callable[[], Awaitable[Any]]) -> Mapping[str, Any]:
        """What the server answers, as plain JSON."""
        answer = await self._ask(work)
        plain: Mapping[str, Any] = answer.model_dump(by_alias=True, mode="json", exclude_none=True)
        return plain

    async def _ask(self, work: Callable[[], Awaitable[Any]]) -> Any:
        """Run a request in the caller's task, for as long as its time and the connection last."""
        if not self.live:
            raise self.failure or McpFailure("it ended")
        with anyio.CancelScope(deadline=anyio.current_time() + self._timeout_s) as scope:
            self._waiting.add(scope)
            try:
                with anyio.move_on_after(_LONGEST_CALL_S) as longest:
                    return await work()
            except Exception as exc:  # noqa: BLE001 - foreign code: a failed request is the asker's to read
                if self._asked_back(exc):
                    self._outdone = True
                    raise NoWayBack from None
                failure = await self._known_better(exc) or self._said(exc)
                if self._way.gone(failure):
                    self.failure = failure
                    self._leave.set()
                raise failure from None
            finally:
                self._waiting.discard(scope)
                self._drop_questions()
                if self._outdone and not self._waiting:  # others may finish over it
                    self._leave.set()
        if self.ended.is_set():
            raise self.failure or McpFailure("it ended before it answered")
        if longest.cancelled_caught:
            raise McpTimeout(f"it gave signs of life for {_LONGEST_CALL_S:g} seconds, and no answer")
        raise McpTimeout(f"it didn't answer within {self._timeout_s:g} seconds")

    def _asked_back(self, exc: BaseException) -> bool:
        """Whether a request failed since its server asked something in the middle of it, which revisions from 2026-07-28 on have no way for."""
        return not self._legacy and getattr(exc, "code", None) == _INVALID and _NO_WAY_BACK in str(exc)

    async def _known_better(self, exc: BaseException) -> McpFailure | None:
        """Why the connection ends, where a request only hears that it does: the cause takes a moment to come out."""
        if getattr(exc, "code", None) != _CLOSED or _CLOSED_WORDS not in str(exc):  # servers use that code, too
            return None
        with anyio.move_on_after(_CAUSE_S):
            await self.ended.wait()
        return self.failure

    def _said(self, exc: BaseException) -> McpFailure:
        """A failure in words: ours, else what the way knows of it, else the SDK's."""
        leaf = exc
        while isinstance(leaf, BaseExceptionGroup):
            leaf = leaf.exceptions[0]
        if isinstance(leaf, McpFailure):
            return leaf
        return self._way.why() or McpFailure(in_words(leaf))

    def _alive(self) -> None:
        """A sign of life: who waits waits anew."""
        for scope in self._waiting:
            scope.deadline = anyio.current_time() + self._timeout_s

    @contextmanager
    def _patient(self) -> Iterator[None]:
        """While a person is asked, nobody's time runs."""
        for scope in self._waiting:
            scope.deadline = math.inf
        try:
            yield
        finally:
            self._alive()

    async def _elicit(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """A person's answer, for as long as somebody waits for the server: nobody is asked out of the blue, or for a call that is over."""
        answer: Mapping[str, Any] = {"action": "cancel"}
        if not self._waiting:
            self._tail.say("it asked a person while nobody waits for it, so nobody was asked")
            return answer
        with anyio.CancelScope() as scope, self._patient():
            self._questions.add(scope)
            try:
                answer = await self._asking.elicit(params)
            finally:
                self._questions.discard(scope)
        return answer

    def _drop_questions(self) -> None:
        if not self._waiting:
            for scope in tuple(self._questions):
                scope.cancel()

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[Any]:
        import mcp_types as types  # noqa: PLC0415 - of the extra
        from mcp.client.client import Client  # noqa: PLC0415

        async def elicit(_context: Any, params: Any) -> Any:
            answer = await self._elicit(params.model_dump(by_alias=True, mode="json", exclude_none=True))
            return types.ElicitResult.model_validate(answer)

        async def roots(_context: Any) -> Any:
            return types.ListRootsResult(
                roots=[types.Root(uri=root.as_uri(), name=root.name) for root in self._asking.roots]
            )

        async def logged(params: Any) -> None:
            self._tail.say(f"{params.level}: {params.data}")

        async def heard(message: Any) -> None:
            if isinstance(message, types.ToolListChangedNotification | types.PromptListChangedNotification):
                self._news.set()

        async with Client(
            self._way.open(),
            cache=None,
            mode="legacy" if self._legacy else "auto",
            elicitation_callback=elicit,
            list_roots_callback=roots if self._asking.roots else None,
            logging_callback=logged,
            message_handler=heard,
            client_info=types.Implementation(name="trimtab", version=__version__),
        ) as client:
            # A result is passed on as it is: its schema is the server's, and a pattern in it could hold up the whole process.
            client.session.validate_tool_result = _accepted
            yield client

    async def _list(self, client: Any) -> Listing:
        has = client.server_capabilities
        tools = await _all_pages(client.list_tools, "tools", MOST_TOOLS) if has.tools is not None else []
        prompts, remarks = await self._prompts(client) if has.prompts is not None else ([], ())
        about = client.server_info
        return await anyio.to_thread.run_sync(
            lambda: listing_of(
                tools,
                prompts,
                server=f"{about.name} {about.version or ''}".strip() if about is not None else "",
                instructions=client.session.instructions or "",
                resources=has.resources is not None,
                remarks=remarks,
            )
        )

    async def _prompts(self, client: Any) -> tuple[list[Any], tuple[str, ...]]:
        """The prompts, and what is to be said of them: one that answers wrongly here still has its tools, one that is gone hasn't."""
        try:
            return await _all_pages(client.list_prompts, "prompts", MOST_PROMPTS), ()
        except (
            Exception
        ) as exc:  # foreign code: whatever it raises for an answer that is an error, or none of the protocol
            answered = isinstance(getattr(exc, "code", None), int) or type(exc).__name__ == "ValidationError"
            if not answered or getattr(exc, "code", None) == _CLOSED or self._over or self._way.why() is not None:
                raise
            return [], (f"its prompts are left out, since it can't list them: {in_words(exc)}",)

    async def _follow(self, client: Any) -> None:
        """Until it is left or lost: list again when that changed."""
        while not self._over:
            await _first_of(self._leave.wait, self._way.lost.wait, self._news.wait)
            if self._news.is_set() and not self._over:
                self._news = anyio.Event()
                with anyio.move_on_after(self._start_timeout_s):
                    listing = await self._list(client)
                    if listing != self.listing:
                        self.listing = listing
                        self._changed()
                with anyio.move_on_after(_QUIET_S):
                    await _first_of(self._leave.wait, self._way.lost.wait)

    @property
    def _over(self) -> bool:
        return self._leave.is_set() or self._way.lost.is_set()

    async def _heed(self, scope: anyio.CancelScope) -> None:
        """Let nobody who leaves, or is lost, wait for a start."""
        await _first_of(self._leave.wait, self._way.lost.wait)
        if not self.ready.is_set():
            scope.cancel()

    async def _listen(self, client: Any) -> None:
        """Later revisions of the protocol tell of changes only to who listens."""
        from mcp.client.client import MODERN_PROTOCOL_VERSIONS  # noqa: PLC0415 - of the extra

        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        try:
            async with client.listen(tools_list_changed=True, prompts_list_changed=True) as changes:
                async for _ in changes:
                    self._news.set()
        except Exception as exc:  # noqa: BLE001 - foreign code: a server that tells of no changes has none that matter
            self._tail.say(f"no news of changes: {in_words(exc)}")


class McpTimeout(McpFailure):
    """A request got no answer in its time."""


class NoWayBack(McpFailure):
    """A server asked something in the middle of a request, and the revision of the protocol that was agreed on has no way for it."""

    def __init__(self) -> None:
        super().__init__(
            "it asked something back, for which the revision of the protocol that was agreed on has no way. It is started anew with one that has: call it again"
        )


@dataclass(slots=True)
class _Teller:
    """Tells of progress, not too often; each word of it is a sign of life."""

    progress_to: Progress
    alive: Callable[[], None]
    _next: float = 0.0

    async def progress(self, done: float, total: float | None, message: str | None) -> None:
        self.alive()
        now = anyio.current_time()
        if now < self._next:
            return
        self._next = now + _UPDATE_S
        of = f"{done:g} of {total:g}" if total else f"{done:g}"
        said = shortened(one_line(message), 200) if message else ""
        await self.progress_to(f"{of}: {said}\n" if said else f"{of}\n")


async def _accepted(name: str, result: Any) -> None:
    pass


async def _all_pages(fetch: Callable[..., Awaitable[Any]], field_name: str, most: int) -> list[Any]:
    """All entries of a list that comes in pages, as plain JSON; one more than `most` at most."""
    found: list[Any] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await fetch(cursor=cursor)
        found += page.model_dump(by_alias=True, mode="json", exclude_none=True).get(field_name, [])
        following = page.next_cursor
        if not following or following == cursor or len(found) > most:
            break
        cursor = following
    return found[: most + 1]


async def _first_of(*waits: Callable[[], Awaitable[object]]) -> None:
    """Wait until one of them is done."""
    async with anyio.create_task_group() as group:

        async def wait(one: Callable[[], Awaitable[object]]) -> None:
            await one()
            group.cancel_scope.cancel()

        for one in waits:
            group.start_soon(wait, one)
