"""Whether a URL points at this machine: then no key is needed and no proxy is used. By name or address alone, without a look-up."""

import ipaddress
from urllib.parse import urlsplit


def is_loopback(url: str) -> bool:
    """Whether the host of `url` is a loopback address (or 0.0.0.0, which means the same here), `localhost`, or a name below it."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
