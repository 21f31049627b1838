"""The address of a page, read strictly: what is judged is what is asked for.

    text ──▶ scheme, host in ASCII, port ──▶ `authority` (what a rule names), `url` (what is sent)

Pure. Two readers of one address must not find two hosts in it, so what they could read differently (a name and a password, a backslash, blanks, odd letters in
the host) is refused.
"""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

from trimtab.coding.tools.failures import ToolFailure

_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?", re.ASCII)
_LONGEST = 4_000
_KEPT = "!#$%&'()*+,/:;=?@[]~"


@dataclass(frozen=True, slots=True)
class Address:
    """One address. `authority` is the host, and the port where it isn't the usual one; `target` what comes behind it."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """The server as rules and headers name it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole, as it is sent."""
        return f"{self.scheme}://{self.authority}{self.target}"

    @property
    def is_local(self) -> bool:
        """Whether it names, by itself, this machine or one of the network around it."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        try:
            return not is_public(self.host)
        except ValueError:
            return False

    def leads_to(self, location: str) -> "Address":
        """Where a redirection leads from here. Raises `ToolFailure`."""
        return address_of(urljoin(self.url, location))


def address_of(text: str) -> Address:
    """Read an address. Raises `ToolFailure`, which says what is wrong with it."""
    if len(text) > _LONGEST:
        raise ToolFailure(f"the address has {len(text):,} characters; up to {_LONGEST:,} are asked for")
    if not text.isprintable() or "\\" in text or " " in text:
        raise ToolFailure(f"{text[:80]!r} is no address: it has blanks, backslashes or characters that nobody sees")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise ToolFailure(f"{text[:80]!r} is no address: {error}") from None
    if parts.scheme not in _PORTS:
        raise ToolFailure(f"{text[:80]!r} is no address of the web: it has to begin with https:// or http://")
    if "@" in parts.netloc:
        raise ToolFailure("an address with a name or a password isn't asked for")
    target = quote(parts.path or "/", safe=_KEPT) + (f"?{quote(parts.query, safe=_KEPT)}" if parts.query else "")
    return Address(parts.scheme, _host(parts.hostname or ""), port or _PORTS[parts.scheme], target)


def is_public(ip: str) -> bool:
    """Whether an address of the internet protocol is one of the internet. Raises `ValueError` for what is none."""
    found = ipaddress.ip_address(ip.partition("%")[0])
    inner = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (inner or found).is_global and not found.is_multicast


def _host(host: str) -> str:
    """The host in ASCII, small letters, without a dot at the end."""
    if ":" in host:
        try:
            return str(ipaddress.IPv6Address(host))
        except ValueError:
            raise ToolFailure(f"{host!r} is no host") from None
    try:
        ascii_host = host.rstrip(".").encode("idna").decode("ascii").lower()
    except UnicodeError:
        raise ToolFailure(f"{host[:80]!r} is no host") from None
    if not _HOST.fullmatch(ascii_host):
        raise ToolFailure(f"{host[:80]!r} is no host")
    return ascii_host
