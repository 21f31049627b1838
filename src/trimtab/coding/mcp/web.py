"""A server that is asked by its address: an HTTP client with our proxy, our certificates, and bounds.

    request ──▶ Bounded ──▶ the connections that providers use, too ──▶ response, whose body may have so many bytes

The SDK follows a redirect only within the origin. The one rule: no answer, however large, fills the memory of this process.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from trimtab.coding.mcp.config import ServerConfig
from trimtab.coding.mcp.failures import McpFailure
from trimtab.coding.mcp.pipe import LARGEST
from trimtab.config.keys import find_ca_file, find_proxy
from trimtab.providers.loopback import is_loopback

_CONNECT_S = 15.0


@dataclass(slots=True)
class Seen:
    """What the server said last below the protocol: the status of its last answer to a message."""

    status: int = 0

    @property
    def wants_login(self) -> bool:
        """Whether it refused because it doesn't know who asks."""
        return self.status in (401, 403)


def http_client(config: ServerConfig, env: Mapping[str, str], seen: Seen, *, auth: Any = None) -> Any:
    """A client for requests to this server. Raises `McpFailure` for a proxy or certificates that can't be used."""
    import httpx2  # noqa: PLC0415 - few sessions ask a server by its address

    from trimtab.providers.network import open_transport  # noqa: PLC0415
    from trimtab.providers.wire import WireFailure  # noqa: PLC0415

    url = config.server.url or ""
    here = is_loopback(url)
    try:
        inner = open_transport(
            url if here and auth is None else "https://" + url.partition("://")[2],
            proxy=None if here else find_proxy(url, env),
            ca_file=find_ca_file(env),
        )
    except WireFailure as e:
        raise McpFailure(e.info.message) from None

    class Bounded(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: Any) -> Any:
            response = await inner.handle_async_request(request)
            if request.method == "POST" and request.url == asked:
                seen.status = response.status_code
            response.stream = Counted(response.stream)
            return response

        async def aclose(self) -> None:
            await inner.aclose()

    class Counted(httpx2.AsyncByteStream):
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for chunk in self._stream:
                size += len(chunk)
                if size > LARGEST:
                    raise McpFailure(f"it sent an answer of more than {LARGEST:,} bytes")
                yield chunk

        async def aclose(self) -> None:
            await self._stream.aclose()

    asked = httpx2.URL(url)
    server = config.server
    timeout = httpx2.Timeout(
        _CONNECT_S, read=max(300.0, server.timeout_s), connect=min(_CONNECT_S, server.start_timeout_s)
    )
    headers = {**server.headers, "accept-encoding": "identity"}  # what is counted is what is kept
    return httpx2.AsyncClient(headers=headers, timeout=timeout, auth=auth, transport=Bounded(), trust_env=False)
