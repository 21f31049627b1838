"""Linux's own means: Landlock, and a mount namespace where the system grants one, set up by `launcher.py` in the command's process itself.

Confinement + Facts ──▶ options of the launcher ──▶ python -I -S launcher.py … -- bash -c COMMAND
"""

import os.path
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trimtab.coding.sandbox.plan import Confinement
from trimtab.coding.sandbox.sandbox import Description, Started

_PYTHON = os.path.realpath(sys.executable)  # not by a link, which could lie in a project's own environment
_LAUNCHER = str(Path(__file__).with_name("launcher.py"))
_PROBE_S = 20.0
NEEDED_FOR_TCP = 4
_NEEDED_TO_TRUNCATE = 3
_NEEDED_FOR_DEVICES = 5
_NEEDED_FOR_ABSTRACT = 6


@dataclass(frozen=True, slots=True)
class Facts:
    """What this system allows: Landlock's version (0: none); why there can be no mounts or network of one's own, and no Landlock, empty when there can."""

    abi: int = 0
    no_mounts: str = ""
    no_network: str = ""
    no_landlock: str = ""


def ask_system() -> Facts:
    """Try in a process of its own. Never raises; what can't be tried isn't there."""
    if sys.platform != "linux":
        return Facts(0, *("this isn't Linux",) * 3)
    try:
        ran = subprocess.run(
            [_PYTHON, "-I", "-S", _LAUNCHER, "probe"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_S,
            check=False,
            text=True,
            errors="replace",
        )
    except (OSError, subprocess.SubprocessError) as failure:
        return Facts(0, *(str(failure),) * 3)
    return read_facts(ran.stdout)


def read_facts(printed: str) -> Facts:
    """What a probe printed, as facts."""
    said = dict(line.split("=", 1) for line in printed.splitlines() if "=" in line)
    version = said.get("landlock", "")

    def why_not(name: str) -> str:
        word, _, why = said.get(name, "no: it could not be tried").partition(": ")
        return "" if word == "yes" else why or "refused"

    abi = int(version) if version.isdecimal() else 0
    return Facts(abi, why_not("mounts"), why_not("netns"), "" if abi else why_not("landlock"))


@dataclass(frozen=True, slots=True)
class Landlock:
    """Confines by Landlock, as far as `facts` go."""

    plan: Confinement
    facts: Facts

    def wrap(self, argv: tuple[str, ...], environment: Mapping[str, str], cwd: Path) -> Started:
        """The launcher in front; it becomes the command, so process and environment are the command's."""
        return ((_PYTHON, "-I", "-S", _LAUNCHER, *self._options(), f"cwd={cwd}", "--", *argv), environment)

    def _options(self) -> tuple[str, ...]:
        places = self.plan.guarded() if not self.facts.no_mounts else self.plan.places
        options = [f"{place.kind}={place.path}" for place in places]
        options += [f"device={path}" for path in self.plan.devices]
        if not self.facts.no_mounts:
            options.append("mounts=yes")
        if not self.plan.network:
            options += ["net=off"] if self.facts.no_network else ["netns=yes"]
        return tuple(options)

    def describe(self) -> Description:
        """By version and by what the system grants."""
        abi, mounts = self.facts.abi, not self.facts.no_mounts
        name = f"landlock (ABI {abi})" + (" with a mount namespace" if mounts else "")
        holds = ["writes only where allowed", "no look into other processes"]
        gaps = [] if mounts else [f"no mount namespace ({self.facts.no_mounts})", *self._open_without_mounts()]
        if abi >= _NEEDED_FOR_ABSTRACT:
            holds.append("no abstract sockets of others")
        else:
            gaps.append(f"abstract sockets can be reached (ABI {_NEEDED_FOR_ABSTRACT} closes them)")
        if abi < _NEEDED_TO_TRUNCATE and not mounts:
            gaps.append(f"files elsewhere can be emptied (ABI {_NEEDED_TO_TRUNCATE} holds that)")
        if abi < _NEEDED_FOR_DEVICES:
            gaps.append(f"devices that are open for reading can be controlled (ABI {_NEEDED_FOR_DEVICES} holds that)")
        if not self.plan.network:
            self._about_network(holds, gaps)
        return Description(name, tuple(holds), (*gaps, "signals reach your other processes"))

    def _open_without_mounts(self) -> tuple[str, ...]:
        kept = self.plan.kept()
        inside = (f"can be written, since they lie in a place to write: {', '.join(kept)}",) if kept else ()
        return (
            *inside,
            "modes, owners and times of files elsewhere can be changed",
            "sockets such as docker's are open",
        )

    def _about_network(self, holds: list[str], gaps: list[str]) -> None:
        if not self.facts.no_network:
            holds.append("no network but a loopback of the command's own")
        elif self.facts.abi >= NEEDED_FOR_TCP:
            holds.append("no TCP")
            gaps.append(f"UDP is open, since there is no network namespace ({self.facts.no_network})")
        else:
            gaps.append("the network is open: this system has no way to close it")
