"""The SDK's own servers, as people write them, that ask something in the middle of a call: only the older handshake has a way for it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from support.mcp_kit import needs_sdk
from trimtab.coding.mcp.config import ServerConfig
from trimtab.coding.mcp.connection import Asking, Connection, Way
from trimtab.coding.mcp.failures import McpFailure
from trimtab.coding.mcp.listings import Listings
from trimtab.coding.mcp.server import Server
from trimtab.coding.mcp.tail import Tail
from trimtab.coding.services import Services, services
from trimtab.config.settings import McpProtocol, McpServer

pytestmark = [pytest.mark.anyio, needs_sdk, pytest.mark.filterwarnings("ignore:The roots capability is deprecated")]


def asking_server() -> Any:
    """A server of the SDK with a tool that asks a person, one that asks for the folders, and one that answers in the end."""
    from mcp.server.lowlevel import Server as Low
    from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

    released = anyio.Event()

    async def tools(_context: Any, _params: Any) -> Any:
        return ListToolsResult(
            tools=[Tool(name=name, input_schema={"type": "object"}) for name in ("who", "where", "slow")]
        )

    async def call(context: Any, params: Any) -> Any:
        if params.name == "slow":
            await released.wait()
            said = "in the end"
        elif params.name == "where":
            released.set()
            said = str((await context.session.list_roots()).roots[0].uri)
        else:
            schema = {"type": "object", "properties": {"name": {"type": "string"}}}
            answer = await context.session.elicit_form("who?", schema)
            said = f"{answer.action} {answer.content}"
        return CallToolResult(content=[TextContent(text=said)])

    return Low("asks", on_list_tools=tools, on_call_tool=call)


@asynccontextmanager
async def streams_to(server: Any) -> AsyncIterator[Any]:
    """The SDK's transport to a server in this process."""
    from mcp.shared.memory import create_client_server_memory_streams

    async with create_client_server_memory_streams() as (ours, theirs), anyio.create_task_group() as group:
        group.start_soon(server.run, *theirs, server.create_initialization_options())
        yield ours
        group.cancel_scope.cancel()


def made(root: Path, beside: Services, handshakes: list[str], protocol: McpProtocol = "auto") -> Server:
    """A server of a session over it; `handshakes` gets what each start agrees by."""
    asking_one = asking_server()

    async def person(_params: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"action": "accept", "content": {"name": "Ada"}}

    def connect(config: ServerConfig, tail: Tail, changed: Any) -> Connection:
        handshakes.append(config.server.protocol)
        return Connection(
            Way(lambda: streams_to(asking_one)),
            Asking(person, (root,)),
            tail,
            start_timeout_s=50,
            timeout_s=50,
            changed=changed,
            legacy=config.server.protocol == "legacy",
        )

    config = ServerConfig("asks", McpServer(command="asks", protocol=protocol), root)
    server = Server(config, connect, beside, Listings(root / "kept"))
    server.recollect()
    return server


async def said(server: Server, tool: str) -> str:
    """The text of a call's result."""

    async def quiet(_text: str) -> None:
        pass

    result = await server.ask(lambda connection: connection.call(tool, {}, quiet))
    return str(result["content"][0]["text"])


async def test_a_call_that_asks_back_fails_once_and_the_next_one_is_answered(tmp_path: Path) -> None:
    handshakes: list[str] = []
    async with services() as beside:
        server = made(tmp_path, beside, handshakes)
        with pytest.raises(McpFailure, match="call it again"):
            await said(server, "who")
        assert await said(server, "who") == "accept {'name': 'Ada'}"
        assert await said(server, "where") == tmp_path.as_uri()
        assert server.failures == 0
    assert handshakes == ["auto", "legacy"]


async def test_what_a_server_turned_out_to_need_is_kept_for_later_sessions(tmp_path: Path) -> None:
    handshakes: list[str] = []
    async with services() as beside:
        first = made(tmp_path, beside, handshakes)
        with pytest.raises(McpFailure):
            await said(first, "who")
        await said(first, "who")
    async with services() as beside:
        assert await said(made(tmp_path, beside, handshakes), "who") == "accept {'name': 'Ada'}"
    assert handshakes == ["auto", "legacy", "legacy"]


async def test_a_server_that_is_set_to_legacy_is_asked_so_from_the_start(tmp_path: Path) -> None:
    handshakes: list[str] = []
    async with services() as beside:
        assert await said(made(tmp_path, beside, handshakes, "legacy"), "who") == "accept {'name': 'Ada'}"
    assert handshakes == ["legacy"]


async def test_a_call_beside_one_that_asks_back_is_answered(tmp_path: Path) -> None:
    answers: list[str] = []
    async with services() as beside:
        server = made(tmp_path, beside, [])

        async def slow() -> None:
            answers.append(await said(server, "slow"))

        await server.start()
        async with anyio.create_task_group() as group:
            group.start_soon(slow)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(McpFailure, match="call it again"):
                await said(server, "where")
    assert answers == ["in the end"]
