"""The servers of a project, put together: what is configured, what of it may act, how each is reached.

settings + .mcp.json (trusted) ──a person is asked about the latter──▶ Server for each ──what was kept of it──▶ Mcp
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio

from trimtab.coding.kit import Kit
from trimtab.coding.logs import now
from trimtab.coding.mcp.config import ServerConfig, expanded, own_servers
from trimtab.coding.mcp.connection import Asking
from trimtab.coding.mcp.elicit import Form
from trimtab.coding.mcp.hub import Mcp
from trimtab.coding.mcp.listings import Listings
from trimtab.coding.mcp.logins import FileLogins
from trimtab.coding.mcp.names import told_apart
from trimtab.coding.mcp.oauth import Login
from trimtab.coding.mcp.project_file import project_servers
from trimtab.coding.mcp.project_trust import Allowed, allowed_servers, changed_since
from trimtab.coding.mcp.sdk import installed, missing
from trimtab.coding.mcp.server import Server
from trimtab.coding.mcp.tail import Tail
from trimtab.coding.mcp.ways import Ways
from trimtab.coding.person import Person
from trimtab.coding.project import Project
from trimtab.coding.sandbox.confiner import Confiner
from trimtab.coding.services import Services
from trimtab.coding.toolset import caps_of, environment_of


async def open_mcp(project: Project, kit: Kit, services: Services, person: Person) -> tuple[Mcp, tuple[str, ...]]:
    """The servers of a session, none of them started, and notices. `person` is asked about those of the project."""
    configs, notices = await configured(project, person)
    ways = ways_of(project, kit.confiner, person)
    servers = await servers_of(project, configs, ways, services)
    hub = Mcp(
        project.settings.mcp,
        servers,
        services,
        kit.permissions,
        kit.outputs,
        caps_of(project.settings.tools),
        project.settings.tools.enabled,
    )
    if servers:
        kit.sources.append(hub.tools)
        kit.instructions.more.append(hub.sections)
        kit.arrivals.append(hub.arrivals)
    if not installed() and any(not server.config.problem and not server.config.server.disabled for server in servers):
        notices = (*notices, f"MCP: no server is used: {missing()}")
    wrong = (f"MCP: {s.name} isn't used: {s.config.problem}" for s in servers if s.config.problem)
    return hub, (*notices, *wrong)


async def configured(project: Project, person: Person) -> tuple[tuple[tuple[ServerConfig, str], ...], tuple[str, ...]]:
    """Every server that is named, each with why it isn't used (empty when it is), and notices."""
    settings = project.settings.mcp
    if not settings.enabled:
        return (), ()
    own = told_apart((), own_servers(settings.servers, project.cwd))
    found: list[tuple[ServerConfig, str]] = [(config, "") for config in own]
    notices: tuple[str, ...] = ()
    if project.trusted and settings.project_file:
        read = await anyio.to_thread.run_sync(project_servers, project.trust.root, project.cwd, project.home.trust_file)
        brought = told_apart(own, [config for config in read.servers if config.name not in settings.servers])
        allowed = await allowed_servers(project, brought, person)
        notices = (*read.remarks, *allowed.notices)
        found += [_as_judged(config, allowed) for config in brought]
    filled = tuple((expanded(config, project.env), why) for config, why in found)
    return filled, notices


def _as_judged(config: ServerConfig, allowed: Allowed) -> tuple[ServerConfig, str]:
    judged = allowed.judged.get(config.name)
    return (config, "you haven't said that it may be used") if judged is None else (replace(config, judged=judged), "")


def ways_of(project: Project, confiner: Confiner, person: Person) -> Ways:
    """How the project's servers are reached."""

    def asking(config: ServerConfig) -> Asking:
        named = config.server.roots
        roots = (project.cwd,) if named is None else tuple(Path(root).expanduser().absolute() for root in named)
        return Asking(Form(config.name, person).answer, roots)

    return Ways(
        environment_of(project), project.env, confiner, login_of(project), asking, partial(changed_since, project)
    )


def login_of(project: Project) -> Login:
    """Where logins are kept."""
    return Login(FileLogins(project.home.mcp_logins), lambda: now().timestamp())


async def servers_of(
    project: Project, configs: Sequence[tuple[ServerConfig, str]], ways: Ways, services: Services
) -> tuple[Server, ...]:
    """A `Server` for each, with what was kept of it."""
    listings = Listings(project.home.mcp_listings)
    there, enabled = installed(), project.settings.tools.enabled
    used = enabled is None or any(name.startswith(("mcp__", "*")) for name in enabled)
    servers = []
    for config, why in configs:
        reason = config.problem or ("it is disabled" if config.server.disabled else why)
        reason = reason or ("" if used else "tools.enabled names none of its tools")
        off = reason or ("" if there else missing())
        server = Server(config, ways.connect, services, listings, off=off, tail=Tail(config.secrets))
        if not server.off:
            await anyio.to_thread.run_sync(server.recollect)
        servers.append(server)
    return tuple(servers)
