"""A project beside things that are none of its business, and every backend that works on this machine."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from trimtab.coding.sandbox.bubblewrap import Bubblewrap, why_not
from trimtab.coding.sandbox.landlock import Facts, Landlock, ask_system
from trimtab.coding.sandbox.places import Grounds, look
from trimtab.coding.sandbox.plan import Confinement, is_in
from trimtab.coding.sandbox.sandbox import Sandbox

BACKENDS = ("mounts", "landlock", "bubblewrap")
WHOLE = ("mounts", "bubblewrap")
"""Those that hold what lies inside a place to write too."""


@cache
def facts() -> Facts:
    """What this machine allows."""
    return ask_system()


@cache
def _no_bubblewrap() -> str:
    program = shutil.which("bwrap")
    return why_not(program) if program else "bwrap isn't installed"


def backend(name: str, plan: Confinement, *, abi: int = 1) -> Sandbox:
    """The backend of that name; the test is skipped, with the reason, where it doesn't work or Landlock is older than `abi`."""
    if name == "bubblewrap":
        if why := _no_bubblewrap():
            pytest.skip(f"NOT TESTED: bubblewrap: {why}")
        return Bubblewrap(plan, shutil.which("bwrap") or "")
    if not facts().abi:
        pytest.skip("NOT TESTED: this system has no Landlock")
    if facts().abi < abi:
        pytest.skip(f"NOT TESTED: needs version {abi} of Landlock, this is {facts().abi}")
    if name == "landlock":
        return Landlock(plan, Facts(facts().abi, "left out", "left out"))
    if facts().no_mounts:
        pytest.skip(f"NOT TESTED: no mount namespace: {facts().no_mounts}")
    return Landlock(plan, facts())


@dataclass(frozen=True, slots=True)
class World:
    """A folder with a repository `project`, a home, and `outside`, whose files nobody may touch."""

    root: Path

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def outside(self) -> Path:
        return self.root / "outside"

    def plan(self, **changes: object) -> Confinement:
        """What a session would find here, without the system's temp folder, in which all of this lies."""
        grounds = Grounds(str(self.project), str(self.root / "home"), own=(str(self.root / "project/own"),))
        found = look(replace(grounds, **changes))  # type: ignore[arg-type] - by name
        inside = tuple(p for p in found.places if p.kind == "close" or is_in(p.path, str(self.root)))
        return replace(found, places=inside)

    def run(
        self,
        name: str,
        command: str,
        *,
        plan: Confinement | None = None,
        environment: Mapping[str, str] | None = None,
        limit_s: float = 60,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in the backend of that name; its output and errors together."""
        sandbox = backend(name, plan or self.plan())
        given = {**os.environ, "OUT": str(self.outside), **(environment or {})}
        argv, env = sandbox.wrap(("/bin/bash", "-c", command), given, self.project)
        return subprocess.run(
            argv,
            cwd=self.project,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            text=True,
            errors="replace",
            timeout=limit_s,
        )

    def tree(self, folder: Path | None = None) -> dict[str, tuple[int, int, int, bytes]]:
        """Every file below `outside` (or `folder`): mode, owner, time and bytes."""
        top = folder or self.outside
        found = {}
        for path in sorted(top.rglob("*")):
            facts_ = path.lstat()
            text = path.read_bytes() if path.is_file() else b""
            found[str(path.relative_to(top))] = (facts_.st_mode, facts_.st_uid, facts_.st_mtime_ns, text)
        return found


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A fresh one."""
    made = World(Path(os.path.realpath(tmp_path)))
    for folder in ("project/.trimtab", "project/own", "home", "outside/folder"):
        (made.root / folder).mkdir(parents=True)
    (made.outside / "secret").write_text("as it was\n")
    (made.outside / "folder/inner").write_text("as it was\n")
    (made.project / "own/config.toml").write_text("as it was\n")
    (made.project / ".trimtab/config.toml").write_text("as it was\n")
    (made.project / "out").symlink_to(made.outside)
    subprocess.run(["git", "init", "-q"], cwd=made.project, check=True, stdin=subprocess.DEVNULL)
    return made
