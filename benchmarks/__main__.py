"""Measure everything and print one table; exit 1 when a goal is missed.

Run: make bench. Tau is measured beside Trimtab where it can be had; `--no-tau` leaves it out.
"""

import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.checkpoints import checkpoint_rows
from benchmarks.engine import engine_rows
from benchmarks.fake_server import Server, fake_server
from benchmarks.imports import import_rows
from benchmarks.installs import Install, install_tau, install_trimtab
from benchmarks.parallel import parallel_rows
from benchmarks.session_index import session_index_rows
from benchmarks.sessions import session_rows
from benchmarks.start import json_rows, request_rows, size_rows, start_rows, tool_rows
from benchmarks.stream import stream_rows
from benchmarks.table import Row, render


def measure(folder: Path, server: Server, *, with_tau: bool) -> Iterator[Row]:
    """All rows, in the order in which they are measured."""
    ours = install_trimtab(folder / "trimtab")
    theirs: Install | None = None
    if with_tau:
        found = install_tau(folder / "tau", server.url)
        if isinstance(found, Install):
            theirs = found
        else:
            print(f"TAU IS NOT MEASURED: {found}\n", file=sys.stderr)
    yield from size_rows(ours, theirs)
    yield from start_rows(ours, theirs, server)
    yield from request_rows(ours, theirs, server)
    yield from json_rows(ours, theirs, server)
    yield from tool_rows(ours, theirs, server)
    yield from stream_rows(server)
    yield from session_rows(ours, theirs, server)
    yield from parallel_rows(ours, theirs, server)
    yield from session_index_rows()
    yield from engine_rows(ours)
    yield from checkpoint_rows()
    yield from import_rows(ours)


def main() -> int:
    """Print the table; return the exit code."""
    print(
        f"Python {platform.python_version()} on {platform.system()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n"
    )
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="trimtab-bench-") as folder, fake_server() as server:
        for row in measure(Path(folder), server, with_tau="--no-tau" not in sys.argv[1:]):
            print(
                f"  {row.what}: {row.measured}" + (f"; tau {row.peer}" if row.peer else ""), file=sys.stderr, flush=True
            )
            rows.append(row)
    print(render(rows))
    missed = [row.what for row in rows if row.met is False]
    if missed:
        print(f"\nmissed: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
