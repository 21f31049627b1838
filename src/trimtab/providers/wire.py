"""The seam between an API's words and the network.

A wire is one API as two pure halves: `request` shapes a `ModelRequest` into bytes, a `Decoder` turns the events of the answer
into stream events. Neither does I/O, so each is tested with plain values; `http.py` owns the socket, the retries and the clock,
and is the only caller of both.

One request: `HttpProvider.stream` → `Wire.request` → POST → `sse.py` frames the body → `Decoder.feed` per event →
`Decoder.finish` at the end of the body, unless `feed` saw the end → `Ended`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from trimtab.types.errors import ErrorInfo
from trimtab.types.models import Api, ModelRequest
from trimtab.types.stream import StreamEvent

AUTHORISING = frozenset({"authorization", "x-api-key", "api-key", "x-goog-api-key"})
"""Headers (lower case) that let a request in."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where an API is served and how to get in. `api_key` never shows in a repr; `token_header` names the header that carries a token instead of it.

    `base_url` includes the version part (`…/v1`). Timeouts in seconds; `idle_timeout_s` is the longest silence of a live stream. `ca_file`
    (or folder) holds the certificates to trust instead of the system's.
    """

    provider: str
    api: Api
    base_url: str
    api_key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    token_header: str = ""
    proxy: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    connect_timeout_s: float = 10.0
    idle_timeout_s: float = 300.0
    max_retries: int = 4
    max_retry_wait_s: float = 60.0


@dataclass(frozen=True, slots=True)
class WireRequest:
    """Bytes to send by POST. `path` is appended to the endpoint's base URL (it may carry a query)."""

    path: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


class WireFailure(Exception):
    """The answer is a failure: an error object in a stream, or a body that can't be read."""

    def __init__(self, info: ErrorInfo) -> None:
        super().__init__(info.message)
        self.info = info


class Decoder(Protocol):
    """Turns the events of one answer into stream events. Used once."""

    def feed(self, event: str, data: bytes) -> Iterable[StreamEvent]:
        """Take one server-sent event (`event` is "" when unnamed). Raises `WireFailure` for an error object.

        May yield `Ended` itself when it sees the final event; the rest of the body is then not waited for and `finish` not called.
        Never raises anything else for any bytes: what can't be understood is a `WireFailure` of class `malformed`, what is merely unknown is skipped.
        """
        ...

    def finish(self) -> Iterable[StreamEvent]:
        """The body ended in an orderly way: close open parts and yield `Ended`.

        An answer without its closing mark (no finish reason, no final event) is a cut stream: raises `WireFailure` of class `network`.
        """
        ...


class Wire(Protocol):
    """One API. Stateless."""

    def request(self, endpoint: Endpoint, request: ModelRequest) -> WireRequest:
        """Shape a request. Pure; the same input gives the same bytes."""
        ...

    def decoder(self, request: ModelRequest) -> Decoder:
        """A decoder for the answer to `request`."""
        ...
