"""A server put into a person's settings, and taken out again, without an editor.

    name, command or url, env, headers ──like those that are there? of a shape that can be used?──▶ [mcp.servers.NAME] in config.toml

The one rule: values stand in the file as they were given, so `${VAR}` stays the name of a variable, and none of them is said again.
"""

import re
import shutil
from pathlib import Path

from trimtab.coding.mcp.config import ServerConfig, expanded, own_servers
from trimtab.coding.mcp.names import told_apart
from trimtab.coding.project import Project
from trimtab.coding.settings.change import unset_setting
from trimtab.coding.telling.printable import one_line
from trimtab.config.edit import add_table
from trimtab.config.mistakes import show_path
from trimtab.config.settings import McpServer
from trimtab.types.errors import UsageError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VARIABLE = re.compile(r"\$\{[A-Za-z_]\w*(:-[^}]*)?\}")


def add_server(project: Project, name: str, server: McpServer) -> tuple[str, ...]:
    """Write it, and return what a person should know. Raises `UsageError` or `ConfigError` where it can't be used or written, and then nothing is changed."""
    _require_name(project, name, server)
    full = expanded(ServerConfig(name, server, project.cwd), project.env)
    unset = "the variable " in full.problem  # may be set by the time that it is used
    if full.problem and not unset:
        raise UsageError(f"{name}: {full.problem}", hint="trimtab mcp add --help shows both ways.")
    file = project.home.config_file
    add_table(file, ("mcp", "servers", name), _written(server))
    return (f"{name} stands in {file}", *_notes(server, full, file), "trimtab mcp list --start tries it")


def remove_server(project: Project, name: str) -> tuple[str, ...]:
    """Take it out of the person's file, and return what they should know. Raises `UsageError` where it isn't in there."""
    said = unset_setting(project, show_path(("mcp", "servers", name))) if name in project.settings.mcp.servers else None
    if said is None:
        names = ", ".join(map(one_line, project.settings.mcp.servers)) or "none"
        raise UsageError(
            f"no server {one_line(name)!r} stands in {project.home.config_file}",
            hint=f"Servers of your settings: {names}. One of a project's .mcp.json is turned off by [mcp.servers.NAME] disabled = true.",
        )
    return (f"{one_line(name)} is taken out of {project.home.config_file}", *said[1:])


def _require_name(project: Project, name: str, server: McpServer) -> None:
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{one_line(name)[:80]!r} is no name for a server",
            hint="Letters, digits, '.', '_' and '-', 64 at most; it begins with a letter or a digit.",
        )
    there = project.settings.mcp.servers
    if name in there:
        raise UsageError(
            f"there is a server {name} already", hint=f"trimtab mcp remove {name} takes it out; or choose another name."
        )
    (apart,) = told_apart(own_servers(there, project.cwd), [ServerConfig(name, server, project.cwd)])
    if apart.problem:
        raise UsageError(f"{name}: {apart.problem}", hint="Choose another name.")


def _written(server: McpServer) -> dict[str, object]:
    given = {"command": server.command, "args": list(server.args), "url": server.url}
    tables = {"env": dict(server.env), "headers": dict(server.headers)}
    return {key: value for key, value in {**given, **tables}.items() if value}


def _notes(server: McpServer, full: ServerConfig, file: Path) -> list[str]:
    notes = []
    if full.problem:
        notes.append(f"note: {full.problem}, so it isn't used yet")
    elif server.command and shutil.which(full.server.command or "", path=full.server.env.get("PATH")) is None:
        notes.append(f"note: there is no program {one_line(server.command)} here yet")
    plain = [name for name, value in (*server.env.items(), *server.headers.items()) if not _VARIABLE.search(value)]
    if plain:
        names = ", ".join(map(one_line, plain))
        notes.append(
            f"note: what {names} is stands in that file; where it is a secret, give '${{NAME}}' in single quotes, the name of a variable"
        )
        if file.stat().st_mode & 0o077:
            notes.append(f"note: others can read {file}; chmod 600 keeps it to you")
    return notes
