"""`auth.json`: what `trimtab login` keeps, in a file that nobody else may read.

    {"providers": {"NAME": {"type": "api_key", "server": "https://HOST", "api_key": …, "saved": …},
                   "NAME": {"type": "oauth", "server": …, "access_token": …, "refresh_token": …, "expires_at": Unix time, "saved": …},
                   "NAME": {"type": "keyring", "server": …, "entry": …, "holds": …, "expires_at": …, "saved": …}}}

    read ─ regular, ours, nobody else's to write? ─▶ mode mended to 0600 and told ─▶ logins         a file that can't be read keeps its content and is told
    edit ─ lock ─▶ read ─▶ change one entry ─▶ temporary file 0600 ─▶ fsync ─▶ rename               one that can't be understood is kept beside the new one

The one rule: nothing here shows a secret, and what isn't understood is kept. `server` is where a login was made for; it is sent nowhere else.
"""

import json
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from trimtab.context.stores.disk import sync_folder
from trimtab.context.stores.exclusive import exclusive
from trimtab.context.stores.private import make_private
from trimtab.types.errors import ConfigError, StoreError

_LARGEST = 1_000_000
_ROOM = 80 * 1024
"""Bytes that one login has at most."""
_SECTION = "providers"
_Data: TypeAlias = dict[str, Any]


class _Login(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="type"):
    server: str = ""
    saved: str = ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(server={self.server!r})"


class KeyLogin(_Login, frozen=True, tag="api_key"):
    """A key that doesn't expire."""

    api_key: str


class TokenLogin(_Login, frozen=True, tag="oauth"):
    """A token, until `expires_at` (Unix time; None: nobody said), and what another one is had with."""

    access_token: str
    refresh_token: str = ""
    expires_at: float | None = None


class RingLogin(_Login, frozen=True, tag="keyring"):
    """The place of a login that lies in the system's keyring, under the name `entry`; a new login has a new one."""

    entry: str
    holds: Literal["api_key", "oauth"] = "api_key"
    expires_at: float | None = None


Login: TypeAlias = KeyLogin | TokenLogin
"""What lets one in."""
Kept: TypeAlias = KeyLogin | TokenLogin | RingLogin
"""An entry of the file."""


@dataclass(frozen=True, slots=True)
class AuthFile:
    """What the file says. `problem`: why it can't be used, in words; `notices` are for a person."""

    logins: Mapping[str, Kept] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    problem: str = ""


class _Unusable(Exception):
    """Why a file isn't believed. `damaged`: it is ours, and its content makes no sense."""

    def __init__(self, why: str, *, damaged: bool = False) -> None:
        super().__init__(why)
        self.damaged = damaged


def read_auth(file: Path) -> AuthFile:
    """Read the logins; none when there is no file. Mends a mode that lets others read it. Never raises."""
    try:
        status = os.stat(file)
    except (FileNotFoundError, NotADirectoryError):
        return AuthFile()
    except OSError as e:
        return AuthFile(problem=f"{file} can't be read: {e.strerror or e}")
    return _read(file, (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size, os.geteuid()))


@lru_cache(maxsize=8)
def _read(file: Path, version: tuple[int, ...]) -> AuthFile:
    """The logins of one version of the file; what was told of it once is told by every later look of this process."""
    try:
        data, notices = _load(file)
    except _Unusable as e:
        return AuthFile(problem=f"{file} isn't used: {e}")
    logins: dict[str, Kept] = {}
    for name, entry in data[_SECTION].items():
        try:
            logins[name] = msgspec.convert(entry, Kept)
        except msgspec.ValidationError:
            notices = (*notices, f"{file}: what it says of the provider {name!r} isn't understood, and is left alone")
    return AuthFile(logins, notices)


def write_login(file: Path, provider: str, login: Kept) -> tuple[str, ...]:
    """Keep `login` as the one of `provider`, with fields of the old entry that aren't ours; return what a person should be told. Raises `ConfigError`."""

    def change(entries: _Data) -> None:
        old = entries.get(provider)
        own = {f for kind in (KeyLogin, TokenLogin, RingLogin) for f in kind.__struct_fields__} | {"type"}
        foreign = {k: v for k, v in old.items() if k not in own} if isinstance(old, dict) else {}
        entries[provider] = {**foreign, **msgspec.to_builtins(login)}

    return _edit(file, change)


def remove_login(file: Path, provider: str) -> tuple[str, ...]:
    """Take out the entry of `provider`, whatever it is; return what a person should be told. Raises `ConfigError`."""

    def change(entries: _Data) -> None:
        entries.pop(provider, None)

    return _edit(file, change)


