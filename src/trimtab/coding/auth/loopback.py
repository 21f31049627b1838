"""The way back from the browser: an HTTP server on 127.0.0.1 that waits for one answer.

    GET /callback?code=…&state=… ──▶ Answer(code)            ?error=…&state=… ──▶ Answer(error)            any other path, state or request ──▶ a page that says no, and the wait goes on

Any program and any web page of this machine can send something here, so an answer counts only with the state that this login made up (RFC 6749, 10.12; RFC 8252, 7.3 and 8.4).
A server that brings no state back has it as the end of the path instead.
"""

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import anyio
from anyio.abc import Listener, SocketAttribute, SocketStream, TaskGroup

from trimtab.types.errors import ConfigError

_MAX_HEAD = 16 * 1024
_HEAD_S = 5.0
_BREATH_S = 0.1
_MOST_TOLD = 5
"""Answers of strangers that are told."""
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Trimtab</title><p>{text}</p></html>"""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the authorization server said by way of the browser: a code, or an error in its words."""

    code: str = field(default="", repr=False)
    error: str = ""
    description: str = ""


class WrongAnswer(Exception):
    """Why something that came isn't the answer of this login."""


@dataclass(slots=True)
class Callback:
    """Waits at `redirect_uri`. `odd` is told of what doesn't belong to this login."""

    redirect_uri: str
    state: str = field(repr=False)
    odd: Callable[[str], None]
    state_in_path: bool = False
    _answer: Answer | None = None
    _came: anyio.Event = field(default_factory=anyio.Event)
    _told: int = 0

    async def answer(self) -> Answer:
        """Wait for the answer."""
        await self._came.wait()
        assert self._answer is not None
        return self._answer

    def take(self, url: str) -> None:
        """Take the address at which a browser ended. Raises `WrongAnswer`."""
        self._answer = self._answer_in(url)
        self._came.set()

    def _answer_in(self, url: str) -> Answer:
        if not self.state_in_path:
            return answer_in(url, self.state)
        try:
            state = urlsplit(url.strip()).path.rpartition("/")[2]
        except ValueError:
            state = ""
        return answer_in(url, self.state, came=state)

    async def _serve(self, stream: SocketStream) -> None:
        with anyio.move_on_after(_HEAD_S):
            async with stream:
                try:
                    await self._reply(stream, await _target(stream))
                except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return

    async def _reply(self, stream: SocketStream, target: str) -> None:
        path = urlsplit(self.redirect_uri).path
        if self._came.is_set() or target.partition("?")[0] != path:
            await stream.send(_page("404 Not Found", "There is nothing here."))
            return
        try:
            answer = self._answer_in(target)
        except WrongAnswer as e:
            await stream.send(_page("400 Bad Request", "This isn't the answer that Trimtab waits for."))
            self._say_odd(f"something came back that isn't the answer of this login ({e}); still waiting")
            return
        said = (
            "You may close this window and go back to Trimtab."
            if answer.code
            else "The login was refused. You may close this window."
        )
        try:
            await stream.send(_page("200 OK", said))
        finally:  # also when the browser is gone already
            self._answer = answer
            self._came.set()

    def _say_odd(self, text: str) -> None:
        """Say it, but not as often as a stranger likes."""
        if self._told < _MOST_TOLD:
            self.odd(text)
        elif self._told == _MOST_TOLD:
            self.odd("more of that kind isn't told")
        self._told += 1

    async def _listen(self, listener: Listener[SocketStream], group: TaskGroup) -> None:
        """Serve whoever comes, and go on when there are more of them than files may be open."""
        while True:
            try:
                await listener.serve(self._serve, group)
            except* OSError:
                await anyio.sleep(_BREATH_S)


@asynccontextmanager
async def listening(
    port: int, path: str, odd: Callable[[str], None], *, state_in_path: bool = False
) -> AsyncIterator[Callback]:
    """Listen on 127.0.0.1 for as long as the block lasts; `port` 0 is any free one. `state_in_path`: for a server that brings none back. Raises `ConfigError` when that port is taken."""
    try:
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port)
    except OSError as e:
        raise ConfigError(
            f"port {port} on 127.0.0.1, to which the browser would come back, can't be used: {e.strerror or e}",
            hint=f"Is another login under way, or another program there? End it, or use {'--with-key' if state_in_path else '--device'}.",
        ) from None
    async with listener:
        at = listener.extra(SocketAttribute.local_port)
        state = secrets.token_urlsafe(32)
        # "localhost" is what servers that know no other way back allow; nothing but 127.0.0.1 is listened on.
        uri = f"http://localhost:{at}{path.rstrip('/')}/{state}" if state_in_path else f"http://127.0.0.1:{at}{path}"
        callback = Callback(uri, state, odd, state_in_path)
        async with anyio.create_task_group() as group:
            group.start_soon(callback._listen, listener, group)
            try:
                yield callback
            finally:
                group.cancel_scope.cancel()


def answer_in(url: str, state: str, *, came: str | None = None) -> Answer:
    """The answer that a URL (or its query) carries; `came` is the state it came with, where that isn't in the query. Raises `WrongAnswer` when it isn't one, or not of the login with `state`."""
    try:
        fields = parse_qs(urlsplit(url.strip()).query, keep_blank_values=True, max_num_fields=50)
    except ValueError:
        raise WrongAnswer("it can't be read") from None
    if any(len(values) > 1 for values in fields.values()):
        raise WrongAnswer("it says something twice")
    said = {name: values[0] for name, values in fields.items()}
    came = said.get("state", "") if came is None else came
    if not secrets.compare_digest(came.encode("utf-8", "replace"), state.encode()):
        raise WrongAnswer("its state is another one" if came else "it has no state")
    if said.get("error"):
        return Answer(error=said["error"], description=said.get("error_description", ""))
    if not said.get("code"):
        raise WrongAnswer("it has no code")
    return Answer(code=said["code"])


async def _target(stream: SocketStream) -> str:
    """The target of a GET request; empty for any other."""
    head = b""
    while b"\r\n\r\n" not in head and len(head) < _MAX_HEAD:
        head += await stream.receive(4096)
    method, _, rest = head.partition(b"\r\n")[0].decode("latin-1").partition(" ")
    return rest.partition(" ")[0] if method == "GET" else ""


def _page(status: str, text: str) -> bytes:
    body = _PAGE.format(text=text).encode()
    lines = (
        f"HTTP/1.1 {status}",
        "content-type: text/html; charset=utf-8",
        f"content-length: {len(body)}",
        "cache-control: no-store",
        "content-security-policy: default-src 'none'",
        "referrer-policy: no-referrer",
        "connection: close",
    )
    return "\r\n".join((*lines, "", "")).encode() + body
