"""`trimtab mcp`: the servers of this folder: what there is, what they offer, a call, a login, and a yes to one that a project brings."""

import json
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import click

from trimtab.agent.ports import ToolRun
from trimtab.agent.schema import fit
from trimtab.coding.auth.browser import opener
from trimtab.coding.commands.mcp import server_lines, server_rows, told
from trimtab.coding.mcp.adding import add_server, remove_server
from trimtab.coding.mcp.hub import cost_of
from trimtab.coding.mcp.login import log_in
from trimtab.coding.mcp.offline import Offline, servers_alone
from trimtab.coding.mcp.open import login_of
from trimtab.coding.mcp.project_file import project_servers
from trimtab.coding.mcp.project_trust import allow, as_it_stands
from trimtab.coding.mcp.server import Server
from trimtab.coding.project import Project, open_project
from trimtab.coding.telling.printable import indented, json_text, one_line
from trimtab.config.home import environment
from trimtab.config.settings import McpServer
from trimtab.frontends.cli.asking import LinePerson
from trimtab.frontends.cli.lines import Lines
from trimtab.types.errors import UsageError
from trimtab.types.messages import Text
from trimtab.types.near import nearest
from trimtab.types.text import scrub_deep, strip_terminal

_WINDOW = 200_000
"""A window for which what is deferred is said, where no model is known."""
_JSON = click.option("--json", "as_json", is_flag=True, help="As JSON.")
_SET = click.option("--set", "sets", metavar="KEY=VALUE", multiple=True, help="Any setting, as in config.toml.")
_START = click.option("--start", is_flag=True, help="Start each of them and ask, instead of telling what is known.")


