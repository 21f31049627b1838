"""A person logs in to a server: a connection of its own is made for it, with a place where their browser comes back to, and left once it stands.

log_in ── Listener on loopback ── Connection, whose requests are authorised by a new login ──ready──▶ left; the tokens are kept by then
"""

from collections.abc import Callable
from dataclasses import replace

import anyio

from trimtab.coding.auth.pasted import take_pasted
from trimtab.coding.mcp.config import ServerConfig
from trimtab.coding.mcp.failures import McpFailure
from trimtab.coding.mcp.oauth import Listener, Show
from trimtab.coding.mcp.registered import way_back
from trimtab.coding.mcp.tail import Tail
from trimtab.coding.mcp.ways import Ways
from trimtab.coding.person import NOBODY, Person
from trimtab.coding.telling.printable import one_line


async def log_in(
    config: ServerConfig, ways: Ways, show: Show, person: Person = NOBODY, tell: Callable[[str], None] = lambda _: None
) -> bool:
    """Log in to the server; `show` gets the address that a person opens. Returns whether the server wanted a login at all. Raises `McpFailure`.

    `person` may paste the address at which a browser on another machine ended; `tell` says when it was another one.
    """
    if not config.server.url:
        raise McpFailure("it is a command: what it needs to know stands in its env")
    shown = False

    async def told(address: str) -> None:
        nonlocal shown
        shown = True
        await show(address)
        group.start_soon(take_pasted, person, listener.take, tell)

    ways = replace(ways, login=replace(ways.login, show=told))
    listener = Listener()
    callback = await listener.open(way_back(config.server.oauth))
    connection = ways.connect(config, Tail(), lambda: None, callback=callback)
    async with anyio.create_task_group() as group:
        group.start_soon(listener.serve)
        group.start_soon(connection.run)
        async with anyio.create_task_group() as first:

            async def wait(event: anyio.Event) -> None:
                await event.wait()
                first.cancel_scope.cancel()

            first.start_soon(wait, connection.ready)
            first.start_soon(wait, connection.ended)
        connection.leave()
        await connection.ended.wait()
        group.cancel_scope.cancel()
    if connection.failure is not None or not connection.ready.is_set():
        raise _unregistered(config, connection.failure) or McpFailure("it ended")
    return shown


def _unregistered(config: ServerConfig, failure: McpFailure | None) -> McpFailure | None:
    """The failure, with what to do where the server lets no client register itself."""
    if failure is None or "Registration" not in failure.text or config.server.oauth.client_id:
        return failure
    name = one_line(config.name)
    return McpFailure(
        f"its authorisation server lets no program register itself ({failure.text}); register one there by hand, "
        f"and name it in [mcp.servers.{name}.oauth]: client_id, and callback_port for http://localhost:PORT/callback"
    )
