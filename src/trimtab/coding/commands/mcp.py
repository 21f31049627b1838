"""`/mcp`: the servers, what they do, what their tools cost; and `/mcp:SERVER:PROMPT`, which says a prompt of one.

/mcp                  a row for each server
/mcp NAME             its tools, prompts, and the last that it printed
/mcp restart NAME     end it and start it
/mcp login NAME       log in to it; /mcp logout NAME forgets that
/mcp resources NAME   what it has to read
"""

import shlex
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

import anyio

from trimtab.coding.auth.browser import opener
from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.commands.saying import Said, prompt
from trimtab.coding.mcp.failures import McpFailure
from trimtab.coding.mcp.hub import Mcp, cost_of
from trimtab.coding.mcp.login import log_in
from trimtab.coding.mcp.open import login_of, ways_of
from trimtab.coding.mcp.server import Server
from trimtab.coding.mcp.tool import resource_line
from trimtab.coding.mcp.values import RemotePrompt
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened, table
from trimtab.types.errors import UsageError
from trimtab.types.near import nearest

MCP = "mcp:"
"""What stands before a prompt's server and name in a command."""
_NONE = "no servers. One is a table [mcp.servers.NAME] with a command or a url in {file}; a project that you trust may name some in its .mcp.json"
_LISTED = 200
_STATES = {
    "off": "off",
    "idle": "not started",
    "starting": "starting",
    "ready": "running",
    "failed": "failed",
    "login": "wants a login",
}


async def _run(desk: Desk, rest: str) -> None:
    hub = desk.session.mcp
    word, _, name = rest.partition(" ")
    work = _WORK.get(word)
    if not rest:
        desk.tell("\n".join(server_rows(hub, desk.session.model.context_window, desk.session.project.home.config_file)))
    elif work is not None and name.strip():
        await work(desk, _server(hub, name.strip()))
    else:
        desk.tell("\n".join(server_lines(_server(hub, rest), hub)))


def server_rows(hub: Mcp, window: int, file: object) -> list[str]:
    """A row for each server, and what isn't shown to the model."""
    if not hub.servers:
        return [_NONE.format(file=file)]
    shown, deferred = hub.shared_out(window)
    rows = [("SERVER", "STATE", "TOOLS", "TOKENS", "WHERE")]
    for server in hub.servers:
        tools = [tool for tool in (*shown, *deferred) if tool.server is server]
        known = server.listing is not None
        cost = f"about {cost_of(tools):,}" if known and tools else ""
        where = shortened(one_line(server.config.where), 60)
        rows.append((one_line(server.name), _STATES[server.state], str(len(tools)) if known else "?", cost, where))
    lines = table(rows, None, right=(2, 3))
    for server in hub.servers:
        why = server.off or (server.failure.text if server.failure is not None and server.state != "ready" else "")
        if why:
            lines.append(f"{one_line(server.name)}: {one_line(why)}")
            lines += printed(server) if server.state == "failed" else ()
    if deferred:
        share = f"{hub.settings.defer_share:.0%} of the window"
        lines.append(
            f"{len(deferred)} tools are looked up when they are needed: their schemas take more than {share} (mcp.defer_share)"
        )
    return lines


def server_lines(server: Server, hub: Mcp) -> list[str]:
    """All about one server."""
    return list(_server_lines(server, hub))


def _server_lines(server: Server, hub: Mcp) -> Iterator[str]:
    known, config = server.known(), server.config
    yield f"{one_line(server.name)}: {_STATES[server.state]}, {one_line(config.where)}"
    yield f"  from {one_line(config.origin) or 'your settings'}" + (
        f"; it calls itself {known.server}" if known.server else ""
    )
    if server.off:
        yield f"  not used: {one_line(server.off)}"
    if server.failure is not None and server.state != "ready":
        yield f"  failed {server.failures} times in a row: {server.failure.text}"
    mine = [tool for tool in hub.every_tool() if tool.server is server]
    for tool in mine[:_LISTED]:
        reads = " (only reads, it says)" if tool.remote.reads else ""
        yield f"  {tool.name}{reads}: {shortened(one_line(tool.remote.description), 160)}"
    if len(mine) > _LISTED:
        yield f"  and {len(mine) - _LISTED:,} more tools"
    for one in known.prompts:
        yield f"  /{MCP}{one_line(server.name)}:{one_line(one.name)} {_usage(one)}: {shortened(one_line(one.description), 160)}"
    if known.resources:
        yield f"  it may have resources: /mcp resources {one_line(server.name)}"
    yield from (f"  {remark}" for remark in known.remarks)
    yield from (f"  {line}" for line in printed(server, least=1))


