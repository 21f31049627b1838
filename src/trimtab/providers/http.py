"""The socket, the retries and the clock of every wire.

One request: `Wire.request` shapes bytes → POST → `framing.py` cuts the body into events → `Decoder` turns them into stream events →
one `Ended`. A failure on the way becomes an `ErrorInfo`; `retry.py` says whether the same bytes go out again (`Retrying`: what streamed so far is void)
or whether it is the end. A stream never raises, except when it is cancelled. Closing the iterator closes the connection.

The rule of this file: nothing is held across a `yield` but the response itself. Connections are `network.py`'s matter.
"""

import random as _random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, suppress

import anyio
import httpx2
import msgspec

from trimtab import __version__
from trimtab.providers.classify import Rule, classify, reclassify
from trimtab.providers.credentials import Credentials
from trimtab.providers.endless import MAX_ANSWER_BYTES, QUIET_FACTOR, AnswerWatch
from trimtab.providers.framing import BodyFramer
from trimtab.providers.lenient import cut_stream
from trimtab.providers.network import KEPT_CONNECTIONS, ConnectionTrace, open_transport
from trimtab.providers.retry import RetryPolicy, given_up, next_wait
from trimtab.providers.secrets_sent import lets_in, without_secrets
from trimtab.providers.sse import SseEvent
from trimtab.providers.transport_errors import UNSENDABLE, transport_error
from trimtab.providers.wire import Decoder, Endpoint, Wire, WireFailure, WireRequest
from trimtab.types.errors import ErrorInfo
from trimtab.types.models import ModelRequest
from trimtab.types.stream import Ended, Retrying, StreamEvent

_ERROR_BODY_BYTES = 1 << 20
_REFUSAL_S = 10.0
_DRAIN_S = 0.1
_PROXY_ASKS = 407
_NOT_LET_IN = 401


