"""What lets a request in, where that changes while a provider is in use: tokens that expire.

    HttpProvider ──admit(endpoint)──▶ the endpoint with what lets it in now ──▶ request ──▶ 401 ──renew(what was sent)──▶ one more try, or the error stands

Whoever opens a provider gives it such an object; providers know no files, no logins and no authorization servers. A fixed key needs none: it stands in the endpoint.
"""

from typing import Protocol

from trimtab.providers.wire import Endpoint


class Credentials(Protocol):
    """Asked before each request. Both raise `WireFailure` for what ends the request."""

    async def admit(self, endpoint: Endpoint) -> Endpoint:
        """Return `endpoint` with what lets a request in now."""
        ...

    async def renew(self, refused: Endpoint) -> Endpoint | None:
        """Return another endpoint after a server refused `refused` (401), as `admit` returned it; None when there is nothing newer to try."""
        ...
