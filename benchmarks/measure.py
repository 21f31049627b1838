"""Processes measured by what the kernel says they used.

CPU seconds and peak memory come from `wait4`, children that a process waited for included; they hardly depend on what else runs on the machine, as
wall time does. Things to compare run in turn, round after round, so that a slow minute hits all of them.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Spent:
    """What one process used: seconds, and MB (10^6 bytes) of memory at its peak."""

    cpu_s: float
    wall_s: float
    rss_mb: float
    output: bytes


def spend(argv: Sequence[str | Path], *, env: Mapping[str, str], cwd: Path, limit_s: float = 240) -> Spent:
    """Run a process to its end. Raises `RuntimeError` with its standard error when it fails."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=dict(env), cwd=cwd)
        timer = threading.Timer(limit_s, process.kill)
        timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        finally:
            timer.cancel()
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            err.seek(0)
            said = err.read().decode("utf-8", "replace")[-2000:]
            raise RuntimeError(f"{' '.join(map(str, argv))}: exit {process.returncode}\n{said}")
        out.seek(0)
        peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
        return Spent(usage.ru_utime + usage.ru_stime, wall, peak, out.read())


def in_turn(cases: Mapping[str, Callable[[], Spent]], *, rounds: int) -> dict[str, list[Spent]]:
    """Run each case once to warm up, then all of them in turn `rounds` times."""
    for case in cases.values():
        case()
    measured: dict[str, list[Spent]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, case in cases.items():
            measured[name].append(case())
    return measured


def cpu(runs: Sequence[Spent]) -> float:
    """The median of CPU seconds."""
    return statistics.median(r.cpu_s for r in runs)