@click.group("mcp", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> int:
    """Show the MCP servers of this folder, call their tools, log in to them. Alone: what there is."""
    return int(ctx.invoke(list_)) if ctx.invoked_subcommand is None else 0


@command.command("list")
@_START
@_JSON
@_SET
def list_(*, start: bool = False, as_json: bool = False, sets: tuple[str, ...] = ()) -> int:
    """List the servers. Exit code 1 when one that is meant to work doesn't."""

    async def work(found: Offline, project: Project) -> int:
        if start:
            await found.hub.meet_all()
        if as_json:
            click.echo(json_text(scrub_deep([_json(server, found) for server in found.hub.servers])))
        else:
            for line in server_rows(found.hub, _WINDOW, project.home.config_file):
                click.echo(strip_terminal(line))
        return 1 if any(server.state in ("failed", "login") for server in found.hub.servers) else 0

    return _run(work, sets)


@command.command("add")
@click.argument("name")
@click.option("--url", metavar="URL", help="The address of a server that runs elsewhere, instead of a command.")
@click.option(
    "--env",
    "env",
    metavar="K=V",
    multiple=True,
    help="A variable that its command gets; '${NAME}' in V is one of yours.",
)
@click.option(
    "--header",
    "headers",
    metavar="K=V",
    multiple=True,
    help="Sent with each request to the URL; '${NAME}' in V is a variable of yours.",
)
@click.argument("words", metavar="[-- COMMAND [ARG]...]", nargs=-1, type=click.UNPROCESSED)
def add(name: str, *, url: str | None, env: tuple[str, ...], headers: tuple[str, ...], words: tuple[str, ...]) -> int:
    """Put the server NAME into your settings: a command behind `--`, or --url. Nothing is started."""
    command_, *args = words or ("",)
    if bool(command_) == bool(url):
        raise UsageError(
            "a server is a command or a url" + (", and not both" if url else ""),
            hint=f"trimtab mcp add {one_line(name)} -- COMMAND ARG, or trimtab mcp add {one_line(name)} --url URL",
        )
    if (url and env) or (command_ and headers):
        raise UsageError("--env is for a command, --header for a url", hint="Leave it out.")
    server = McpServer(
        command=command_ or None,
        args=tuple(args),
        url=url,
        env=_pairs("--env", env),
        headers=_pairs("--header", headers),
    )
    for line in add_server(open_project(Path(".")), name, server):
        click.echo(strip_terminal(line))
    return 0


@command.command("remove")
@click.argument("name")
def remove(name: str) -> int:
    """Take the server NAME out of your settings. A login to it is kept: `trimtab mcp logout NAME` forgets that first."""
    for line in remove_server(open_project(Path(".")), name):
        click.echo(strip_terminal(line))
    return 0


def _pairs(option: str, given: tuple[str, ...]) -> dict[str, str]:
    """Names and values of `K=V`. Raises `UsageError`, which says no value."""
    found: dict[str, str] = {}
    for number, text in enumerate(given, 1):
        key, mark, value = text.partition("=")
        if not mark or not key.strip() or not text.isprintable():
            raise UsageError(
                f"{option} number {number} is no NAME=VALUE",
                hint=f"Give {option} NAME=VALUE, each with its own {option}.",
            )
        if key.strip() in found:
            raise UsageError(f"{option} names {one_line(key.strip())} twice", hint="Once, please.")
        found[key.strip()] = value
    return found


@command.command("tools")
@click.argument("name")
@_JSON
@_SET
def tools(name: str, *, as_json: bool, sets: tuple[str, ...]) -> int:
    """Show what the server NAME offers, as it says now: it is started."""

    async def work(found: Offline, project: Project) -> int:
        server = _server(found, name)
        with told(server, _try_again(server)):
            await server.start()
        if as_json:
            mine = [tool for tool in found.hub.every_tool() if tool.server is server]
            rows = [{"name": t.name, "description": t.spec.description, "parameters": t.spec.parameters} for t in mine]
            click.echo(json_text(scrub_deep(rows)))
        else:
            click.echo(strip_terminal("\n".join(server_lines(server, found.hub))))
        return 0

    return _run(work, sets)


@command.command("call")
@click.argument("name")
@click.argument("tool")
@click.argument("arguments", default="{}")
@_SET
def call(name: str, tool: str, arguments: str, *, sets: tuple[str, ...]) -> int:
    """Call TOOL of the server NAME with ARGUMENTS, a JSON object, and print what it gives. Exit code 1 when it says that it failed."""
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError) as e:
        raise UsageError(f"the arguments are no JSON: {e}", hint="""Give an object, as in '{"path": "."}'.""") from None
    if not isinstance(given, dict):
        raise UsageError("the arguments are no JSON object", hint="""Give an object, as in '{"path": "."}'.""")

    async def work(found: Offline, project: Project) -> int:
        server = _server(found, name)
        with told(server, _try_again(server)):
            await server.start()
        every = {t.remote.name: t for t in found.hub.every_tool() if t.server is server}
        one = every.get(tool) or next((t for t in every.values() if t.name == tool), None)
        if one is None:
            meant = nearest(tool, every)
            guess = f"Did you mean {meant}? " if meant else ""
            raise UsageError(f"{name} has no tool {tool!r}", hint=f"{guess}trimtab mcp tools {name} lists them.")
        fitted, problems = fit(one.remote.parameters, given)
        if problems:
            raise UsageError(
                f"the arguments don't fit: {'; '.join(problems)}",
                hint=f"trimtab mcp tools {name} --json shows the schema.",
            )

        async def show(text: str) -> None:
            click.echo(strip_terminal(text), err=True, nl=False)

        output = await one.run(fitted, ToolRun("cli", show))
        said = "\n".join(part.text if isinstance(part, Text) else "[a picture]" for part in output.parts)
        click.echo(strip_terminal(said), err=output.is_error)
        return 1 if output.is_error else 0

    return _run(work, sets)


