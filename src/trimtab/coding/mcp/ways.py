"""How a configured server is reached: its process, or its address; and why it failed, in better words than the SDK has.

command ──a project's: as it was judged? ──environment of tool commands + `env`, in the sandbox where that is wanted──▶ process_streams (pipe.py)
url     ──headers, an earlier login, our proxy and bounds──▶ the SDK's streamable HTTP over http_client (web.py)
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import anyio
from msgspec.structs import replace as changed

from trimtab.coding.mcp.config import ServerConfig
from trimtab.coding.mcp.connection import Asking, Connection, Way
from trimtab.coding.mcp.failures import McpFailure
from trimtab.coding.mcp.oauth import WAIT_S, Callback, Login, kept_auth, new_auth
from trimtab.coding.mcp.pipe import LARGEST, process_streams
from trimtab.coding.mcp.registered import registered_of
from trimtab.coding.mcp.tail import Tail
from trimtab.coding.mcp.web import Seen, http_client
from trimtab.coding.sandbox.confiner import Confiner


@dataclass(frozen=True, slots=True)
class Ways:
    """Makes connections for a project. `environment` is what commands of tools get, `env` the whole one, from which the way to the network is taken."""

    environment: Mapping[str, str]
    env: Mapping[str, str]
    confiner: Confiner
    login: Login
    asking: Callable[[ServerConfig], Asking]
    changed_since: Callable[[ServerConfig], str]
    """What of a project's server isn't as it was judged; empty when all is. Touches the disk."""

    def connect(
        self, config: ServerConfig, tail: Tail, changed: Callable[[], None], *, callback: Callback | None = None
    ) -> Connection:
        """A connection, not started. With `callback` a person logs in first."""
        way = self._process(config, tail) if config.command else self._address(config, callback)
        start_s = WAIT_S if callback is not None else config.server.start_timeout_s
        return Connection(
            way,
            self.asking(config),
            tail,
            start_timeout_s=start_s,
            timeout_s=config.server.timeout_s,
            changed=changed,
            legacy=config.server.protocol == "legacy",
        )

    def _process(self, config: ServerConfig, tail: Tail) -> Way:
        lost = anyio.Event()

        @asynccontextmanager
        async def opened() -> AsyncIterator[Any]:
            if config.origin and (other := await anyio.to_thread.run_sync(self.changed_since, config)):
                raise McpFailure(f"{other} isn't what it was when you let it be used; /reload asks about it")
            argv, environment = tuple(config.command), {**self.environment, **config.server.env}
            if config.server.sandboxed:
                started = await anyio.to_thread.run_sync(self.confiner.wrap, argv, environment, config.folder)
                if isinstance(started, str):
                    raise McpFailure(started)
                argv, environment = started[0], dict(started[1])
            if not config.folder.is_dir():
                raise McpFailure(f"its folder {config.folder} isn't there")
            async with process_streams(
                argv, cwd=config.folder, environment=environment, tail=tail, lost=lost
            ) as streams:
                yield streams

        def why() -> McpFailure | None:
            if not lost.is_set():
                return None
            last, code = tail.telling(), tail.code
            how = "" if code is None else f", by signal {-code}" if code < 0 else f", with exit code {code}"
            return McpFailure(f"it ended; its last words: {last}" if last else f"it ended without a word{how}")

        return Way(opened, lost, why)

    def _address(self, config: ServerConfig, callback: Callback | None) -> Way:
        seen = Seen()
        url = config.server.url or ""

        @asynccontextmanager
        async def opened() -> AsyncIterator[Any]:
            from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415 - of the extra

            auth, client_of_ours = None, registered_of(config.server.oauth)
            if callback is not None:
                auth = await new_auth(url, self.login, client_of_ours, callback)
            elif not any(name.lower() == "authorization" for name in config.server.headers):
                auth = await kept_auth(url, self.login, client_of_ours, partial(self._sent, config))
            async with (
                http_client(config, self.env, seen, auth=auth) as client,
                streamable_http_client(url, http_client=client, max_sse_event_size=LARGEST) as streams,
            ):
                yield streams

        def why() -> McpFailure | None:
            if seen.wants_login:
                words = f"it answered {seen.status}: it wants to know who asks"
                return McpFailure(words, login=True) if callback is None else None
            return McpFailure(f"it answered with HTTP status {seen.status}") if seen.status >= 400 else None

        return Way(opened, why=why, gone=lambda failure: failure.login or seen.status == 404)

    async def _sent(self, config: ServerConfig, request: Any) -> Any:
        """What the authorisation server of `config` answers; it is sent no header of the server's."""
        there = replace(config, server=changed(config.server, url=str(request.url), headers={}))
        async with http_client(there, self.env, Seen()) as client:
            return await client.send(request)
