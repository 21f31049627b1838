"""A client that a person registered with an authorisation server, for servers that let none register itself; and where a browser comes back to.

    [mcp.servers.NAME.oauth] client_id, client_secret, callback_port │ redirect_uri ──▶ Registered, WayBack

The one rule: a browser comes back to this machine, and a secret is sent to the authorisation server alone and kept nowhere.
"""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from trimtab.config.settings import McpOAuth

_HOSTS = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Registered:
    """The client's name there, and its secret; empty: it has none."""

    client_id: str
    client_secret: str = field(default="", repr=False)

    def method(self, supported: Any) -> str:
        """How the secret is sent, as the authorisation server takes it: RFC 8414 means `client_secret_basic` where it doesn't say."""
        if not self.client_secret:
            return "none"
        posted = bool(supported) and "client_secret_basic" not in supported and "client_secret_post" in supported
        return "client_secret_post" if posted else "client_secret_basic"


def registered_of(oauth: McpOAuth) -> Registered | None:
    """The client that the settings name."""
    return Registered(oauth.client_id, oauth.client_secret or "") if oauth.client_id else None


@dataclass(frozen=True, slots=True)
class WayBack:
    """Where a browser comes back to; port 0 is any free one."""

    host: str = "127.0.0.1"
    port: int = 0
    path: str = "/callback"

    def address(self, port: int) -> str:
        """As the authorisation server is told."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{port}{self.path}"


def way_back(oauth: McpOAuth) -> WayBack:
    """As the settings say: a registered port is one of `localhost`, as instructions for such servers have it; any other one of 127.0.0.1 (RFC 8252, 7.3)."""
    if oauth.redirect_uri:
        parts = urlsplit(oauth.redirect_uri)
        return WayBack(parts.hostname or "", parts.port or 0, parts.path)
    return WayBack("localhost", oauth.callback_port) if oauth.callback_port else WayBack()


def problem_of(oauth: McpOAuth) -> str:
    """Why these settings can't be used; empty when they can."""
    if oauth.client_secret and not oauth.client_id:
        return "its oauth.client_secret needs a client_id"
    if oauth.callback_port > 65_535:
        return "its oauth.callback_port is no port"
    if not oauth.redirect_uri:
        return ""
    if oauth.callback_port:
        return "its oauth has a callback_port and a redirect_uri: the latter has a port of its own"
    return (
        ""
        if _leads_here(oauth.redirect_uri)
        else "its oauth.redirect_uri is no http address of this machine with a port"
    )


def _leads_here(uri: str) -> bool:
    try:
        parts = urlsplit(uri)
        here = parts.scheme == "http" and parts.hostname in _HOSTS and bool(parts.port)
    except ValueError:
        return False
    plain = uri.isprintable() and " " not in uri and not (parts.query or parts.fragment or parts.username)
    return here and plain and parts.path.startswith("/")
