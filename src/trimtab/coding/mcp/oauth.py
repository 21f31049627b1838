"""Logging in to a server by OAuth, with the SDK's client; and using what that gave in later sessions.

    /mcp login NAME ─▶ the SDK finds the authorisation server, registers or takes the client that was registered, makes an address ─▶ a person opens it
                       127.0.0.1:PORT/callback ◀─ their browser comes back with a code ─▶ tokens ─▶ LoginStore
    a later session ─▶ LoginStore ─▶ tokens; old ones are renewed by one process at a time (`stored.py`) ─▶ LoginStore

Without a person nothing is asked: a login that is needed is a failure that says so.
"""

import errno
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
from anyio.abc import SocketStream

from trimtab.coding.auth.loopback import WrongAnswer, answer_in
from trimtab.coding.mcp.failures import McpFailure
from trimtab.coding.mcp.logins import LoginStore
from trimtab.coding.mcp.registered import Registered, WayBack
from trimtab.coding.mcp.stored import Send, Storage

WAIT_S = 300.0
"""How long a person has for a login, in seconds."""
_PAGE = "<!doctype html><meta charset=utf-8><title>Trimtab</title><p>{}</p>"
_HEAD = 16_384

Show = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Login:
    """Who is asked in a login: `show` gets the address that a person opens. `now` is seconds since 1970."""

    store: LoginStore
    now: Callable[[], float]
    show: Show | None = None


async def kept_auth(url: str, login: Login, client: Registered | None, send: Send) -> Any:
    """What authorises requests to `url` by an earlier login; None where there was none, or it was another client's. A damaged one counts as none. `send` asks an authorisation server."""
    from pydantic import ValidationError  # noqa: PLC0415 - of the extra

    storage = Storage(url, login.store, login.now, client)
    if not await storage.load():
        return None
    try:
        await storage.get_tokens(), await storage.get_client_info()
        auth = _provider(url, storage, "http://127.0.0.1/callback", None, None, send)
        storage.restore()
    except ValidationError:
        return None
    return auth


@dataclass(slots=True)
class Callback:
    """Where a browser comes back to. `address` is what the authorisation server sends it to."""

    address: str
    wait: Callable[[], Awaitable[Mapping[str, str]]]
    expect: Callable[[str], None]


async def new_auth(url: str, login: Login, client: Registered | None, callback: Callback) -> Any:
    """What authorises requests to `url` once a person has logged in, who is shown an address. Raises `ConfigError` where tokens can't be kept."""
    from mcp.client.auth import AuthorizationCodeResult  # noqa: PLC0415 - of the extra

    storage = Storage(url, login.store, login.now, client)
    storage.address = callback.address

    async def show(address: str) -> None:
        storage.choose_method()
        if urlsplit(address).scheme not in ("http", "https") or not address.isprintable():
            raise McpFailure("its authorisation server names an address that can't be opened")
        callback.expect(parse_qs(urlsplit(address).query).get("state", [""])[0])
        if login.show is not None:
            await login.show(address)

    async def wait() -> Any:
        came = await callback.wait()
        if "code" not in came:
            said = came.get("error_description") or came.get("error") or "no code came back"
            raise McpFailure(f"the login was refused: {said[:200]}")
        return AuthorizationCodeResult(code=came["code"], state=came.get("state"), iss=came.get("iss"))

    return _provider(url, storage, callback.address, show, wait, None)


def _provider(url: str, storage: Storage, address: str, show: Any, wait: Any, send: Send | None) -> Any:
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

    class Provider(OAuthClientProvider):  # type: ignore[misc]  # what the extra brings has no types for who lacks it
        """The SDK's, which takes what other processes renewed, and renews when it is this one's turn."""

        async def _auth_flow(self, request: Any) -> AsyncGenerator[Any, Any]:
            if send is not None:
                await storage.catch_up(self, send)
            flow = super()._auth_flow(request)
            try:
                outgoing = await anext(flow)
                while True:
                    outgoing = await flow.asend((yield outgoing))
            except StopAsyncIteration:
                return
            finally:
                await flow.aclose()

    auth = Provider(url, about, storage, redirect_handler=show, callback_handler=wait)
    storage.context = auth.context
    return auth


class Listener:
    """Listens on loopback for the one request that brings the code."""

    def __init__(self) -> None:
        self.state = ""
        """What an answer has to carry, once that is known; others are none."""
        self._came: dict[str, str] = {}
        self._done = anyio.Event()
        self._listeners: list[Any] = []
        self._path = "/callback"

    async def open(self, way: WayBack = WayBack()) -> Callback:  # noqa: B008 - it never changes
        """Begin to listen. Raises `McpFailure` where the port is taken."""
        hosts = {"localhost": ("127.0.0.1", "::1")}.get(way.host, (way.host,))
        for host in hosts:
            try:
                listener = await anyio.create_tcp_listener(local_host=host, local_port=way.port)
            except OSError as e:
                if host != hosts[0]:  # a machine without IPv6
                    break
                await self.close()
                why = "another program uses it" if e.errno == errno.EADDRINUSE else e.strerror or str(e)
                raise McpFailure(
                    f"port {way.port} of this machine, to which the browser has to come back, can't be had: {why}"
                ) from None
            self._listeners.append(listener)
        self._path = way.path
        port = self._listeners[0].extra(anyio.abc.SocketAttribute.local_port)
        return Callback(way.address(port), self.wait, self.expect)

    async def close(self) -> None:
        """Listen no more."""
        for listener in self._listeners:
            await listener.aclose()

    def expect(self, state: str) -> None:
        """Take an answer with this state alone: any program of this machine can send something here (RFC 8252, 8.9)."""
        self.state = state

    async def serve(self) -> None:
        """Answer whoever comes."""
        try:
            async with anyio.create_task_group() as group:
                for listener in self._listeners:
                    group.start_soon(listener.serve, self._answer)
        finally:
            with anyio.CancelScope(shield=True):
                await self.close()

    async def wait(self) -> Mapping[str, str]:
        """What the address held that the browser came back to."""
        await self._done.wait()
        return self._came

    async def _answer(self, stream: SocketStream) -> None:
        async with stream:
            with anyio.move_on_after(10):
                head = await _head(stream)
                path = head.split(" ")[1] if head.startswith("GET ") and head.count(" ") > 1 else ""
                right = not self._done.is_set() and self._is_answer(path)
                text = "You may close this page; Trimtab goes on." if right else "Not here."
                body = _PAGE.format(text).encode()
                status = "200 OK" if right else "404 Not Found"
                reply = f"HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
                await stream.send(reply.encode() + body)
                if right:
                    self.take(path)

    def take(self, address: str) -> None:
        """Take the address at which a browser ended. Raises `WrongAnswer` when it isn't the answer of this login."""
        answer_in(address, self.state or secrets.token_hex())
        self._came = {name: values[0] for name, values in parse_qs(urlsplit(address.strip()).query).items()}
        self._done.set()

    def _is_answer(self, target: str) -> bool:
        try:
            answer_in(target, self.state or secrets.token_hex())
        except WrongAnswer:
            return False
        return target.partition("?")[0] == self._path


async def _head(stream: SocketStream) -> str:
    data = b""
    try:
        while b"\r\n" not in data and len(data) < _HEAD:
            data += await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        pass
    return data.partition(b"\r\n")[0].decode("latin-1")
