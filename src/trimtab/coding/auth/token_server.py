"""One question to an authorization server, and what its answer means.

    form (or JSON) ──POST──▶ 200 and a JSON object ──▶ the object           "error" in JSON ──▶ Refused (RFC 6749, 5.2)          what may pass, anything else ──▶ NoAnswer, in words
    object ──token_of──▶ TokenLogin (RFC 6749, 5.1; RFC 6750 for what a header can carry)            object ──key_of──▶ KeyLogin, of a server that gives keys

Redirects aren't followed, nothing is unpacked, and time and size are bounded, so neither the place that is asked nor what is read is the server's choice. The one rule: no
error repeats what was sent, nor the body of an answer.
"""

import json
import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import anyio
import httpx2

from trimtab import __version__
from trimtab.coding.auth.flow import Place
from trimtab.coding.telling.printable import one_line
from trimtab.config.auth_file import KeyLogin, TokenLogin
from trimtab.providers.network import open_transport
from trimtab.providers.post import NoAnswer, broken, host_of
from trimtab.providers.wire import WireFailure
from trimtab.types.text import scrub

TIMEOUT_S = 20.0
_MAX_BYTES = 256 * 1024
_LONGEST_TOKEN = 32 * 1024
_SHOWN = 200
_LONGEST_LIFE_S = 10 * 365 * 86_400.0
_MULTIPLE_CHOICES, _REFUSALS, _SERVER_ERRORS = 300, 400, 500
_FORM, _JSON = "application/x-www-form-urlencoded", "application/json"
_LATER, _TOO_SOON = frozenset({"temporarily_unavailable", "server_error"}), (408, 425, 429)
"""Codes and statuses of a server that can't answer just now: RFC 6749, 4.1.2.1; RFC 9110; RFC 6585."""
_GRANTS = frozenset({"authorization_pending", "slow_down", "access_denied", "expired_token", "invalid_grant"})
"""Codes that say what became of a grant, whatever the status: RFC 6749, 5.2; RFC 8628, 3.5."""


class Refused(Exception):
    """The server said no: `error` is its code, `description` its words, both made harmless."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(f"{error} ({description})" if description else error)
        self.error = error


async def ask(
    place: Place, form: Mapping[str, str], *, as_json: bool = False, timeout_s: float = TIMEOUT_S
) -> dict[str, Any]:
    """Send `form` (as such, or as a JSON object) and return the object that comes back. Raises `Refused` or `NoAnswer`; never takes longer than `timeout_s`."""
    try:
        with anyio.fail_after(timeout_s):
            body = json.dumps(form) if as_json else urlencode(form)
            status, kind, got = await _post(place, body.encode(), _JSON if as_json else _FORM)
    except TimeoutError:
        raise NoAnswer(f"no answer within {timeout_s:g} s") from None
    except WireFailure as failure:
        raise NoAnswer(failure.info.message) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, UnicodeError) as problem:
        raise NoAnswer(broken(problem)) from None
    return _object(status, kind, got, secrets=form.values())


async def _post(place: Place, body: bytes, sent_as: str) -> tuple[int, str, bytes]:
    headers = {
        "content-type": sent_as,
        "accept": "application/json",
        "accept-encoding": "identity",
        "user-agent": f"trimtab/{__version__}",
    }
    transport = open_transport(place.url, proxy=place.proxy, ca_file=place.ca_file)
    async with (
        httpx2.AsyncClient(transport=transport, timeout=None, trust_env=False, follow_redirects=False) as client,
        client.stream("POST", place.url, content=body, headers=headers) as response,
    ):
        got = bytearray()
        async for piece in response.aiter_raw():
            got += piece
            if len(got) > _MAX_BYTES:
                raise NoAnswer(f"the answer has more than {_MAX_BYTES:,} bytes")
        return response.status_code, response.headers.get("content-type", ""), bytes(got)


def _object(status: int, kind: str, body: bytes, *, secrets: Any) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    said = value.get("error") if isinstance(value, dict) else None
    if isinstance(said, dict) and _REFUSALS <= status < _SERVER_ERRORS and status not in _TOO_SOON:
        raise Refused(f"it answers {status}", _harmless(said.get("message"), secrets))
    if isinstance(value, dict) and isinstance(said, str) and status < _SERVER_ERRORS:
        if _passes(status, said):
            raise NoAnswer(f"it can't answer just now ({status}, {_harmless(said, secrets)})")
        words = [_harmless(value.get(name), secrets) for name in ("error", "error_description")]
        raise Refused(*words)
    if _MULTIPLE_CHOICES <= status < 400:
        raise NoAnswer(f"it redirects ({status}), which is not followed")
    if status != 200:
        raise NoAnswer(f"it answers {status}{_as(kind)}")
    if not isinstance(value, dict):
        raise NoAnswer(f"its answer is no JSON object{_as(kind)}")
    return value


def _passes(status: int, error: str) -> bool:
    """Whether a refusal is about the moment, so that the same question may be answered later: none that ends a login."""
    return error in _LATER or (status in _TOO_SOON and error not in _GRANTS)


def _as(kind: str) -> str:
    shown = one_line(kind.partition(";")[0].strip())[:_SHOWN]
    return f" with {shown}" if shown else ""


def _harmless(value: object, secrets: Any) -> str:
    text = value if isinstance(value, str) else ""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) > 5:
            text = text.replace(secret, "[hidden]")
    return scrub(one_line(text))[:_SHOWN]


def token_of(answer: Mapping[str, Any], *, server: str, now: float, before: TokenLogin | None = None) -> TokenLogin:
    """The login that an answer brings; what it leaves out stays as it was `before`. Raises `NoAnswer` for what is no token that can be sent."""
    token = answer.get("access_token")
    kind = answer.get("token_type", "bearer")
    if not _sendable(token):
        raise NoAnswer("its answer holds no token that can be sent")
    if not isinstance(kind, str) or kind.casefold() != "bearer":
        raise NoAnswer("its token isn't of the type bearer")
    newer = answer.get("refresh_token")
    kept = before.refresh_token if before else ""
    return TokenLogin(
        access_token=str(token),
        refresh_token=str(newer) if _sendable(newer) else kept,
        expires_at=_end(answer.get("expires_in"), now),
        server=server,
    )


def key_of(answer: Mapping[str, Any], *, server: str) -> KeyLogin:
    """The key that an answer brings. Raises `NoAnswer` for what is no key that can be sent."""
    key = answer.get("key")
    if not _sendable(key):
        raise NoAnswer("its answer holds no key that can be sent")
    return KeyLogin(api_key=str(key), server=server)


def _sendable(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_TOKEN and all("!" <= c <= "~" for c in value)


def _end(seconds: object, now: float) -> float | None:
    """When a token ends; None when nobody says, or what is said makes no sense: then a refusal tells."""
    number = number_of(seconds)
    return None if number is None or number <= 0 else now + min(number, _LONGEST_LIFE_S)


def number_of(value: object) -> float | None:
    """A finite number, which some servers write as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def named(place: Place) -> str:
    """The server, for people."""
    return one_line(host_of(place.url))
