"""The way to a server: proxy, certificates, and connections that are kept for the next request.

Environment variables are never read (`trust_env=False`): who asks says which proxy and which certificates, and a loopback URL never uses
a proxy. Loading certificates takes longer than a whole local request, so where nothing is encrypted none are loaded.
"""

import os
import ssl
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import SplitResult, urlsplit

import httpx2

from trimtab.providers.loopback import is_loopback
from trimtab.providers.wire import WireFailure
from trimtab.types.errors import ErrorInfo

T = TypeVar("T")
KEPT_CONNECTIONS = 8
_KEPT_S = 30.0


def open_transport(base_url: str, *, proxy: str | None = None, ca_file: str | None = None) -> httpx2.AsyncHTTPTransport:
    """Return connections to `base_url`. `ca_file` (or a folder) replaces the system's certificates.

    Raises `WireFailure` (class `invalid`) for a proxy or certificates that can't be used.
    """
    return _opened(httpx2.AsyncHTTPTransport, base_url, proxy=proxy, ca_file=ca_file)


def open_blocking_transport(
    base_url: str, *, proxy: str | None = None, ca_file: str | None = None
) -> httpx2.HTTPTransport:
    """The same for worker threads."""
    return _opened(httpx2.HTTPTransport, base_url, proxy=proxy, ca_file=ca_file)


def _opened(make: Callable[..., T], base_url: str, *, proxy: str | None, ca_file: str | None) -> T:
    proxy = None if is_loopback(base_url) else proxy
    secure = base_url.startswith("https:") or (proxy or "").startswith("https:")
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=KEPT_CONNECTIONS, keepalive_expiry=_KEPT_S)
    verify = _trusted(ca_file) if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # the latter trusts nobody
    try:
        if proxy:
            _check_proxy(urlsplit(proxy))
        return make(verify=verify, trust_env=False, proxy=proxy, limits=limits)
    except ImportError:
        raise _no_proxy(
            "SOCKS needs the package `socksio`", "Install it beside Trimtab, or use an HTTP proxy."
        ) from None
    except (ValueError, httpx2.InvalidURL) as exc:
        raise _no_proxy(str(exc), "Check the proxy (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, or its setting).") from exc


def _check_proxy(url: SplitResult) -> None:
    if not url.hostname or url.port == 0:  # asking for the port raises for one that can't be
        raise ValueError("its URL names no host or port")


def _no_proxy(reason: str, hint: str) -> WireFailure:
    return WireFailure(ErrorInfo("invalid", f"the proxy can't be used: {reason}", hint))


def _trusted(ca_file: str | None) -> ssl.SSLContext | bool:
    if ca_file is None:
        return True
    try:
        if os.path.isdir(ca_file):
            return ssl.create_default_context(capath=ca_file)
        return ssl.create_default_context(cafile=ca_file)
    except OSError as exc:  # ssl.SSLError is one
        reason = exc.strerror or str(exc)
        raise WireFailure(
            ErrorInfo(
                "invalid",
                f"the certificates in {ca_file!r} can't be read: {reason}",
                "Check `ca_file`, or the variables SSL_CERT_FILE and REQUESTS_CA_BUNDLE.",
            )
        ) from exc


class ConnectionTrace:
    """Watches one request; `reused` once it was written to a connection that had been kept from an earlier one.

    Goes into the request's `extensions["trace"]`; the names are those of the HTTP library's events.
    """

    def __init__(self) -> None:
        self._connected = False
        self._written = False

    @property
    def reused(self) -> bool:
        """Whether the server may have closed the connection before it saw the request."""
        return self._written and not self._connected

    async def __call__(self, name: str, info: dict[str, Any]) -> None:
        """Note one event."""
        self._connected = self._connected or "connect_tcp" in name
        self._written = self._written or name.endswith("send_request_headers.started")