class HttpProvider:
    """A model behind an HTTP API; satisfies `agent.ports.Provider`. Use from one event loop; `aclose` when done."""

    def __init__(
        self,
        endpoint: Endpoint,
        wire: Wire,
        *,
        credentials: Credentials | None = None,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        random: Callable[[], float] = _random.random,
        transport: httpx2.AsyncBaseTransport | None = None,
        extra_rules: Sequence[Rule] = (),
        max_answer_bytes: int = MAX_ANSWER_BYTES,
    ) -> None:
        """`credentials` are asked before each request, and once more when a server refuses them; `now` is Unix time, `random` gives [0, 1); `transport` replaces the network; `extra_rules` classify errors before ours."""
        self.endpoint = endpoint
        self._wire = wire
        self._credentials = credentials
        self._now = now
        self._sleep = sleep
        self._random = random
        self._transport = transport
        self._rules = tuple(extra_rules)
        self._max_answer_bytes = max_answer_bytes
        self._policy = RetryPolicy(max_retries=endpoint.max_retries, max_wait_s=endpoint.max_retry_wait_s)
        self._client: httpx2.AsyncClient | None = None

    async def aclose(self) -> None:
        """Close idle connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """Send one request and yield what comes back; the last event is `Ended`."""
        attempt = 0
        endpoint: Endpoint | None = None
        renewed = False  # once, and not behind anything that streamed already
        while True:
            attempt += 1
            try:
                if endpoint is None:
                    endpoint = await self._admitted()
                async with aclosing(self._attempt(request, endpoint)) as events:
                    async for event in events:
                        renewed = True
                        yield event
                return
            except WireFailure as failure:
                error = self._without_keys(reclassify(failure.info, self._rules), endpoint)
                error = _named_missing(error, endpoint or self.endpoint)
                if endpoint is not None and not renewed and error.status == _NOT_LET_IN:
                    renewed = True
                    newer, error = await self._renewed(endpoint, error)
                    if newer is not None:
                        endpoint, attempt = newer, attempt - 1
                        continue
            except (httpx2.HTTPError, httpx2.InvalidURL, OSError, UnicodeError) as exc:
                error = transport_error(exc, self.endpoint)
            wait = next_wait(error, attempt, policy=self._policy, random=self._random)
            if wait is None:
                yield Ended(
                    "error", error=given_up(error, attempt, policy=self._policy, provider=self.endpoint.provider)
                )
                return
            yield Retrying(attempt, wait, error.kind, error.message, error.hint)
            await self._sleep(wait)
            endpoint = None  # a wait may outlast a token

    async def _admitted(self) -> Endpoint:
        return self.endpoint if self._credentials is None else await self._credentials.admit(self.endpoint)

    async def _renewed(self, refused: Endpoint, error: ErrorInfo) -> tuple[Endpoint | None, ErrorInfo]:
        """What to try once more with after a 401, and what to say if that is nothing."""
        if self._credentials is None:
            return None, error
        try:
            return await self._credentials.renew(refused), error
        except WireFailure as failure:
            return None, self._without_keys(failure.info, refused)

    async def _attempt(self, request: ModelRequest, endpoint: Endpoint) -> AsyncGenerator[StreamEvent, None]:
        """One try: events up to and with `Ended`, which comes after the connection is free. Raises for every failure."""
        response = await self._send(self._build(self._wire.request(endpoint, request), endpoint))
        decoder = self._wire.decoder(request)
        framer = BodyFramer()
        watch = AnswerWatch(self._max_answer_bytes, QUIET_FACTOR * self.endpoint.idle_timeout_s)
        ended: Ended | None = None
        async with aclosing(response), aclosing(response.aiter_bytes()) as body:
            if not response.is_success:
                raise WireFailure(await self._refusal(response, body))
            async for chunk in body:
                watch.take(chunk)
                for event in _decode(framer.feed(chunk), decoder):
                    if type(event) is Ended:
                        ended = event
                        break
                    yield event
                    watch.heard()
                if ended is not None:
                    await _drain(body)
                    break
        if ended is not None:
            yield ended
            return
        for event in _decode_end(framer, decoder):
            yield event

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        """Send and return the answer's head.

        A kept connection that turns out to be dead before it gave a byte says nothing about the server: the next one is tried at
        once, and it costs no try. Each such failure takes one connection out of the pool, so this ends.
        """
        for left in range(KEPT_CONNECTIONS, -1, -1):
            trace = ConnectionTrace()
            request.extensions = {**request.extensions, "trace": trace}
            try:
                return await self._open().send(request, stream=True)
            except (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError):
                if not (left and trace.reused):
                    raise
        raise AssertionError("the last round returns or raises")

    def _open(self) -> httpx2.AsyncClient:
        if self._client is None:
            self._client = httpx2.AsyncClient(
                transport=self._transport
                or open_transport(self.endpoint.base_url, proxy=self.endpoint.proxy, ca_file=self.endpoint.ca_file),
                trust_env=False,
                timeout=httpx2.Timeout(
                    self.endpoint.idle_timeout_s, connect=self.endpoint.connect_timeout_s, pool=None
                ),
                headers={"user-agent": f"trimtab/{__version__}"},
            )
        return self._client

    def _build(self, request: WireRequest, endpoint: Endpoint) -> httpx2.Request:
        headers = httpx2.Headers({"content-type": "application/json", "accept": "text/event-stream"})
        headers.update(request.headers)
        headers.update(endpoint.headers)
        if any(c in value for value in headers.values() for c in "\r\n\0"):
            raise WireFailure(UNSENDABLE)
        url = httpx2.URL(join_url(self.endpoint.base_url, request.path))
        if url.port is not None and url.port > 65535:
            raise httpx2.InvalidURL(f"no such port: {url.port}")
        return self._open().build_request("POST", url, headers=headers, content=request.body)

    async def _refusal(self, response: httpx2.Response, body: AsyncGenerator[bytes, None]) -> ErrorInfo:
        """Read the start of an error answer and say what it means."""
        if response.status_code == _PROXY_ASKS:
            return transport_error(httpx2.ProxyError("it asks for a name and a password"), self.endpoint)
        pieces: list[bytes] = []
        size = 0
        with suppress(httpx2.HTTPError), anyio.move_on_after(_REFUSAL_S):  # the status and what came say enough
            async for chunk in body:
                pieces.append(chunk)
                size += len(chunk)
                if size >= _ERROR_BODY_BYTES:
                    break
        return classify(
            response.status_code, b"".join(pieces), response.headers, now=self._now(), extra_rules=self._rules
        )

    def _without_keys(self, error: ErrorInfo, endpoint: Endpoint | None) -> ErrorInfo:
        """Some servers repeat what they refuse; a key must not reach a log."""
        message = without_secrets(error.message, endpoint or self.endpoint)
        return error if message == error.message else msgspec.structs.replace(error, message=message)


def _named_missing(error: ErrorInfo, endpoint: Endpoint) -> ErrorInfo:
    """An `error` that blames a key; where none was sent it says so, and how one is given."""
    if error.kind != "auth" or lets_in(endpoint):
        return error
    name = endpoint.provider
    hint = f"No key was sent. If this server wants one: `trimtab login {name}` keeps it, or name its variable: `trimtab config set providers.{name}.api_key_env VARIABLE`."
    return msgspec.structs.replace(error, hint=hint)


def join_url(base_url: str, path: str) -> str:
    """Append `path` to a base URL; a query of the base (`?api-version=…`) stays behind the path."""
    base, _, base_query = base_url.partition("?")
    path, _, query = path.partition("?")
    joined = f"{base.rstrip('/')}/{path.lstrip('/')}"
    queries = "&".join(q for q in (base_query, query) if q)
    return f"{joined}?{queries}" if queries else joined


def _decode(framed: Iterable[SseEvent], decoder: Decoder) -> Iterator[StreamEvent]:
    for name, data in framed:
        yield from decoder.feed(name, data)


def _decode_end(framer: BodyFramer, decoder: Decoder) -> Iterator[StreamEvent]:
    """What the orderly end of a body brings. A last event that can't be read was cut off."""
    framed = framer.close()
    try:
        for event in _decode(framed, decoder):
            yield event
            if type(event) is Ended:
                return
    except WireFailure as failure:
        raise (cut_stream() if failure.info.kind == "malformed" else failure) from None
    yield from decoder.finish()


async def _drain(body: AsyncGenerator[bytes, None]) -> None:
    """Read what follows the final event, so that the connection can be used again, but don't wait for a server that lingers."""
    with anyio.move_on_after(_DRAIN_S):
        try:
            async for _ in body:
                pass
        except httpx2.HTTPError:
            pass  # the answer is complete; how the connection ends doesn't matter
