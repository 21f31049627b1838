"""One question and one answer over HTTP, for servers that aren't models: bytes of JSON there, bytes of JSON back, within a time and a size.

body ──POST──▶ 200, at most `max_bytes`, within `timeout_s` ──▶ body          anything else is a `NoAnswer` that says what

Redirects aren't followed and nothing is unpacked, so neither the place that is asked nor the size that is read is the server's choice. `Address` says where;
no error names its key, or what stands in its URL besides host and port.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import anyio
import httpx2

from trimtab import __version__
from trimtab.providers.network import open_transport
from trimtab.providers.wire import WireFailure


class NoAnswer(Exception):
    """Why there is no answer, in words."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is and how to get in. Never shows its key."""

    url: str = field(repr=False)
    key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    proxy: str | None = field(default=None, repr=False)
    ca_file: str | None = None

    @property
    def host(self) -> str:
        """Host and port, for people."""
        return host_of(self.url)

    @property
    def sent(self) -> dict[str, str]:
        """The headers of each question."""
        sent = {
            "content-type": "application/json",
            "accept": "application/json",
            "accept-encoding": "identity",
            "user-agent": f"trimtab/{__version__}",
            **{name.lower(): value for name, value in self.headers.items()},
        }
        return sent if self.key is None else {"authorization": f"Bearer {self.key}", **sent}


def host_of(url: str) -> str:
    """Return host and port of `url`: what of it may be shown."""
    return urlsplit(url).netloc.rpartition("@")[2]


async def post(address: Address, body: bytes, *, timeout_s: float, max_bytes: int) -> bytes:
    """Ask and return the answer. Raises `NoAnswer`; never takes longer than `timeout_s`."""
    try:
        with anyio.fail_after(timeout_s):
            transport = open_transport(address.url, proxy=address.proxy, ca_file=address.ca_file)
            async with (
                httpx2.AsyncClient(
                    transport=transport, timeout=None, trust_env=False, follow_redirects=False
                ) as client,
                client.stream("POST", address.url, content=body, headers=address.sent) as response,
            ):
                check(response)
                got = bytearray()
                async for piece in response.aiter_raw():
                    got += piece
                    if len(got) > max_bytes:
                        raise NoAnswer(f"the answer has more than {max_bytes:,} bytes")
                return bytes(got)
    except TimeoutError:
        raise NoAnswer(f"no answer within {timeout_s:g} s") from None
    except WireFailure as failure:
        raise NoAnswer(failure.info.message) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, UnicodeError) as problem:
        raise NoAnswer(broken(problem)) from None


def check(response: httpx2.Response) -> None:
    """Raise `NoAnswer` for an answer whose body is not to be read."""
    if response.is_redirect:
        raise NoAnswer(f"it redirects ({response.status_code}), which is not followed")
    if response.status_code != 200:
        raise NoAnswer(f"it answers {response.status_code}")
    if response.headers.get("content-encoding", "identity") != "identity":
        raise NoAnswer("the answer is packed, and plain JSON was asked for")


def broken(problem: Exception) -> str:
    """Return what the HTTP client says of a connection, in words without the URL."""
    if isinstance(problem, httpx2.InvalidURL | UnicodeError | httpx2.LocalProtocolError):
        return "its URL, a header or the key holds what HTTP can't carry"
    if isinstance(problem, httpx2.ConnectError):
        return f"it can't be reached: {problem or type(problem).__name__}"
    return f"the connection broke: {problem or type(problem).__name__}"
