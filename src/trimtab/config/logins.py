"""Logins wherever they are kept: in `auth.json`, or in the system's keyring with their place in `auth.json`.

    find(file, provider) ─▶ an entry ─┬─ a key, a token ─────────────▶ Login
                                      └─ "keyring" ─▶ the keyring ──▶ Login
    keep(file, provider, login, store=…) ─▶ the keyring first, then the entry; what the old entry had there goes

The library `keyring` is an extra, imported when an entry or the setting `auth.store` asks for it. A keyring lists nothing, so the file says what is in it.
"""

import secrets
from datetime import UTC, datetime
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

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
from trimtab.config.settings import KeyStore
from trimtab.types.errors import ConfigError

_SERVICE = "trimtab"
_INSTALL = (
    "Install it with `pip install 'trimtab[keyring]'`, or keep keys in the file: trimtab config set auth.store file."
)


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


def require_keyring() -> str:
    """Return the name of the system's keyring. Raises `ConfigError` when there is none."""
    ring = _library()
    backend = ring.get_keyring()
    if getattr(backend, "priority", 1) <= 0:
        raise ConfigError(
            "this system has no keyring that can be used", hint=_INSTALL.partition(", or ")[2].capitalize()
        )
    return str(getattr(backend, "name", type(backend).__name__))


def _into_ring(provider: str, login: Login) -> RingLogin:
    require_keyring()
    entry = f"{provider}:{secrets.token_hex(8)}"
    ring = _library()
    try:
        ring.set_password(_SERVICE, entry, msgspec.json.encode(login).decode())
    except _failures(ring) as e:
        raise _refused(e) from None
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
    ring = _library()
    try:
        text = ring.get_password(_SERVICE, entry)
        login: Login = msgspec.json.decode(text or "", type=KeyLogin | TokenLogin)
    except _failures(ring) as e:
        raise _refused(e) from None
    except msgspec.DecodeError:
        raise ConfigError(
            f"the keyring no longer holds the login of {provider}", hint=f"Log in again: trimtab login {provider}."
        ) from None
    return login


def _drop(kept: RingLogin) -> bool:
    """Take it out of the keyring; False when that can't be done."""
    try:
        ring = _library()
    except ConfigError:
        return False
    try:
        ring.delete_password(_SERVICE, kept.entry)
    except _failures(ring):
        return False
    return True


def _library() -> ModuleType:
    try:
        import_module("keyring.errors")
        return import_module("keyring")  # an extra, and slow to load
    except ImportError:
        raise ConfigError(
            "the system's keyring needs the package `keyring`, which isn't installed", hint=_INSTALL
        ) from None


def _failures(ring: ModuleType) -> tuple[type[Exception], ...]:
    """What a keyring raises that is locked, absent or broken."""
    errors = ring.errors
    return (errors.KeyringError, OSError, RuntimeError)


def _refused(error: Exception) -> ConfigError:
    return ConfigError(
        f"the system's keyring can't be used: {type(error).__name__}",
        hint="Unlock it, or keep keys in the file: trimtab config set auth.store file.",
    )
