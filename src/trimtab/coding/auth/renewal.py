"""Tokens that are renewed while they are used, before they end and once after a 401: the `Credentials` of a provider that one logged in to.

    admit ─ still good? ─▶ as it is
          └ ends soon ──▶ the lock of this login ─▶ read again ─┬─ another process renewed it ─▶ that one
    renew ────────────────▲                                     └─ refresh_token ─▶ token_url ─▶ kept, then used

A refresh token is often good once (RFC 9700, 4.14.2): two that use the same one end the login. So one process at a time asks, with the newest one that is kept; what comes is on the disk
before it is used; and once it was asked for nothing gives it up, not even Ctrl-C.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import anyio

from trimtab.coding.auth.flow import Flow
from trimtab.coding.auth.found import admitted
from trimtab.coding.auth.turns import my_turn
from trimtab.config.auth_file import Kept, KeyLogin, RingLogin, TokenLogin, read_auth, require_writable
from trimtab.config.logins import find_login, keep_login
from trimtab.config.settings import KeyStore
from trimtab.providers.wire import Endpoint, WireFailure
from trimtab.types.config import OAuthConfig
from trimtab.types.errors import ConfigError, ErrorInfo

MARGIN_S = 60.0
"""How long before its end a token is renewed, in seconds."""
_PATIENCE_S = 45.0


@dataclass(slots=True)
class Renewal:
    """The token of one login, renewed as it ends. `file` is `auth.json`; without a `flow` nothing can be renewed; `now` is Unix time."""

    file: Path
    provider: str
    login: TokenLogin
    config: OAuthConfig | None
    flow: Flow | None
    now: Callable[[], float]
    _refused: str = ""
    _lost: WireFailure | None = None

    def __repr__(self) -> str:
        return f"Renewal({self.provider!r})"

    async def admit(self, endpoint: Endpoint) -> Endpoint:
        """Satisfies `Credentials`."""
        if self._ends_within(MARGIN_S):
            await self._renew(forced=False)
        return admitted(endpoint, self.login, self.config)

    async def renew(self, refused: Endpoint) -> Endpoint | None:
        """Satisfies `Credentials`."""
        if admitted(refused, self.login, self.config) == refused:  # else another task renewed it meanwhile
            await self._renew(forced=True)
        return admitted(refused, self.login, self.config)

    def _ends_within(self, seconds: float, login: TokenLogin | None = None) -> bool:
        end = (login or self.login).expires_at
        return end is not None and end - self.now() < seconds

    async def _renew(self, *, forced: bool) -> None:
        """Take a newer token. `forced`: this one is refused. One that only ends soon is used on when no newer one is to be had. Raises `WireFailure`."""
        old = self.login
        try:
            async with my_turn(self._lock(), patience_s=_PATIENCE_S):
                if self.login is old:  # else another task of this process was faster
                    await self._newer()
        except WireFailure as failure:
            if forced or self._ends_within(0) or failure is self._lost:
                raise
        except (OSError, TimeoutError) as e:
            if forced or self._ends_within(0):
                why = "another process keeps it locked" if isinstance(e, TimeoutError) else e.strerror or str(e)
                self._fail(f"the login of {self.provider} can't be renewed: {why}", "Try again.", retryable=True)

    async def _newer(self) -> None:
        """With the lock held: another process's token, or a new one."""
        entry = read_auth(self.file).logins.get(self.provider)
        try:
            stored = await anyio.to_thread.run_sync(find_login, self.file, self.provider)
        except ConfigError as e:
            self._fail(e.message, e.hint)
        if isinstance(stored, KeyLogin) or stored is None or stored.server != self.login.server:
            gone = "is no longer there" if stored is None else "is another one now"
            self._fail(f"the login of {self.provider} {gone}", f"Log in: trimtab login {self.provider}; then go on.")
        if stored.access_token != self.login.access_token and not self._ends_within(0, stored):
            self.login = stored
            return
        if not stored.refresh_token or self.flow is None or stored.refresh_token == self._refused:
            self._fail(f"the login of {self.provider} has ended", f"Log in again: trimtab login {self.provider}.")
        try:
            await anyio.to_thread.run_sync(require_writable, self.file)
        except ConfigError as e:
            self._fail(f"the login of {self.provider} isn't renewed: {e.message}", e.hint)
        with anyio.CancelScope(shield=True):  # bounded by the time that one question may take
            await self._ask(self.flow, stored, entry)

    async def _ask(self, flow: Flow, stored: TokenLogin, entry: Kept | None) -> None:
        # The HTTP client, for tokens that end alone:
        from trimtab.coding.auth.token_server import Refused, ask, named, token_of  # noqa: PLC0415
        from trimtab.providers.post import NoAnswer  # noqa: PLC0415

        form = {
            "grant_type": "refresh_token",
            "refresh_token": stored.refresh_token,
            **flow.client,
            **flow.config.token_params,
        }
        try:
            fresh = token_of(await ask(flow.token, form), server=stored.server, now=self.now(), before=stored)
        except Refused as e:
            self._refused = stored.refresh_token
            self._fail(
                f"the login of {self.provider} has ended: {named(flow.token)} says {e}",
                f"Log in again: trimtab login {self.provider}.",
            )
        except NoAnswer as e:
            self._fail(
                f"the login of {self.provider} can't be renewed: {named(flow.token)}: {e}",
                f"Try again; if it stays so: trimtab login {self.provider}.",
                retryable=True,
            )
        self.login = fresh
        try:
            await anyio.to_thread.run_sync(self._keep, fresh, entry)
        except ConfigError as e:  # said once, although this process could go on with it
            self._lost = self._failure(f"the new token of {self.provider} is lost: {e.message}", e.hint)
            raise self._lost from None

    def _keep(self, login: TokenLogin, entry: Kept | None) -> None:
        """Keep the new token where the old one was, unless the person logged out or in meanwhile: that counts."""
        if read_auth(self.file).logins.get(self.provider) == entry:
            store: KeyStore = "keyring" if isinstance(entry, RingLogin) else "file"
            keep_login(self.file, self.provider, login, store=store)

    def _lock(self) -> Path:
        return self.file.with_name(f".auth.{hashlib.sha256(self.provider.encode()).hexdigest()[:16]}.lock")

    def _fail(self, message: str, hint: str, *, retryable: bool = False) -> NoReturn:
        raise self._failure(message, hint, retryable=retryable) from None

    def _failure(self, message: str, hint: str, *, retryable: bool = False) -> WireFailure:
        return WireFailure(ErrorInfo("network" if retryable else "auth", message, hint, retryable=retryable))
