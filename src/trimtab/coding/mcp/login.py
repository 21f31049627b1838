"""A person logs in to a server: a connection of its own is made for it, with a place where their browser comes back to, and left once it stands.

log_in ── Listener on loopback ── Connection, whose requests are authorised by a new login ──ready──▶ left; the tokens are kept by then
"""

from dataclasses import replace

import anyio

from trimtab.coding.mcp.config import ServerConfig
from trimtab.coding.mcp.failures import McpFailure
from trimtab.coding.mcp.oauth import Listener, Show
from trimtab.coding.mcp.tail import Tail
from trimtab.coding.mcp.ways import Ways


async def log_in(config: ServerConfig, ways: Ways, show: Show) -> bool:
    """Log in to the server; `show` gets the address that a person opens. Returns whether the server wanted a login at all. Raises `McpFailure`."""
    if not config.server.url:
        raise McpFailure("it is a command: what it needs to know stands in its env")
    shown = False

    async def told(address: str) -> None:
        nonlocal shown
        shown = True
        await show(address)

    ways = replace(ways, login=replace(ways.login, show=told))
    listener = Listener()
    callback = await listener.open()
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
        raise connection.failure or McpFailure("it ended")
    return shown