def printed(server: Server, *, least: int = 2) -> tuple[str, ...]:
    """The last that a server printed, in lines, where those are more than the one that tells why it failed."""
    last = server.tail.last()
    return ("  the last that it printed:", *(f"    {line}" for line in last)) if len(last) >= least else ()


@contextmanager
def told(server: Server, then: str) -> Iterator[None]:
    """A failure of the server as an error that names it and its command; `then` says what to do. Raises `UsageError`."""
    try:
        yield
    except McpFailure as failure:
        hint = "\n".join((then, *printed(server)))
        raise UsageError(f"the server {server.named} failed: {failure.text}", hint=hint) from None


def _server(hub: Mcp, name: str) -> Server:
    server = hub.server(name)
    if server is None:
        names = [server.name for server in hub.servers]
        meant = nearest(name, names)
        guess = f"Did you mean {meant}? " if meant else ""
        raise UsageError(f"no server {name!r}", hint=f"{guess}Servers: {', '.join(names) or 'none'}.")
    return server


async def _restart(desk: Desk, server: Server) -> None:
    await _told(desk, server, server.restart)
    desk.tell(f"{one_line(server.name)} runs; it has {len(server.known().tools)} tools")


async def _login(desk: Desk, server: Server) -> None:
    session = desk.session

    async def show(address: str) -> None:
        await anyio.to_thread.run_sync(opener(session.project.env), address)
        desk.tell(
            f"Open this in your browser to log in to {one_line(server.name)}; it comes back by itself:\n  {address}"
        )

    async def work() -> None:
        ways = ways_of(session.project, session.kit.confiner, session.permissions.person)
        try:
            asked = await log_in(server.config, ways, show, session.permissions.person, desk.tell)
            await server.restart()
        except McpFailure as failure:
            desk.tell(f"{server.named}: {failure.text}")
            return
        desk.tell(f"{one_line(server.name)}: {'logged in' if asked else 'it wants no login'}")

    desk.work(work, is_turn=False)


async def _logout(desk: Desk, server: Server) -> None:
    store = login_of(desk.session.project).store
    done = await anyio.to_thread.run_sync(store.forget, server.config.server.url or "")
    await server.stop()
    desk.tell(f"{one_line(server.name)}: {'the login is forgotten' if done else 'there was no login'}")


async def _resources(desk: Desk, server: Server) -> None:
    async def listed() -> None:
        found = await server.ask(lambda connection: connection.resources())
        desk.tell("\n".join(map(resource_line, found[:_LISTED])) or "it has none now")

    await _told(desk, server, listed)


async def _told(desk: Desk, server: Server, work: Callable[[], Awaitable[object]]) -> None:
    with told(server, f"/mcp {one_line(server.name)} shows more."):
        await work()


_WORK: Mapping[str, Callable[[Desk, Server], Awaitable[None]]] = {
    "restart": _restart,
    "login": _login,
    "logout": _logout,
    "resources": _resources,
}


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    word, space, _ = typed.partition(" ")
    names = [server.name for server in session.mcp.servers]
    if space and word in _WORK:
        return [Completion(f"{word} {name}") for name in names]
    return [*(Completion(name, "all about it") for name in names), *(Completion(f"{work} ") for work in _WORK)]


def mcp_commands(session: Session) -> Mapping[str, Command]:
    """A command for each prompt of a server."""
    pairs = [(server, one) for server in session.mcp.servers if not server.off for one in server.known().prompts]
    return {f"{MCP}{server.name}:{one.name}": _command(server, one) for server, one in pairs if " " not in server.name}


