"""The tokens of one server as the SDK takes them, and their renewal, one process after the other.

    LoginStore ──▶ the SDK       a token that ends soon ──its lock──▶ read again: another process was faster?  ── yes ─▶ that one is used
                                                                                                                └─ no ──▶ ask, and keep what comes before it is used

An authorisation server may give a new refresh token each time and take an old one that comes back for theft, which ends the login of everybody. So who
asks holds the lock of that login, has tried before whether the answer could be kept, and isn't broken off. What the SDK forgets between processes is kept
with the tokens: when they end, and where they are renewed. The one rule: a secret that the person's settings hold is not kept here.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import anyio

from trimtab.coding.auth.turns import my_turn
from trimtab.coding.mcp.failures import McpFailure, in_words
from trimtab.coding.mcp.logins import LoginStore
from trimtab.coding.mcp.registered import Registered

Send: TypeAlias = Callable[[Any], Awaitable[Any]]
"""Sends a request of the SDK to an authorisation server, without anything of a login."""
_SOON_S = 30
"""Tokens that end this soon are renewed first."""
_ASK_S = 20.0
_PATIENCE_S = 45.0
_REFUSED = (400, 401, 403)
"""Of a server that won't renew this login (RFC 6749, 5.2); anything else may pass."""


class Storage:
    """The SDK's `TokenStorage` over a `LoginStore`. `client` is what the settings say of a client that was registered."""

    def __init__(self, url: str, store: LoginStore, now: Callable[[], float], client: Registered | None) -> None:
        self.context: Any = None
        self.address = ""
        """Where the browser comes back to, in a new login."""
        self._url = url
        self._store = store
        self._now = now
        self._client = client
        self._kept: dict[str, Any] = {}
        self._dead = ""
        """A refresh token that was refused."""

    async def load(self) -> bool:
        """Read what is kept; whether there is a login of this client."""
        kept = await anyio.to_thread.run_sync(self._store.get, self._url)
        self._kept = dict(kept or {}) if self._is_ours(kept) else {}
        return "tokens" in self._kept

    async def get_tokens(self) -> Any:
        """What is kept; a token that ends soon without its value: the SDK takes tokens that it is given for good ones, and renews one that is empty."""
        from mcp.shared.auth import OAuthToken  # noqa: PLC0415 - of the extra

        tokens = self._kept.get("tokens")
        if not isinstance(tokens, Mapping):
            return None
        return OAuthToken.model_validate({**tokens, "access_token": ""} if self._is_old() else dict(tokens))

    async def set_tokens(self, tokens: Any) -> None:
        """Keep what came."""
        kept = {**self._kept, "tokens": tokens.model_dump(mode="json", exclude_none=True)}
        kept["expires_at"] = self._now() + tokens.expires_in if tokens.expires_in else None
        if self.context is not None and self.context.oauth_metadata is not None:
            kept["metadata"] = self.context.oauth_metadata.model_dump(mode="json", exclude_none=True)
        if self._client is not None and self.context is not None and self.context.client_info is not None:
            if self.context.oauth_metadata is not None:  # so that no other server is sent the secret later
                self.context.client_info.issuer = str(self.context.oauth_metadata.issuer)
            kept["client"] = self.context.client_info.model_dump(
                mode="json", exclude_none=True, exclude={"client_secret"}
            )
        self._kept = kept
        await anyio.to_thread.run_sync(self._store.put, self._url, dict(kept))

    async def get_client_info(self) -> Any:
        """The client that was registered, by a person or by the SDK."""
        from mcp.shared.auth import OAuthClientInformationFull  # noqa: PLC0415 - of the extra

        client = self._kept.get("client")
        if self._client is None:
            return OAuthClientInformationFull.model_validate(client) if isinstance(client, Mapping) else None
        named = {"client_id": self._client.client_id, "client_secret": self._client.client_secret or None}
        about = dict(client) if isinstance(client, Mapping) else {"redirect_uris": [self.address]}
        about.setdefault("token_endpoint_auth_method", self._client.method(()))
        return OAuthClientInformationFull.model_validate({**about, **named})

    async def set_client_info(self, client: Any) -> None:
        """Keep what the SDK registered, with the tokens that come."""
        self._kept["client"] = client.model_dump(mode="json", exclude_none=True)

    def choose_method(self) -> None:
        """Send a registered client's secret as the authorisation server, which is known by now, takes it."""
        about = self.context.oauth_metadata
        if self._client is not None and self.context.client_info is not None:
            supported = about.token_endpoint_auth_methods_supported if about is not None else None
            self.context.client_info.token_endpoint_auth_method = self._client.method(supported)

    def restore(self) -> None:
        """Give the SDK what it doesn't ask for."""
        from mcp.shared.auth import OAuthMetadata  # noqa: PLC0415 - of the extra

        if isinstance(metadata := self._kept.get("metadata"), Mapping):
            self.context.oauth_metadata = OAuthMetadata.model_validate(metadata)

    async def catch_up(self, provider: Any, send: Send) -> None:
        """Have a token that is good for a while, renewed by another process or by this one. Raises `McpFailure` where that can't be, just now."""
        if not self._is_old():
            return
        try:
            async with my_turn(self._store.lock(self._url), patience_s=_PATIENCE_S):
                if not await self.load():
                    raise McpFailure("its login is no longer there", login=True)
                if self._is_old():
                    await anyio.to_thread.run_sync(self._store.put, self._url, dict(self._kept))  # could it be kept?
                await self._take(provider)
                if self._is_old() and provider.context.can_refresh_token():
                    await self._renew(provider, send)
        except (OSError, TimeoutError) as e:
            why = "another process keeps it locked" if isinstance(e, TimeoutError) else e.strerror or str(e)
            raise McpFailure(f"its login can't be renewed: {why}") from None

    async def _take(self, provider: Any) -> None:
        provider.context.current_tokens = await self.get_tokens()
        provider.context.client_info = await self.get_client_info()
        provider.context.token_expiry_time = None
        provider._initialized = True

    async def _renew(self, provider: Any, send: Send) -> None:
        """With the lock held. A server that refuses says so to the request that follows."""
        import httpx2  # noqa: PLC0415 - few sessions ask a server by its address

        refresh = provider.context.current_tokens.refresh_token
        if refresh == self._dead:
            return
        request = await provider._refresh_token()
        try:
            with anyio.fail_after(_ASK_S, shield=True):
                response = await send(request)
                if response.status_code not in (200, *_REFUSED):
                    raise McpFailure(
                        f"its login can't be renewed: the authorisation server answered {response.status_code}"
                    )
                if not await provider._handle_refresh_response(response):
                    self._dead = refresh
        except TimeoutError:
            raise McpFailure(f"its login can't be renewed: no answer within {_ASK_S:g} seconds") from None
        except httpx2.HTTPError as e:
            raise McpFailure(f"its login can't be renewed: {in_words(e)}") from None

    def _is_old(self) -> bool:
        expires = self._kept.get("expires_at")
        return isinstance(expires, int | float) and expires < self._now() + _SOON_S

    def _is_ours(self, kept: Mapping[str, Any] | None) -> bool:
        """Whether a login is that of the client in the settings, where they name one."""
        client = kept.get("client") if kept else None
        named = client.get("client_id") if isinstance(client, Mapping) else None
        return self._client is None or named == self._client.client_id
