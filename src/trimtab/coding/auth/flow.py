"""How one logs in to a provider, as data that was checked: addresses that exist and hide what is sent, and what each way needs.

    [providers.NAME.oauth] (or the catalogue) ──flow_of──▶ Flow ──▶ code_flow.py (a browser here) or device_flow.py (any device)

The rule: nothing secret goes where others could read it, so an address is https, or on this machine (RFC 6749, 3.1.2.1 and 3.2; RFC 8252, 8.3).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from trimtab.config.keys import find_ca_file, find_proxy
from trimtab.providers.loopback import is_loopback
from trimtab.providers.resolve import is_web_url
from trimtab.types.config import OAuthConfig, ProviderConfig
from trimtab.types.errors import ConfigError

Way: TypeAlias = Literal["browser", "device"]
_HIGHEST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class Place:
    """An address of an authorization server, and the way to it."""

    url: str
    proxy: str | None = field(default=None, repr=False)
    ca_file: str | None = None


@dataclass(frozen=True, slots=True)
class Flow:
    """A checked `OAuthConfig`. `provider` is for people."""

    provider: str
    config: OAuthConfig = field(repr=False)
    token: Place
    authorize_url: str = ""
    device: Place | None = None

    @property
    def ways(self) -> tuple[Way, ...]:
        """The ways that there are, the usual one first."""
        return (*(("browser",) if self.authorize_url else ()), *(("device",) if self.device else ()))

    @property
    def gives_key(self) -> bool:
        """Whether a login brings an API key in place of a token."""
        return self.config.gives == "key"

    @property
    def client(self) -> dict[str, str]:
        """What says to the server which program asks."""
        secret = self.config.client_secret
        return {"client_id": self.config.client_id or "", **({"client_secret": secret} if secret else {})}

    @property
    def scope(self) -> dict[str, str]:
        """What is asked for."""
        return {"scope": " ".join(self.config.scopes)} if self.config.scopes else {}


def flow_of(provider: str, config: OAuthConfig, said: ProviderConfig, env: Mapping[str, str]) -> Flow:
    """Check `config`; proxy and certificates are those of the provider, else of the environment. Raises `ConfigError`, which names the key."""
    urls = {name: getattr(config, name) or "" for name in ("token_url", "authorize_url", "device_url")}
    if config.gives == "key":
        needed = {"token_url": urls["token_url"], "authorize_url": urls["authorize_url"]}
        urls["device_url"] = ""
    else:
        either = {"authorize_url (or device_url)": urls["authorize_url"] or urls["device_url"]}
        needed = {"token_url": urls["token_url"], "client_id": config.client_id or "", **either}
    missing = [name for name, value in needed.items() if not value]
    if missing:
        raise ConfigError(
            f"providers.{provider}.oauth isn't whole: {', '.join(missing)} is missing",
            hint=f"Set it, or log in by a key: trimtab login {provider} --with-key.",
        )
    for name, url in urls.items():
        if url:
            _require_safe(f"providers.{provider}.oauth.{name}", url)
    if config.redirect_port > _HIGHEST_PORT or not config.redirect_path.startswith("/"):
        raise ConfigError(
            f"providers.{provider}.oauth: {config.redirect_port}{config.redirect_path} is no port and path",
            hint="Write them like redirect_port = 1455 and redirect_path = '/callback'.",
        )

    def place(url: str) -> Place:
        proxy = None if is_loopback(url) else said.proxy or find_proxy(url, env)
        return Place(url, proxy, said.ca_file or find_ca_file(env))

    device = place(urls["device_url"]) if urls["device_url"] else None
    return Flow(provider, config, place(urls["token_url"]), urls["authorize_url"], device)


def _require_safe(name: str, url: str) -> None:
    if not is_web_url(url):
        raise ConfigError(f"{name} is no http(s) URL: {url!r}", hint="Write it like https://auth.example.com/token.")
    if not url.startswith("https://") and not is_loopback(url):
        raise ConfigError(
            f"{name} isn't encrypted: {url!r}", hint="Use https; plain http is for servers on this machine only."
        )