def require_writable(file: Path) -> None:
    """Raise `ConfigError` unless the file, with another login in it, could be written now: what follows can't be done twice."""
    with _told(file):
        real = Path(os.path.realpath(file))
        make_private(real.parent)
        size = real.stat().st_size if real.exists() else 0
        with _beside(real, " " * (min(size, _LARGEST) + _ROOM)) as trial:  # a full disk takes empty files
            trial.unlink()


def _edit(file: Path, change: Callable[[_Data], None]) -> tuple[str, ...]:
    with _told(file):
        real = Path(os.path.realpath(file))  # a link to a file elsewhere stays one
        make_private(real.parent)
        with exclusive(real.with_name(f".{real.name}.lock")):
            data, notices = _loaded_or_aside(real)
            change(data[_SECTION])
            with _beside(real, json.dumps(data, indent=2) + "\n") as new:
                new.replace(real)
            sync_folder(real.parent)
            return notices


@contextmanager
def _told(file: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, StoreError, _Unusable) as e:
        why = (e.strerror if isinstance(e, OSError) else None) or str(e)
        raise ConfigError(
            f"nothing can be kept in {file}: {why}",
            hint="Correct that, or set TRIMTAB_HOME to a folder you may write.",
        ) from None


def _loaded_or_aside(file: Path) -> tuple[_Data, tuple[str, ...]]:
    """The content, or none of it once a damaged file was moved out of the way."""
    try:
        return _load(file)
    except _Unusable as e:
        if not e.damaged:
            raise
        aside = file.with_name(f"{file.name}.damaged-{secrets.token_hex(4)}")
        os.rename(file, aside)
        return {_SECTION: {}}, (f"{file} was damaged ({e}); it is kept as {aside}, and a new one was begun",)


def _load(file: Path) -> tuple[_Data, tuple[str, ...]]:
    """The content with its section, and what a person should be told. Raises `_Unusable`."""
    content, notices = _bytes(file)
    try:
        data = json.loads(content.decode("utf-8")) if content.strip() else {}
    except (ValueError, RecursionError):  # its words may repeat what the file holds
        raise _Unusable("it isn't JSON", damaged=True) from None
    if not isinstance(data, dict) or not isinstance(data.setdefault(_SECTION, {}), dict):
        raise _Unusable(f"it holds no table {_SECTION!r}", damaged=True)
    return data, notices


def _bytes(file: Path) -> tuple[bytes, tuple[str, ...]]:
    try:
        fd = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return b"", ()
    except OSError as e:
        raise _Unusable(e.strerror or str(e)) from None
    try:
        notices = _believed(file, fd)
        with os.fdopen(fd, "rb", closefd=False) as stream:
            content = stream.read(_LARGEST + 1)
    except OSError as e:
        raise _Unusable(e.strerror or str(e)) from None
    finally:
        os.close(fd)
    if len(content) > _LARGEST:
        raise _Unusable(f"it has more than {_LARGEST:,} bytes", damaged=True)
    return content, notices


def _believed(file: Path, fd: int) -> tuple[str, ...]:
    """Raise `_Unusable` for a file that somebody else may have written; mend one that others may read."""
    status = os.fstat(fd)
    mode = stat.S_IMODE(status.st_mode)
    if not stat.S_ISREG(status.st_mode):
        raise _Unusable("it is no regular file")
    if status.st_uid != os.geteuid():
        raise _Unusable("it belongs to another user; move it away, or set TRIMTAB_HOME to a folder of yours")
    if mode & 0o022:
        raise _Unusable(f"other users may write it (mode {mode:o}); look at what it says, then: chmod 600 {file}")
    folder = _open_folder(file)
    if not mode & 0o077:
        return folder
    try:
        os.fchmod(fd, 0o600)
    except OSError as e:
        raise _Unusable(f"other users may read it (mode {mode:o}), which can't be mended: {e.strerror}") from None
    told = f"{file} could be read by other users of this machine (mode {mode:o}); now it can't (600). If they aren't trusted, get new keys"
    return (told, *folder)


def _open_folder(file: Path) -> tuple[str, ...]:
    """What to tell of a folder in which others could put another file in the place of this one."""
    folder = os.path.dirname(os.path.realpath(file))
    mode = stat.S_IMODE(os.stat(folder).st_mode)
    if not mode & 0o022 or mode & stat.S_ISVTX:
        return ()
    return (f"{folder}, where logins are kept, may be written by other users (mode {mode:o}): chmod 700 {folder}",)


@contextmanager
def _beside(file: Path, text: str) -> Iterator[Path]:
    """A new file beside `file` that holds `text` and is on the disk, readable by its owner alone; removed unless it was renamed."""
    path = file.with_name(f".{file.name}.{secrets.token_hex(8)}.tmp")
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as out:
            os.fchmod(fd, 0o600)
            out.write(text)
            out.flush()
            os.fsync(fd)
        yield path
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)
