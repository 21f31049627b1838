"""What it costs to know what a command changed: looks at a project of ten thousand files, beside `git status` of the same files."""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from benchmarks.table import Row
from trimtab.coding.checkpoints.store import ContentStore
from trimtab.coding.checkpoints.tree import ProjectTree
from trimtab.coding.tools.ripgrep import find_rg

FILES = 10_000
_RUNS = 5
_GOAL = 5.0
"""Times `git status`, for a look at files that are known."""


def checkpoint_rows() -> Iterator[Row]:
    """The first look, which keeps every content, and a later one."""
    with tempfile.TemporaryDirectory(prefix="trimtab-bench-") as folder:
        project = _project(Path(folder) / "project")
        status = _seconds(lambda: _git(project, "status", "--porcelain"), _RUNS)
        with ContentStore(Path(folder) / "store") as store:
            tree = ProjectTree(project, store, find_rg(os.environ.get("PATH")))
            first = _seconds(tree.look, 1)
            later = _seconds(tree.look, _RUNS)
    what = f"{FILES:,} files"
    yield Row(f"first look at {what}", f"{first * 1000:.0f} ms, {first / status:.1f} × git status")
    ratio = later / status
    yield Row(
        f"a later look at {what}",
        f"{later * 1000:.0f} ms, {ratio:.1f} × git status",
        goal=f"≤ {_GOAL:g} ×",
        met=ratio <= _GOAL,
    )


def _project(folder: Path) -> Path:
    for number in range(FILES):
        file = folder / f"d{number // 100}" / f"f{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"value_{number} = {number}\n" * 40)
    _git(folder, "init", "-q")
    _git(folder, "add", "-A")
    return folder


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(("git", "-C", str(folder), *arguments), check=True, capture_output=True)


def _seconds(work: Callable[[], object], runs: int) -> float:
    taken = []
    for _ in range(runs):
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    return median(taken)
