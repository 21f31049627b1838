"""Logging in to a server by OAuth, with the SDK's client; and using what that gave in later sessions.

    /mcp login NAME ─▶ the SDK finds the authorisation server, registers, makes an address ─▶ a person opens it
                       127.0.0.1:PORT/callback ◀─ their browser comes back with a code ─▶ tokens ─▶ LoginStore
    a later session ─▶ LoginStore ─▶ tokens, renewed by the SDK when they are old ─▶ LoginStore

What the SDK forgets between processes is kept with the tokens: when they end, and where they are renewed. Without a person nothing is asked: a
login that is needed is a failure that says so.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
from anyio.abc import SocketStream

from trimtab.coding.mcp.failures import McpFailure
from trimtab.coding.mcp.logins import LoginStore

WAIT_S = 300.0
"""How long a person has for a login, in seconds."""
_PAGE = "<!doctype html><meta charset=utf-8><title>Trimtab</title><p>{}</p>"
_HEAD = 16_384
_SOON_S = 30
"""Tokens that end this soon are renewed first."""

Show = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Login:
    """Who is asked in a login: `show` gets the address that a person opens. `now` is seconds since 1970."""

    store: LoginStore
    now: Callable[[], float]
    show: Show | None = None


class _Storage:
    """The SDK's `TokenStorage` over a `LoginStore`. `fresh`: what is kept is for an earlier login, and doesn't count."""

    def __init__(self, url: str, login: Login, *, fresh: bool) -> None:
        self.context: Any = None
        self._url = url
        self._login = login
        self._fresh = fresh
        self._kept: dict[str, Any] = {}

    async def load(self) -> bool:
        """Read what is kept; whether there is a login."""
        kept = None if self._fresh else await anyio.to_thread.run_sync(self._login.store.get, self._url)
        self._kept = dict(kept or {})
        return "tokens" in self._kept

    async def get_tokens(self) -> Any:
        from mcp.shared.auth import OAuthToken  # noqa: PLC0415 - of the extra

        tokens = self._kept.get("tokens")
        if not isinstance(tokens, Mapping):
            return None
        expires = self._kept.get("expires_at")
        old = isinstance(expires, int | float) and expires < self._login.now() + _SOON_S
        # The SDK takes tokens that it is given for good ones; one without a value it renews.
        return OAuthToken.model_validate({**tokens, "access_token": ""} if old else dict(tokens))

    async def set_tokens(self, tokens: Any) -> None:
        self._kept["tokens"] = tokens.model_dump(mode="json", exclude_none=True)
        self._kept["expires_at"] = self._login.now() + tokens.expires_in if tokens.expires_in else None
        if self.context is not None and self.context.oauth_metadata is not None:
            self._kept["metadata"] = self.context.oauth_metadata.model_dump(mode="json", exclude_none=True)
        await anyio.to_thread.run_sync(self._login.store.put, self._url, dict(self._kept))

    async def get_client_info(self) -> Any:
        from mcp.shared.auth import OAuthClientInformationFull  # noqa: PLC0415 - of the extra

        client = self._kept.get("client")
        return OAuthClientInformationFull.model_validate(client) if isinstance(client, Mapping) else None

    async def set_client_info(self, client: Any) -> None:
        self._kept["client"] = client.model_dump(mode="json", exclude_none=True)

    def restore(self) -> None:
        """Give the SDK what it doesn't ask for."""
        from mcp.shared.auth import OAuthMetadata  # noqa: PLC0415 - of the extra

        if isinstance(metadata := self._kept.get("metadata"), Mapping):
            self.context.oauth_metadata = OAuthMetadata.model_validate(metadata)


async def kept_auth(url: str, login: Login) -> Any:
    """What authorises requests to `url` by an earlier login; None where there was none. A damaged one counts as none."""
    from pydantic import ValidationError  # noqa: PLC0415 - of the extra

    storage = _Storage(url, login, fresh=False)
    if not await storage.load():
        return None
    try:
        await storage.get_tokens(), await storage.get_client_info()
        auth = _provider(url, storage, "http://127.0.0.1/callback", None, None)
        storage.restore()
    except ValidationError:
        return None
    return auth


@dataclass(slots=True)
class Callback:
    """Where a browser comes back to. `address` is what the authorisation server sends it to."""

    address: str
    wait: Callable[[], Awaitable[Mapping[str, str]]]


async def new_auth(url: str, login: Login, callback: Callback) -> Any:
    """What authorises requests to `url` once a person has logged in, who is shown an address. Raises `ConfigError` where tokens can't be kept."""
    from mcp.client.auth import AuthorizationCodeResult  # noqa: PLC0415 - of the extra

    storage = _Storage(url, login, fresh=True)

    async def show(address: str) -> None:
        if urlsplit(address).scheme not in ("http", "https") or not address.isprintable():
            raise McpFailure("its authorisation server names an address that can't be opened")
        if login.show is not None:
            await login.show(address)

    async def wait() -> Any:
        came = await callback.wait()
        if "code" not in came:
            said = came.get("error_description") or came.get("error") or "no code came back"
            raise McpFailure(f"the login was refused: {said[:200]}")
        return AuthorizationCodeResult(code=came["code"], state=came.get("state"), iss=came.get("iss"))

    return _provider(url, storage, callback.address, show, wait)


def _provider(url: str, storage: _Storage, address: str, show: Any, wait: Any) -> Any:
    from mcp.client.auth import OAuthClientProvider  # noqa: PLC0415 - of the extra
    from mcp.shared.auth import OAuthClientMetadata  # noqa: PLC0415

    about = OAuthClientMetadata.model_validate(
        {
            "client_name": "Trimtab",
            "redirect_uris": [address],
            "grant_types": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_method": "none",
        }
    )
    auth = OAuthClientProvider(url, about, storage, redirect_handler=show, callback_handler=wait)
    storage.context = auth.context
    return auth


class Listener:
    """Listens on loopback for the one request that brings the code."""

    def __init__(self) -> None:
        self._came: dict[str, str] = {}
        self._done = anyio.Event()
        self._listener: Any = None

    async def open(self) -> Callback:
        """Begin to listen, on a port that is free."""
        self._listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
        port = self._listener.extra(anyio.abc.SocketAttribute.local_port)
        return Callback(f"http://127.0.0.1:{port}/callback", self.wait)

    async def serve(self) -> None:
        """Answer whoever comes."""
        async with self._listener:
            await self._listener.serve(self._answer)

    async def wait(self) -> Mapping[str, str]:
        """What the address held that the browser came back to."""
        await self._done.wait()
        return self._came

    async def _answer(self, stream: SocketStream) -> None:
        async with stream:
            with anyio.move_on_after(10):
                head = await _head(stream)
                path = head.split(" ")[1] if head.startswith("GET ") and head.count(" ") > 1 else ""
                parts = urlsplit(path)
                found = {name: values[0] for name, values in parse_qs(parts.query).items()}
                right = parts.path == "/callback" and bool(found.keys() & {"code", "error"})
                text = "You may close this page; Trimtab goes on." if right else "Not here."
                body = _PAGE.format(text).encode()
                status = "200 OK" if right else "404 Not Found"
                reply = f"HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
                await stream.send(reply.encode() + body)
                if right and not self._done.is_set():
                    self._came = found
                    self._done.set()


async def _head(stream: SocketStream) -> str:
    data = b""
    try:
        while b"\r\n" not in data and len(data) < _HEAD:
            data += await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        pass
    return data.partition(b"\r\n")[0].decode("latin-1")