@command.command("login")
@click.argument("name")
@_SET
def login(name: str, *, sets: tuple[str, ...]) -> int:
    """Log in to the server NAME by OAuth: an address is opened in your browser, or printed."""

    async def show(address: str) -> None:
        await anyio.to_thread.run_sync(opener(environment()), address)
        click.echo(f"Open this in your browser; it comes back by itself:\n  {strip_terminal(address)}", err=True)

    async def work(found: Offline, project: Project) -> int:
        server = _server(found, name)
        typed = sys.stdin is not None and sys.stdin.isatty()
        person = LinePerson(_say, interactive=typed)
        with person.reading(Lines(sys.stdin.fileno()).next if typed else None), told(server, _try_again(server)):
            asked = await log_in(server.config, found.ways, show, person, _say)
        click.echo(f"{one_line(name)}: {'logged in' if asked else 'it wants no login'}")
        return 0

    return _run(work, sets)


@command.command("logout")
@click.argument("name")
@_SET
def logout(name: str, *, sets: tuple[str, ...]) -> int:
    """Forget the login to the server NAME."""

    async def work(found: Offline, project: Project) -> int:
        url = _server(found, name).config.server.url or ""
        done = await anyio.to_thread.run_sync(login_of(project).store.forget, url)
        click.echo(f"{one_line(name)}: {'the login is forgotten' if done else 'there was no login'}", err=not done)
        return 0

    return _run(work, sets)


@command.command("allow")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Don't ask.")
def allow_(name: str, *, yes: bool) -> int:
    """Let the server NAME of this project's .mcp.json be used from now on, as it stands; it is shown first. The folder has to be trusted."""
    project = open_project(Path("."))
    if not project.trusted:
        raise UsageError(
            "this folder isn't trusted, so its .mcp.json isn't read", hint="trimtab trust set . folder trusts it."
        )
    found = project_servers(project.trust.root, project.cwd, project.home.trust_file)
    server = next((one for one in found.servers if one.name == name), None)
    if server is None:
        names = ", ".join(one_line(one.name) for one in found.servers) or "none"
        raise UsageError(f"this project names no server {name!r}", hint=f"It names: {names}.")
    items, lines = as_it_stands(project, server)
    click.echo("\n".join(indented(line) for line in lines), err=True)
    if not yes and not click.confirm("Use it from now on?", err=True):
        return 1
    allow(project, items)
    click.echo(f"{one_line(name)}: used from now on, until it changes")
    return 0


def _say(text: str) -> None:
    click.echo(strip_terminal(text), err=True)


def _run(work: Callable[[Offline, Project], Awaitable[int]], sets: tuple[str, ...]) -> int:
    project = open_project(Path("."), sets=sets)
    return anyio.run(partial(_with_servers, project, work))


async def _with_servers(project: Project, work: Callable[[Offline, Project], Awaitable[int]]) -> int:
    async with servers_alone(project) as found:
        for notice in (*project.notices, *found.notices):
            click.echo(f"note: {strip_terminal(notice)}", err=True)
        return await work(found, project)


def _server(found: Offline, name: str) -> Server:
    server = found.hub.server(name)
    if server is None:
        names = [server.name for server in found.hub.servers]
        meant = nearest(name, names)
        guess = f"Did you mean {meant}? " if meant else ""
        raise UsageError(f"no server {name!r}", hint=f"{guess}Servers: {', '.join(map(one_line, names)) or 'none'}.")
    return server


def _try_again(server: Server) -> str:
    where = one_line(server.config.origin) or "config.toml (trimtab config path)"
    return f"Correct its entry in {where}; trimtab mcp list --start tries it."


def _json(server: Server, found: Offline) -> dict[str, Any]:
    mine = [tool for tool in found.hub.every_tool() if tool.server is server]
    return {
        "name": server.name,
        "state": server.state,
        "where": server.config.where,
        "origin": server.config.origin or None,
        "problem": server.off or (server.failure.text if server.failure else None),
        "tools": [tool.name for tool in mine],
        "tokens": cost_of(mine),
        "prompts": [one.name for one in server.known().prompts],
        "resources": server.known().resources,
    }
