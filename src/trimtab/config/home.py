"""Where Trimtab keeps things.

`TRIMTAB_HOME` holds everything in one folder; without it, the platform's config, data and cache folders are used. Nothing is
created here: whoever writes a file makes its folder.
"""

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

_SLUG = 40


@dataclass(frozen=True, slots=True)
class Home:
    """The three folders. With `TRIMTAB_HOME` they are one."""

    config: Path
    data: Path
    cache: Path

    @property
    def config_file(self) -> Path:
        """The user's settings."""
        return self.config / "config.toml"

    def folder_file(self, cwd: Path) -> Path:
        """The user's settings for the one folder `cwd` (a real path); no repository brings this file."""
        slug = re.sub(r"[^A-Za-z0-9]+", "-", cwd.name).strip("-")[:_SLUG] or "root"
        return self.config / "folders" / f"{slug}-{hashlib.sha256(os.fsencode(cwd)).hexdigest()[:16]}.toml"

    @property
    def trust_file(self) -> Path:
        """Which folders are trusted."""
        return self.config / "trust.json"

    @property
    def auth_file(self) -> Path:
        """Keys and tokens that `trimtab login` keeps."""
        return self.config / "auth.json"

    @property
    def trusted_code(self) -> Path:
        """Copies of the code that is trusted, by content hash."""
        return self.data / "trusted"

    @property
    def errors_file(self) -> Path:
        """The user's own error shapes."""
        return self.config / "errors.toml"

    @property
    def sessions(self) -> Path:
        """One folder a project, one file a session."""
        return self.data / "sessions"

    @property
    def checkpoints(self) -> Path:
        """How files were before turns changed them, a folder a project."""
        return self.data / "checkpoints"

    @property
    def jobs(self) -> Path:
        """What is known of background jobs that run, a folder a project."""
        return self.data / "jobs"

    @property
    def index(self) -> Path:
        """What is known of all sessions; made anew when it is gone."""
        return self.cache / "index.sqlite"

    @property
    def heard(self) -> Path:
        """What a person was told and needs no second time; told again when it is gone."""
        return self.cache / "heard"

    @property
    def mcp_listings(self) -> Path:
        """What servers of the Model Context Protocol said that they offer; asked again when it is gone."""
        return self.cache / "mcp"

    @property
    def mcp_logins(self) -> Path:
        """Tokens for such servers."""
        return self.data / "mcp-logins.json"

    @property
    def bodies(self) -> Path:
        """Large bodies, by content hash."""
        return self.data / "bodies"


def find_home(env: Mapping[str, str] | None = None) -> Home:
    """Return the folders for this environment (the process's own by default)."""
    env = os.environ if env is None else env
    root = env.get("TRIMTAB_HOME")
    if root:
        path = Path(root).expanduser().absolute()
        return Home(path, path, path)
    dirs = platformdirs.PlatformDirs("trimtab", appauthor=False)
    return Home(dirs.user_config_path, dirs.user_data_path, dirs.user_cache_path)


def environment() -> dict[str, str]:
    """A copy of the process's environment: the one place below the frontends that reads it."""
    return dict(os.environ)
