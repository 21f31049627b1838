"""What the sandbox costs a command: `true` through each backend that works here, in milliseconds.

Run: python -m benchmarks.sandbox. The rounds are mixed, so that a busy machine slows all of them alike; the least of a kind is what it takes.
"""

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from trimtab.coding.sandbox.choose import Machine, choose
from trimtab.coding.sandbox.landlock import Facts, Landlock, ask_system
from trimtab.coding.sandbox.places import Grounds, look
from trimtab.coding.sandbox.sandbox import Sandbox
from trimtab.config.settings import SandboxSettings

ROUNDS = 60
COMMAND = ("/bin/sh", "-c", "true")


def sandboxes(project: Path) -> Mapping[str, Sandbox | None]:
    """None is no sandbox at all; what doesn't work here is left out."""
    plan = look(Grounds(str(project), os.path.expanduser("~"), environment=dict(os.environ)))
    facts, machine = ask_system(), Machine()
    found: dict[str, Sandbox | None] = {"none": None}
    if facts.abi:
        found["landlock alone"] = Landlock(plan, Facts(facts.abi, "left out", "left out"))
    if facts.abi and not facts.no_mounts:
        found["landlock with mounts"] = Landlock(plan, facts)
    bubblewrap = choose(SandboxSettings(backend="bubblewrap"), plan, machine)
    if bubblewrap.sandbox:
        found["bubblewrap"] = bubblewrap.sandbox
    return found


def measure(found: Mapping[str, Sandbox | None]) -> dict[str, list[float]]:
    """Milliseconds of each round."""
    spent: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(ROUNDS):
        for name, sandbox in found.items():
            argv, environment = sandbox.wrap(COMMAND, os.environ, Path.cwd()) if sandbox else (COMMAND, os.environ)
            began = time.perf_counter()
            subprocess.run(argv, env=dict(environment), check=True)
            spent[name].append((time.perf_counter() - began) * 1000)
    return spent


def main() -> None:
    """Print the least and the middle of each."""
    with tempfile.TemporaryDirectory(prefix="trimtab-bench-") as folder:
        spent = measure(sandboxes(Path(folder)))
    base = min(spent["none"])
    for name, times in spent.items():
        print(
            f"{name:22} least {min(times):6.1f} ms (+{min(times) - base:.1f}), middle {statistics.median(times):6.1f} ms"
        )


if __name__ == "__main__":
    main()
