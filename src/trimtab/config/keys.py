"""Keys, proxies and certificates: what the environment holds for a provider, handed down so that nothing below reads it.

Loopback never uses a proxy.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

_PROXIES = {"https": ("https_proxy", "all_proxy"), "http": ("http_proxy", "all_proxy")}


def find_key(variable: str, env: Mapping[str, str]) -> str | None:
    """The key that `variable` holds, without stray blanks; None when there is none."""
    return env.get(variable, "").strip() or None if variable else None


def find_proxy(url: str, env: Mapping[str, str]) -> str | None:
    """The proxy for `url` by the usual variables (lower or upper case), honouring `no_proxy`."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if _exempt(host, _variable("no_proxy", env)):
        return None
    for name in _PROXIES.get(parts.scheme, ()):
        value = _variable(name, env)
        if value:
            return value if "://" in value else f"http://{value}"
    return None


def find_ca_file(env: Mapping[str, str]) -> str | None:
    """The file or folder of certificates to trust instead of the system's, by the usual variables."""
    return env.get("SSL_CERT_FILE") or env.get("REQUESTS_CA_BUNDLE") or None


def _variable(name: str, env: Mapping[str, str]) -> str:
    return env.get(name) or env.get(name.upper()) or ""


def _exempt(host: str, no_proxy: str) -> bool:
    for entry in (e.strip().lower() for e in no_proxy.split(",")):
        if not entry:
            continue
        bare = entry.lstrip("*").lstrip(".").split(":")[0]
        if entry == "*" or host == bare or host.endswith(f".{bare}"):
            return True
    return False
