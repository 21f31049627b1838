"""macOS: a profile for `sandbox-exec`, which the system still brings, made from the plan.

    Confinement ──▶ profile text ──▶ sandbox-exec -p PROFILE bash -c COMMAND

In a profile the last rule that fits decides, so rules come by depth, as the places do. Text is made here and tested as text.
"""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trimtab.coding.sandbox.plan import Confinement
from trimtab.coding.sandbox.sandbox import Description, Started

_PROBE_S = 20.0
_ALWAYS = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/ptmx", "/dev/dtracehelper")


def profile(plan: Confinement) -> str:
    """The profile: all is allowed but writes, then writes where they may be."""
    lines = ["(version 1)", "(allow default)", "(deny file-write*)"]
    lines += [f"(allow file-write* (literal {_quoted(path)}))" for path in _ALWAYS]
    lines.append('(allow file-write* (regex #"^/dev/(ttys|fd/)[0-9]+$"))')
    for place in plan.guarded():
        match place.kind:
            case "write":
                lines.append(f"(allow file-write* (subpath {_quoted(place.path)}))")
            case "read":
                lines.append(f"(deny file-write* (subpath {_quoted(place.path)}))")
            case "close":
                lines.append(f"(deny network-outbound (literal {_quoted(place.path)}))")
                lines.append(f"(deny file-read-data (literal {_quoted(place.path)}))")
    lines += [f"(deny file-write* (subpath {_quoted(path)}))" for path in plan.missing]
    lines += [f"(deny file-write-unlink (literal {_quoted(path)}))" for path in _folders_around(plan)]
    if not plan.network:
        lines += ["(deny network*)", "(allow network* (remote unix-socket))", "(allow network* (local unix-socket))"]
        lines += [f"(deny network-outbound (literal {_quoted(p.path)}))" for p in plan.places if p.kind == "close"]
    return "\n".join(lines) + "\n"


def _folders_around(plan: Confinement) -> tuple[str, ...]:
    """Folders between a place to write and one to keep: renaming one would take what is kept along."""
    given = {place.path for place in plan.places}
    return tuple(place.path for place in plan.guarded() if place.path not in given)


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def why_not(program: str) -> str:
    """Try it; empty when it works here."""
    words = [program, "-p", profile(Confinement()), "/usr/bin/true"]
    try:
        ran = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_S, check=False)
    except (OSError, subprocess.SubprocessError) as failure:
        return str(failure)
    return "" if ran.returncode == 0 else f"it ends with exit code {ran.returncode}"


@dataclass(frozen=True, slots=True)
class Seatbelt:
    """Confines by the program `program`."""

    plan: Confinement
    program: str

    def wrap(self, argv: tuple[str, ...], environment: Mapping[str, str], cwd: Path) -> Started:
        """`sandbox-exec` in front, which becomes the command."""
        return ((self.program, "-p", profile(self.plan), *argv), environment)

    def describe(self) -> Description:
        """What it does."""
        network = () if self.plan.network else ("no network",)
        return Description("seatbelt", ("writes only where allowed", *network), ("signals reach your other processes",))
