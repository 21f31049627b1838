"""Logins wherever they are kept: in `auth.json`, or in the system's keyring with their place in `auth.json`.

    find(file, provider) ─▶ an entry ─┬─ a key, a token ─────────────▶ Login
                                      └─ "keyring" ─▶ the keyring ──▶ Login
    keep(file, provider, login, store=…) ─▶ the keyring first, then the entry; what the old entry had there goes

The library `keyring` is an extra, imported when an entry or the setting `auth.store` asks for it. A keyring lists nothing, so the file says what is in it.
"""

import secrets
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import msgspec

from trimtab.config.auth_file import (
    Kept,
    KeyLogin,
    Login,
    RingLogin,
    TokenLogin,
    read_auth,
    remove_login,
    write_login,
)
from trimtab.config.ring import ask, require_keyring
from trimtab.config.settings import KeyStore
from trimtab.types.errors import ConfigError

_SERVICE = "trimtab"


def find_login(file: Path, provider: str) -> Login | None:
    """The login of `provider`; None when there is none. Raises `ConfigError` when the keyring that holds it can't be asked, or holds it no more."""
    kept = read_auth(file).logins.get(provider)
    return _from_ring(kept.entry, provider) if isinstance(kept, RingLogin) else kept


def keep_login(file: Path, provider: str, login: Login, *, store: KeyStore) -> tuple[str, ...]:
    """Keep `login`; return what a person should be told. Raises `ConfigError`, and then the old one stands."""
    old = read_auth(file).logins.get(provider)
    login = msgspec.structs.replace(login, saved=datetime.now(UTC).isoformat(timespec="seconds"))
    kept: Kept = login if store == "file" else _into_ring(provider, login)
    try:
        told = write_login(file, provider, kept)
    except ConfigError:
        if isinstance(kept, RingLogin):
            _drop(kept)
        raise
    if isinstance(old, RingLogin):
        _drop(old)
    return told


def drop_login(file: Path, provider: str) -> tuple[str, ...]:
    """Forget the login of `provider`, in the keyring too; return what a person should be told. Raises `ConfigError`."""
    old = read_auth(file).logins.get(provider)
    told = remove_login(file, provider)
    if isinstance(old, RingLogin) and not _drop(old):
        told = (*told, f"the keyring keeps its entry {old.entry!r} of {_SERVICE!r}: it can't be asked; remove it there")
    return told


def _into_ring(provider: str, login: Login) -> RingLogin:
    require_keyring()
    entry = f"{provider}:{secrets.token_hex(8)}"
    ask(lambda ring: ring.set_password(_SERVICE, entry, msgspec.json.encode(login).decode()))
    expires = login.expires_at if isinstance(login, TokenLogin) else None
    return RingLogin(
        entry=entry,
        holds="oauth" if isinstance(login, TokenLogin) else "api_key",
        server=login.server,
        saved=login.saved,
        expires_at=expires,
    )


@lru_cache(maxsize=32)
def _from_ring(entry: str, provider: str) -> Login:
    """What lies under `entry`, which never changes: a new login has a new one."""
    text = ask(lambda ring: ring.get_password(_SERVICE, entry))
    try:
        login: Login = msgspec.json.decode(text if isinstance(text, str) else "", type=KeyLogin | TokenLogin)
    except msgspec.DecodeError:
        require_keyring()  # where its own keyring isn't reached, another one is asked
        raise ConfigError(
            f"the keyring no longer holds the login of {provider}", hint=f"Log in again: trimtab login {provider}."
        ) from None
    return login


def _drop(kept: RingLogin) -> bool:
    """Take it out of the keyring; False when that can't be done."""
    try:
        ask(lambda ring: ring.delete_password(_SERVICE, kept.entry))
    except ConfigError:
        return False
    return True