def _command(server: Server, remote: RemotePrompt) -> Command:
    async def run(desk: Desk, rest: str) -> None:
        desk.work(partial(prompt, desk.session, await _said(desk.session, server, remote, rest)))

    help_text = one_line(shortened(remote.description or f"a prompt of {server.name}", 80))
    return Command(f"{MCP}{server.name}:{remote.name}", _usage(remote), help_text, run)


async def _said(session: Session, server: Server, remote: RemotePrompt, typed: str) -> Said:
    """A prompt, filled in by its server. Raises `UsageError`."""
    arguments = filled(remote, typed)
    with told(server, f"/mcp {one_line(server.name)} shows more."):
        result = await server.ask(lambda connection: connection.prompt(remote.name, arguments))
    parts = await anyio.to_thread.run_sync(session.mcp.reader().prompt, result)
    if not parts:
        raise UsageError(f"{server.name} gave a prompt without text", hint="Say it in your own words.")
    return Said(parts)


async def meet_named(session: Session, name: str) -> None:
    """Start the server that a command `mcp:SERVER:PROMPT` names, where nobody knows yet what prompts it has. Raises `UsageError` for one that can't be used."""
    server = _named(session, name)
    if server is None:
        return
    if server.off:
        raise UsageError(f"{server.name} isn't used: {server.off}", hint="trimtab mcp list shows all servers.")
    if server.listing is None:
        with told(server, f"/mcp {one_line(server.name)} shows more."):
            try:
                await server.start()
            except McpFailure as failure:
                server.failure = failure
                raise


def _named(session: Session, name: str) -> Server | None:
    """The server in `mcp:SERVER:PROMPT`: of two that it could be, the one with the longer name."""
    fits = [server for server in session.mcp.servers if name.startswith(f"{MCP}{server.name}:")]
    return max(fits, key=lambda server: len(server.name), default=None)


async def said_by_server(session: Session, name: str, typed: str) -> Said | None:
    """What the command `mcp:SERVER:PROMPT` says, with what was typed behind it; None where there is no such prompt. Raises `UsageError`."""
    await meet_named(session, name)
    server = _named(session, name)
    prompts = server.known().prompts if server is not None else ()
    remote = next((one for one in prompts if server is not None and name == f"{MCP}{server.name}:{one.name}"), None)
    return await _said(session, server, remote, typed) if server is not None and remote is not None else None


def _usage(remote: RemotePrompt) -> str:
    return " ".join(one_line(a.name.upper() if a.required else f"[{a.name.upper()}]") for a in remote.arguments)


def filled(remote: RemotePrompt, typed: str) -> dict[str, str]:
    """The arguments of a prompt in what was typed: in their order, or as `NAME=VALUE`; the last one takes the rest. Raises `UsageError`."""
    names = [argument.name for argument in remote.arguments]
    try:
        words = shlex.split(typed)
    except ValueError as e:
        raise UsageError(
            f"the arguments can't be read: {e}", hint="Put quotes around words that belong together."
        ) from None
    found: dict[str, str] = {}
    plain: list[str] = []
    for word in words:
        name, equals, value = word.partition("=")
        if equals and name in names:
            found[name] = value
        else:
            plain.append(word)
    free = [name for name in names if name not in found]
    for name in free[:-1]:
        if plain:
            found[name] = plain.pop(0)
    if plain and free:
        found[free[-1]] = " ".join(plain)
    missing = [argument.name for argument in remote.arguments if argument.required and argument.name not in found]
    if missing or (plain and not free):
        what = f"{', '.join(missing)} is missing" if missing else "it takes no more arguments"
        raise UsageError(what, hint=f"/{MCP}SERVER:{remote.name} {_usage(remote)}")
    return found


COMMAND = Command(
    "mcp",
    "[NAME | restart NAME | login NAME | logout NAME | resources NAME]",
    "the MCP servers and their tools",
    _run,
    _complete,
)
