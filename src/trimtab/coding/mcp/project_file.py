"""The `.mcp.json` of a project: the servers that it would like to have.

    {"mcpServers": {"NAME": {"command": "…", "args": […], "env": {…}} | {"type": "http", "url": "…", "headers": {…}, "oauth": {"clientId": "…", "callbackPort": …}}}}

The format is the one that several agents share; keys that aren't known here are left alone. Nothing in it may widen what runs unasked.
The file nearest to where one works wins. Nothing here raises for what a file says: that becomes a remark.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.coding.mcp.config import ServerConfig
from trimtab.coding.telling.printable import one_line, one_path
from trimtab.coding.trust.inputs import project_inputs
from trimtab.coding.trust.own import own_path
from trimtab.config.settings import McpOAuth, McpServer
from trimtab.types.errors import ConfigError
from trimtab.types.text import scrub_deep

FILE = ".mcp.json"
_LARGEST = 1_000_000
_SERVERS = 100
_VARIABLE = re.compile(r"\$\{[A-Za-z_]\w*\}")
_HTTP = ("http", "streamable-http", "streamableHttp")


@dataclass(frozen=True, slots=True)
class ProjectServers:
    """What the files say, and what a person should know of them."""

    servers: tuple[ServerConfig, ...] = ()
    remarks: tuple[str, ...] = ()


def project_servers(root: Path, cwd: Path, store: Path) -> ProjectServers:
    """Read the files from `cwd` up to the trusted project `root` (real paths). Touches the disk."""
    found: dict[str, ServerConfig] = {}
    remarks: list[str] = []
    inputs = [one.path for one in project_inputs(root, cwd) if one.path.name == FILE]
    for path in reversed(inputs):
        try:
            real, notice = own_path(root, path, store)
        except ConfigError as e:
            real, notice = None, e.message
        if notice:
            remarks.append(notice)
        if real is not None:
            for server in _read(real, root, remarks):
                found.setdefault(server.name, server)
    return ProjectServers(tuple(found.values()), tuple(remarks))


def _read(path: Path, root: Path, remarks: list[str]) -> tuple[ServerConfig, ...]:
    shown = f"{one_path(os.path.relpath(path, root))} of {one_path(root)}"
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise ValueError(f"it has more than {_LARGEST:,} bytes")
        tree = scrub_deep(json.loads(data.decode("utf-8-sig")))
    except (OSError, ValueError, RecursionError) as e:
        remarks.append(f"{shown} is left out: {one_line(str(e))}")
        return ()
    servers = tree.get("mcpServers") if isinstance(tree, dict) else None
    if not isinstance(servers, dict):
        remarks.append(f'{shown} is left out: it holds no table "mcpServers"')
        return ()
    if len(servers) > _SERVERS:
        remarks.append(f"{shown} names {len(servers):,} servers; the first {_SERVERS} count")
    return tuple(_server(name, entry, path) for name, entry in list(servers.items())[:_SERVERS])


def _server(name: str, entry: Any, path: Path) -> ServerConfig:
    said = json.dumps(entry, ensure_ascii=False, sort_keys=True, indent=2)
    if not isinstance(entry, dict):
        return ServerConfig(name, McpServer(), path.parent, str(path), said, "its entry is no table")
    kind = entry.get("type", "http" if "url" in entry and "command" not in entry else "stdio")
    problem = _wrong(entry, kind)
    server = McpServer() if problem else _made(entry, stdio=kind == "stdio")
    return ServerConfig(name, server, path.parent, str(path), said, problem)


def _made(entry: Mapping[str, Any], *, stdio: bool) -> McpServer:
    disabled = entry.get("disabled") is True
    if stdio:
        return McpServer(
            command=entry.get("command"),
            args=tuple(entry.get("args", ())),
            env=dict(entry.get("env", {})),
            cwd=entry.get("cwd"),
            disabled=disabled,
        )
    return McpServer(
        url=entry.get("url"),
        headers=dict(entry.get("headers", {})),
        oauth=_client(entry.get("oauth", {})),
        disabled=disabled,
    )


def _client(entry: Mapping[str, Any]) -> McpOAuth:
    return McpOAuth(
        client_id=entry.get("clientId"),
        client_secret=entry.get("clientSecret"),
        callback_port=entry.get("callbackPort", 0),
        redirect_uri=entry.get("redirectUri"),
    )


def _wrong(entry: Mapping[str, Any], kind: object) -> str:
    if kind == "sse":
        return "its type is sse, which later revisions of the protocol gave up; ask it by streamable HTTP"
    if kind != "stdio" and kind not in _HTTP:
        return f"its type {one_line(str(kind))[:40]!r} isn't known"
    texts = [entry.get(key) for key in ("command", "cwd", "url")]
    args = entry.get("args", [])
    tables = [entry.get(key, {}) for key in ("env", "headers")]
    if not all(text is None or isinstance(text, str) for text in texts):
        return "its command, cwd or url is no text"
    if not isinstance(args, list) or not all(isinstance(arg, str) for arg in args):
        return "its args are no list of texts"
    if not all(isinstance(t, dict) and all(isinstance(v, str) for v in t.values()) for t in tables):
        return "its env or headers are no table of texts"
    return _wrong_client(entry.get("oauth", {}))


def _wrong_client(oauth: Any) -> str:
    keys = ("clientId", "clientSecret", "redirectUri")
    fits = isinstance(oauth, dict) and all(isinstance(oauth.get(key, ""), str) for key in keys)
    port = oauth.get("callbackPort", 0) if isinstance(oauth, dict) else 0
    if not fits or type(port) is not int or port < 0:
        return "its oauth is no table of clientId, clientSecret, redirectUri (texts) and callbackPort (a number)"
    if (secret := oauth.get("clientSecret")) and not _VARIABLE.fullmatch(secret):
        return 'its oauth.clientSecret stands there for everybody to read; name a variable, as in "${ISSUES_SECRET}"'
    return ""
