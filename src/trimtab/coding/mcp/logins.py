"""Where tokens for servers lie: one file of the person's, which nobody else may read.

    {"servers": {"https://host/mcp": {"tokens": {…}, "expires_at": 1760000000, "client": {…}, "metadata": {…}}}}

Whoever keeps tokens elsewhere brings another `LoginStore`. The one rule: a file that is damaged, or that others may read, holds no login, and is
replaced as a whole.
"""

import hashlib
import json
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from trimtab.context.stores.exclusive import exclusive
from trimtab.context.stores.private import make_private
from trimtab.types.errors import ConfigError, StoreError

_LARGEST = 4_000_000
_SECRET = ("access_token", "refresh_token", "id_token", "client_secret", "registration_access_token")


class LoginStore(Protocol):
    """Keeps what belongs to a login, by the server's address. Touches the disk."""

    def get(self, url: str) -> dict[str, Any] | None:
        """What is kept for `url`."""
        ...

    def put(self, url: str, login: dict[str, Any]) -> None:
        """Keep it. Raises `ConfigError`."""
        ...

    def forget(self, url: str) -> bool:
        """Take it out; False when there was none. Raises `ConfigError`."""
        ...

    def lock(self, url: str) -> Path:
        """The file that whoever renews it holds."""
        ...


@dataclass(frozen=True, slots=True)
class FileLogins:
    """A `LoginStore` in one file, mode 0600."""

    file: Path

    def get(self, url: str) -> dict[str, Any] | None:
        """What is kept for `url`."""
        login = self._read().get(url)
        return login if isinstance(login, dict) else None

    def put(self, url: str, login: dict[str, Any]) -> None:
        """Keep it."""
        self._edit(lambda servers: servers.update({url: login}))

    def forget(self, url: str) -> bool:
        """Take it out."""
        if self.get(url) is None:
            return False
        self._edit(lambda servers: servers.pop(url, None))
        return True

    def secrets(self) -> Iterator[str]:
        """What stands in no line that is shown."""
        for login in self._read().values():
            parts = [login.get("tokens"), login.get("client")] if isinstance(login, dict) else []
            for values in (part for part in parts if isinstance(part, dict)):
                yield from (value for name in _SECRET if isinstance(value := values.get(name), str))

    def lock(self, url: str) -> Path:
        """One for each address."""
        return self.file.with_name(f".{self.file.stem}.{hashlib.sha256(url.encode()).hexdigest()[:16]}.lock")

    def _read(self) -> dict[str, Any]:
        try:
            fd = os.open(self.file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return {}
        status = os.fstat(fd)
        if status.st_mode & 0o077 or not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            os.close(fd)
            return {}
        with os.fdopen(fd, "rb") as file:
            try:
                data = json.loads(file.read(_LARGEST))
            except (ValueError, RecursionError):
                return {}
        servers = data.get("servers") if isinstance(data, dict) else None
        return servers if isinstance(servers, dict) else {}

    def _edit(self, change: Any) -> None:
        beside = self.file.with_name(f".{self.file.name}.{secrets.token_hex(8)}.tmp")
        try:
            make_private(self.file.parent)
            with exclusive(self.file.with_name(f".{self.file.name}.lock")):
                servers = self._read()
                change(servers)
                fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                with os.fdopen(fd, "w", encoding="utf-8") as out:
                    json.dump({"servers": servers}, out)
                    out.flush()
                    os.fsync(fd)
                beside.replace(self.file)
        except (OSError, StoreError) as e:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            why = (e.strerror if isinstance(e, OSError) else None) or str(e)
            raise ConfigError(
                f"the login can't be kept in {self.file}: {why}", hint="Make its folder writable."
            ) from None
