"""The sandbox of a session: opened when its first command comes, then the same for every command.

    Confiner.wrap(argv, environment, cwd) ──▶ what to start, or why nothing may be started (`required`)

Whoever starts commands for a model goes through it. What a person should know of it comes once, by `take_notice`.
"""

import os.path
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trimtab.coding.sandbox.choose import Choice, Machine, choose
from trimtab.coding.sandbox.hints import denial_line
from trimtab.coding.sandbox.places import Grounds, look, make_caches, secrets_of
from trimtab.coding.sandbox.plan import Confinement
from trimtab.coding.sandbox.sandbox import Started
from trimtab.config.settings import SandboxSettings


@dataclass(slots=True)
class Confiner:
    """Confines the commands of one session as `settings` say, on `grounds`."""

    settings: SandboxSettings
    grounds: Grounds
    machine: Machine = field(default_factory=Machine)
    _opened: tuple[Confinement, Choice] | None = None
    _secrets: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _told: set[str] = field(default_factory=set)
    _fresh: list[str] = field(default_factory=list)

    def wrap(self, argv: tuple[str, ...], environment: Mapping[str, str], cwd: Path) -> Started | str:
        """Return what to start in `cwd` instead of `argv`; words when nothing may be started. Reads the disk and starts programs at first: not for the event loop."""
        _, choice = self._open()
        if choice.sandbox is not None:
            return choice.sandbox.wrap(argv, environment, cwd)
        if self.settings.mode == "required":
            return f"commands don't run without a sandbox (sandbox.mode is required), and there is none: {choice.why}"
        return argv, environment

    def examine(self) -> tuple[Confinement, Choice]:
        """Return what commands would be held to, for a report; makes nothing. As slow as the first `wrap`."""
        plan = Confinement() if self.settings.mode == "off" else look(self.grounds)
        return plan, choose(self.settings, plan, self.machine)

    def look_after(self, printed: str, *, failed: bool) -> str:
        """Look at what a command left; return one line for who reads its output when it failed and the sandbox may be why, else nothing. Reads the disk."""
        if self._opened is None:
            return ""
        plan, choice = self._opened
        news = [path for path in plan.missing if os.path.lexists(path)]
        self._tell(f"{path} is new and can decide what runs later; look at it, unless you made it" for path in news)
        return denial_line(printed, network=self.settings.network) if failed and choice.sandbox is not None else ""

    def take_notice(self) -> str:
        """What a person should know since the last time, each thing once; mostly empty."""
        fresh, self._fresh = self._fresh, []
        return "; ".join(fresh)

    def _tell(self, lines: Iterable[str]) -> None:
        for line in lines:
            if line not in self._told:
                self._told.add(line)
                self._fresh.append(line)

    def _open(self) -> tuple[Confinement, Choice]:
        with self._lock:
            secrets = secrets_of(self.grounds)
            if (
                self._opened is None or secrets != self._secrets
            ):  # a login in the middle of a session, or one that is gone
                self._secrets = secrets
                if self.settings.mode != "off":
                    make_caches(self.grounds)
                self._opened = self.examine()
                _, choice = self._opened
                if choice.sandbox is None and self.settings.mode == "auto":
                    self._tell([f'commands run without a sandbox: {choice.why}; sandbox.mode = "off" hides this'])
            return self._opened
