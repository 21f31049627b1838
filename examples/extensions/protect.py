"""An extension that guards: no call of the model writes files that match the person's patterns, and `/protected` lists them.

    trimtab chat --extension examples/extensions/protect.py

    # config.toml, where the patterns stand; without them lock files and migrations are protected
    [extensions.settings.protect]
    paths = ["*.lock", "migrations/**", ".env*"]

It sees what `write` and `edit` name. What a command writes is the permissions' and the sandbox's matter: `permissions.deny = ["bash(rm)"]`, `trimtab doctor`.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from trimtab.extend import Api, Deny, Here, ToolCalled

API = 1
PATHS = ("*.lock", "migrations/**")


@dataclass(frozen=True)
class Guard:
    """Patterns of paths, relative to the folder one works in; a pattern without a slash is about names."""

    patterns: Sequence[str]

    def check(self, call: ToolCalled, here: Here) -> Deny | None:
        """Refuse a call that names a protected file, whatever way leads there: links and `..` are resolved first."""
        real = os.path.realpath(here.cwd / os.path.expanduser(str(call.tool_input.get("path", ""))))
        pattern = next((pattern for pattern in self.patterns if self._fits(Path(real), pattern, here.cwd)), None)
        if pattern is None:
            return None
        return Deny(f"{call.tool_input.get('path')} is protected by {pattern!r}: ask the person to change it")

    def listed(self, rest: str, here: Here) -> str:
        """The answer of `/protected`."""
        return "\n".join(self.patterns) or "nothing is protected"

    @staticmethod
    def _fits(path: Path, pattern: str, cwd: Path) -> bool:
        if "/" not in pattern:
            return fnmatch(path.name, pattern)
        return path.is_relative_to(cwd) and fnmatch(str(path.relative_to(cwd)), pattern)


def extend(api: Api) -> None:
    """Register the guard and its command."""
    guard = Guard(api.settings.get("paths", PATHS))
    api.on_tool_call(guard.check, match="write | edit")
    api.command("protected", guard.listed, help="the files that no call may write")
