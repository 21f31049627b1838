"""Bubblewrap (`bwrap`): everything is bound read-only, then what may be written is bound over it.

    Confinement ──▶ bwrap --ro-bind / / … --bind PROJECT PROJECT … -- bash -c COMMAND

No `--die-with-parent` and no `--unshare-pid`: a server that was left running on purpose lives on, and a later command can see and stop it by its number;
`process_tree` ends what has to end.
"""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trimtab.coding.sandbox.plan import Confinement
from trimtab.coding.sandbox.sandbox import Description, Started

_PROBE_S = 20.0
_BINDS = {"write": "--bind", "read": "--ro-bind"}


def why_not(program: str) -> str:
    """Try it; empty when it works here."""
    try:
        ran = subprocess.run(
            [program, "--unshare-user", "--unshare-net", "--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "true"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_S,
            check=False,
            text=True,
            errors="replace",
        )
    except (OSError, subprocess.SubprocessError) as failure:
        return str(failure)
    return "" if ran.returncode == 0 else (ran.stderr.strip().splitlines() or [f"exit {ran.returncode}"])[-1]


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """Confines by the program `program`."""

    plan: Confinement
    program: str

    def wrap(self, argv: tuple[str, ...], environment: Mapping[str, str], cwd: Path) -> Started:
        """`bwrap` in front, which waits for the command and passes its exit code on."""
        words = [self.program, "--unshare-user", "--cap-drop", "CAP_SYS_ADMIN"]  # root could undo the mounts with it
        words += ["--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev"]
        for place in self.plan.guarded():
            words += (
                ["--ro-bind", "/dev/null", place.path] if place.kind == "close" else self._bind(place.kind, place.path)
            )
        if not self.plan.network:
            words.append("--unshare-net")
        return ((*words, "--chdir", str(cwd), "--", *argv), environment)

    def _bind(self, kind: str, path: str) -> list[str]:
        return [f"{_BINDS[kind]}-try", path, path]

    def describe(self) -> Description:
        """What it does."""
        holds = ["writes only where allowed", "no look into other processes"]
        if not self.plan.network:
            holds.append("no network but a loopback of the command's own")
        gaps = ("devices are open", "signals reach your other processes")
        abstract = () if not self.plan.network else ("abstract sockets can be reached",)
        return Description(f"bubblewrap ({self.program})", tuple(holds), (*abstract, *gaps))
