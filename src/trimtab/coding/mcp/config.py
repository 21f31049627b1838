"""Which servers are configured: by the person's settings, and by the `.mcp.json` of a project that is trusted.

    [mcp.servers.NAME] ─┐
    .mcp.json ──────────┴─▶ ServerConfig ──expanded(environment)──▶ what is started or asked ──key──▶ the name of what is kept about it

A server whose configuration can't be used has a `problem` and is never started. The one rule: where both name a server, the person's is meant.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from msgspec.structs import replace as changed

from trimtab.coding.mcp.registered import problem_of
from trimtab.config.settings import McpOAuth, McpServer
from trimtab.context.summary.redact import redact

_SECRET = 8
"""Characters from which on a value is worth hiding: a shorter one is a switch."""
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One server. `origin` is the file that names it when that is a project's, else empty. `said` is the entry as it stands in that file, for a person to judge."""

    name: str
    server: McpServer
    cwd: Path
    origin: str = ""
    said: str = ""
    problem: str = ""
    written: McpServer | None = None
    """As it was before variables were filled in."""
    judged: Mapping[str, str] = field(default_factory=dict)
    """Digests of what a person let run, by name, of a server that a project brings."""

    @property
    def command(self) -> tuple[str, ...]:
        """What is started; empty for a server that is asked by its address."""
        return (self.server.command, *self.server.args) if self.server.command else ()

    @property
    def where(self) -> str:
        """The command or the address, for people: variables by their names, and without what may be a secret."""
        server = self.written or self.server
        if server.command:
            return redact(" ".join((server.command, *server.args)))
        parts = urlsplit(server.url or "")
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that stand in no line about it."""
        return tuple(
            value
            for value in (
                *self.server.env.values(),
                *self.server.headers.values(),
                self.server.oauth.client_secret or "",
            )
            if len(value) >= _SECRET
        )

    @property
    def key(self) -> str:
        """A hash of all that decides what the server offers."""
        s = self.server
        facts = [s.command, s.args, sorted(s.env.items()), s.url, sorted(s.headers.items()), str(self.folder)]
        return hashlib.sha256(json.dumps(facts).encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def folder(self) -> Path:
        """Where its command starts."""
        return self.cwd / self.server.cwd if self.server.cwd else self.cwd


@dataclass(slots=True)
class _Expander:
    env: Mapping[str, str]
    missing: list[str] = field(default_factory=list)

    def text(self, text: str) -> str:
        return _VARIABLE.sub(self._value, text)

    def _value(self, found: re.Match[str]) -> str:
        value = self.env.get(found[1], found[2])
        if value is None:
            self.missing.append(found[1])
        return value or ""


def own_servers(servers: Mapping[str, McpServer], cwd: Path) -> tuple[ServerConfig, ...]:
    """The servers of the person's settings."""
    return tuple(ServerConfig(name, server, cwd) for name, server in servers.items())


def expanded(config: ServerConfig, env: Mapping[str, str]) -> ServerConfig:
    """The configuration with `${VAR}` and `${VAR:-DEFAULT}` in place, or with the problem that it has."""
    if config.problem:
        return config
    expand, server = _Expander(env), config.server
    filled = changed(
        server,
        command=expand.text(server.command) if server.command else server.command,
        args=tuple(map(expand.text, server.args)),
        env={name: expand.text(value) for name, value in server.env.items()},
        cwd=expand.text(server.cwd) if server.cwd else server.cwd,
        url=expand.text(server.url) if server.url else server.url,
        headers={name: expand.text(value) for name, value in server.headers.items()},
        oauth=_expanded_client(server.oauth, expand),
    )
    problem = _problem(filled)
    if expand.missing:
        problem = f"the variable {', '.join(dict.fromkeys(expand.missing))} isn't set"
    return replace(config, server=filled, problem=problem, written=server)


def _expanded_client(client: McpOAuth, expand: _Expander) -> McpOAuth:
    return changed(
        client,
        client_id=expand.text(client.client_id) if client.client_id else None,
        client_secret=expand.text(client.client_secret) if client.client_secret else None,
        redirect_uri=expand.text(client.redirect_uri) if client.redirect_uri else None,
    )


def _problem(server: McpServer) -> str:
    if bool(server.command) == bool(server.url):
        return "it needs a command or a url, and not both"
    if server.url:
        return _bad_url(server.url) or problem_of(server.oauth)
    if server.oauth != McpOAuth():
        return "its oauth is for a url, and it has a command: what that needs to know stands in its env"
    texts = (server.command or "", *server.args, *server.env, *server.env.values(), server.cwd or "")
    if any("\0" in text for text in texts) or any("=" in name or not name for name in server.env):
        return "its command or a variable holds what no program can be given"
    return ""


def _bad_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as e:
        return f"its url can't be read: {e}"
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or not url.isprintable() or " " in url:
        return "its url is no http(s) address"
    return ""
