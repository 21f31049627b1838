"""Asking for a page: one GET, bounded in time and size, that goes where its address says and nowhere else.

    Address ──look up──▶ is each address of the host public? ──▶ GET, to that very address ──▶ a redirect on the same host: again · else: Page

The rule: a name of the internet never leads into the network around this machine. Its look-up is checked, and the connection goes to what was checked, so no second
look-up can answer otherwise. Behind a proxy the proxy looks names up, and only what an address says by itself is checked. No cookies, no keys, no referrer.
"""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio

from trimtab import __version__
from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.web.address import Address, is_public
from trimtab.config.keys import find_ca_file, find_proxy

_CONNECT_S = 10.0
_MOST_REDIRECTS = 5
_TRIED = 3
"""Addresses of a host that are tried, one after the other."""
_MOVED = frozenset({301, 302, 303, 307, 308})
_ACCEPT = "text/markdown, text/html;q=0.9, application/json;q=0.9, text/*;q=0.8, */*;q=0.1"


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long a page may take, in seconds, and how many bytes it may have once it is unpacked."""

    seconds: float
    bytes: int


@dataclass(frozen=True, slots=True)
class Page:
    """What came: `status`, the content type as it was sent, the body up to the bound, and whether there was more. `moved_to`: a redirect to another host, which wasn't followed."""

    address: Address
    status: int
    content_type: str
    body: bytes
    more: bool = False
    moved_to: Address | None = None


async def ask_for(address: Address, bounds: Bounds, env: Mapping[str, str]) -> Page:
    """Return the page. Raises `ToolFailure` for a host that can't be reached or may not be, and for one that takes too long."""
    with anyio.move_on_after(bounds.seconds):
        for _ in range(_MOST_REDIRECTS):
            page = await _once(address, bounds, env)
            if page.moved_to is None or not _same_place(address, page.moved_to):
                return page
            address = page.moved_to
        raise ToolFailure(f"{address.authority} leads on and on ({_MOST_REDIRECTS} redirects)")
    raise ToolFailure(f"{address.authority} didn't send the page within {bounds.seconds:g} s")


def _same_place(one: Address, other: Address) -> bool:
    """Whether whoever allowed the one allowed the other: the same server, or its encrypted side."""
    return one.authority == other.authority and (one.scheme == other.scheme or other.scheme == "https")


async def _once(address: Address, bounds: Bounds, env: Mapping[str, str]) -> Page:
    proxy = None if address.is_local else find_proxy(address.url, env)
    if proxy:
        return await _get(address, None, bounds, env, proxy)
    ips = await _looked_up(address)
    for ip in ips[:-1]:
        try:
            return await _get(address, ip, bounds, env, None)
        except _Unreachable:
            continue
    return await _get(address, ips[-1], bounds, env, None)


class _Unreachable(ToolFailure):
    """No connection came about."""


async def _looked_up(address: Address) -> list[str]:
    """Where the host is, those of the older protocol first: they are reached from more places."""
    try:
        found = await anyio.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise ToolFailure(f"there is no host {address.host}, or its name can't be looked up now") from None
    ips = list(dict.fromkeys(str(where[0]) for _, _, _, _, where in found))
    inside = [ip for ip in ips if not is_public(ip)]
    if inside and not address.is_local:
        raise ToolFailure(f"{address.host} leads to {inside[0]}, into the network around this machine; not asked for")
    return sorted(ips, key=lambda ip: ":" in ip)[:_TRIED]


async def _get(address: Address, ip: str | None, bounds: Bounds, env: Mapping[str, str], proxy: str | None) -> Page:
    """One GET; to `ip`, if given, whatever the host's name means by now."""
    import httpx2  # noqa: PLC0415 - few sessions read pages

    from trimtab.providers.network import open_transport  # noqa: PLC0415
    from trimtab.providers.wire import WireFailure  # noqa: PLC0415

    url = httpx2.URL(address.url)
    extensions: dict[str, Any] = {}
    if ip is not None:
        url = url.copy_with(host=ip)
        extensions["sni_hostname"] = address.host
    headers = {"host": address.authority, "user-agent": f"trimtab/{__version__}", "accept": _ACCEPT}
    try:
        # The name decides how it is reached, not the number that it stands for: certificates are loaded for any https.
        transport = open_transport(f"{address.scheme}://{address.host}", proxy=proxy, ca_file=find_ca_file(env))
        timeout = httpx2.Timeout(bounds.seconds, connect=min(_CONNECT_S, bounds.seconds))
        async with (
            httpx2.AsyncClient(transport=transport, trust_env=False, timeout=timeout) as client,
            client.stream("GET", url, headers=headers, extensions=extensions) as response,
        ):
            return await _read(address, response, bounds)
    except WireFailure as failure:
        raise ToolFailure(f"{failure.info.message}. {failure.info.hint or ''}".strip()) from None
    except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
        raise _Unreachable(f"{address.authority} can't be reached: {_words(error)}") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, UnicodeError) as error:
        raise ToolFailure(f"{address.authority} sent no page that can be read: {_words(error)}") from None


async def _read(address: Address, response: Any, bounds: Bounds) -> Page:
    kind = str(response.headers.get("content-type", ""))
    location = response.headers.get("location", "")
    if response.status_code in _MOVED and location:
        return Page(address, response.status_code, kind, b"", moved_to=address.leads_to(location))
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > bounds.bytes:
            return Page(address, response.status_code, kind, bytes(body[: bounds.bytes]), more=True)
    return Page(address, response.status_code, kind, bytes(body))


def _words(error: Exception) -> str:
    return str(error)[:200] or type(error).__name__
