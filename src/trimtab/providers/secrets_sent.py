"""What of an endpoint is secret, and what of it lets a request in. Pure.

    api_key, headers, name and password of the URL, keys in its query ──without_secrets──▶ what a server said, without them

The rule: a server may repeat all that it was sent, in the form in which it was sent.
"""

import base64
import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, unquote, urlsplit

from trimtab.providers.classify import CUT
from trimtab.providers.wire import AUTHORISING, Endpoint

_SHORTEST = 6
"""Characters from which on a text is a secret: `x` or `none`, given to a local server, is none."""
_KEY_NAMES = re.compile(r"key|token|secret|passw|\bsig(?:nature)?\b|auth|\bcode\b", re.I)
_TELLING = frozenset({"user-agent", "accept", "content-type", "referer", "http-referer", "x-title"})
"""Headers that say who asks and for what."""


def without_secrets(message: str, endpoint: Endpoint) -> str:
    """`message`, in which a server may repeat what it was sent, without what lets in; also where the message was cut within it."""
    for key in sorted({text for text in _sent(endpoint) if len(text) >= _SHORTEST}, key=len, reverse=True):
        message = message.replace(key, "[key]")
        for end in range(len(key) - 1, _SHORTEST - 1, -1):
            if message.endswith(begun := f"{key[:end]}{CUT}"):
                message = f"{message.removesuffix(begun)}[key]{CUT}"
                break
    return message


def lets_in(endpoint: Endpoint) -> bool:
    """Whether anything is sent that could let a request in."""
    named = {name.lower() for name in endpoint.headers}
    return bool(
        endpoint.api_key
        or named & AUTHORISING
        or (endpoint.token_header and endpoint.token_header.lower() in named)
        or any(True for _ in _of_url(endpoint.base_url))
    )


def _sent(endpoint: Endpoint) -> Iterator[str]:
    yield endpoint.api_key or ""
    for name, value in endpoint.headers.items():
        if name.lower() not in _TELLING:
            yield value
        if name.lower() in AUTHORISING or name.lower() == endpoint.token_header.lower():
            yield value.rpartition(" ")[2]
    yield from _of_url(endpoint.base_url)


def _of_url(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
    except ValueError:  # whoever asks there is told
        return
    if "@" in parts.netloc:
        name, _, password = parts.netloc.rpartition("@")[0].partition(":")
        yield from (password, unquote(password))
        yield base64.b64encode(f"{unquote(name)}:{unquote(password)}".encode("utf-8", "replace")).decode()
    for name, value in parse_qsl(parts.query):
        if _KEY_NAMES.search(name):
            yield value
