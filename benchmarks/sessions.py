"""What a long session costs: opening it, adding to it, going on with it.

The sessions have up to 50,000 entries of about 1 KB, four of five of them calls and their results. Opening is compared with `json.loads` of the same lines,
by CPU; adding a message with the same on a session of ten entries. Tau's are as long, entry for entry.
"""

import json
import shutil
import statistics
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.fake_server import Server
from benchmarks.installs import Install
from benchmarks.measure import Spent, in_turn, spend
from benchmarks.session_work import LINE
from benchmarks.start import tau, trimtab
from benchmarks.table import Row

REPO = Path(__file__).resolve().parent.parent
SIZES = (1_000, 10_000, 50_000)
LONG, SHORT = SIZES[-1], 10
WINDOW = 100_000_000
"""Tokens; nothing is shortened in it."""
ROUNDS = 3


@dataclass(frozen=True)
class _Work:
    """One kind of work of `session_work.py`, or of tau's, on one file."""

    install: Install
    path: Path
    module: str = "benchmarks.session_work"

    def run(self, work: str) -> Spent:
        """Do it in a new process."""
        return spend([self.install.python, "-m", self.module, work, self.path], env=self.install.env, cwd=REPO)


def session_rows(ours: Install, theirs: Install | None, server: Server) -> list[Row]:
    """Load, append, whole run, at several lengths, beside tau's of the same."""
    files = {n: _written(ours, n) for n in (SHORT, *SIZES)}
    tau_files = {n: write_tau_session(theirs, n) for n in SIZES} if theirs else {}
    return [
        *_open_rows(ours, theirs, files, tau_files),
        *_append_rows(ours, theirs, files, tau_files),
        *_resume_rows(ours, theirs, server, files, tau_files),
    ]


def _written(ours: Install, entries: int) -> Path:
    """Make a session of so many entries, in another process: what this one holds would show in the memory of those it starts."""
    path = ours.work / f"{entries}.jsonl"
    _Work(ours, path).run(f"write-{entries}")
    return path


def _open_rows(ours: Install, theirs: Install | None, files: dict[int, Path], tau_files: dict[int, Path]) -> list[Row]:
    rows = []
    for entries in SIZES:
        work = _Work(ours, files[entries])
        cases = {w: partial(work.run, w) for w in ("parse", "load", "view", "first")}
        if theirs:
            cases["tau"] = partial(_Work(theirs, tau_files[entries], "benchmarks.tau_work").run, "open")
        runs = in_turn(cases, rounds=ROUNDS)
        parse, load, view, first = (_said(runs[w]) for w in ("parse", "load", "view", "first"))
        memory = statistics.median(r.rss_mb for r in runs["view"])
        peer = (
            f"{_said(runs['tau']):.2f} s, {statistics.median(r.rss_mb for r in runs['tau']):.0f} MB" if theirs else ""
        )
        size = files[entries].stat().st_size / 1e6
        rows += [
            Row(f"json.loads of {entries:,} entries ({size:.0f} MB)", f"{parse:.3f} s CPU"),
            Row("open them", f"{load:.3f} s = {load / parse:.2f} x json.loads", "<= 3 x", load <= 3 * parse, peer),
            Row("open them, make the view", f"{view:.3f} s = {view / parse:.2f} x", "<= 3 x", view <= 3 * parse),
            Row("open a whole session, make its first request", f"{first:.3f} s = {first / parse:.2f} x"),
            Row("peak memory of the view", f"{memory:.0f} MB = {memory / size:.1f} x the log"),
        ]
    return rows


def _append_rows(
    ours: Install, theirs: Install | None, files: dict[int, Path], tau_files: dict[int, Path]
) -> list[Row]:
    """One more message, in milliseconds of wall time."""
    cases = {str(n): partial(_Work(ours, _copy(path)).run, "append") for n, path in files.items()}
    if theirs:
        for n, path in tau_files.items():
            cases[f"tau {n}"] = partial(_Work(theirs, _copy(path), "benchmarks.tau_work").run, "message")
    runs = in_turn(cases, rounds=ROUNDS)
    took = {name: _said(of) * 1000 for name, of in runs.items()}
    short = took[str(SHORT)]
    rows = [Row(f"one more message at {SHORT} entries, fsync included", f"{short:.2f} ms")]
    for n in SIZES:
        ratio = took[str(n)] / short
        peer = f"{took[f'tau {n}']:.0f} ms" if theirs else ""
        rows.append(Row(f"one at {n:,}", f"{took[str(n)]:.2f} ms = {ratio:.2f} x", "<= 1.5 x", ratio <= 1.5, peer))
    return rows


def _copy(path: Path) -> Path:
    return Path(shutil.copy(path, path.with_suffix(".copy.jsonl")))


def _resume_rows(
    ours: Install, theirs: Install | None, server: Server, files: dict[int, Path], tau_files: dict[int, Path]
) -> list[Row]:
    """A whole run that adds one prompt and one answer to a session, in a window so large that the request holds all of it."""
    rows = []
    for entries, path in files.items():
        window = ("--set", f"providers.local.context_window={WINDOW}")
        run = trimtab(ours, server, "words-1", *window, "--session", str(path))
        peer = ""
        if theirs and entries in tau_files:
            peer = _used(tau(theirs, "words-1", "--session", tau_files[entries].stem))
        rows.append(Row(f"`-p hi` in a session of {entries:,}", _used(run), peer=peer))
    return rows


def _used(run: Spent) -> str:
    return f"{run.cpu_s:.2f} s CPU, {run.rss_mb:.0f} MB"


def _said(runs: list[Spent]) -> float:
    return statistics.median(float(r.output) for r in runs)


def write_tau_session(theirs: Install, entries: int) -> Path:
    """Let tau begin a session, then repeat its prompt and answer; return its file, which is named by its id."""
    session = f"bench-{entries}"
    tau(theirs, "words-1", "--session-id", session)
    (path,) = (theirs.home / "tau").glob(f"sessions/*/{session}.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    pair = [line for line in lines if line["type"] == "message"][-2:]
    with path.open("a") as file:
        parent = lines[-1]["id"]
        for n in range(entries - len(lines)):
            entry = {**pair[n % 2], "id": f"{n:032x}", "parent_id": parent}
            entry["message"] = {**entry["message"], "content": [{"type": "text", "text": LINE * 14}]}
            file.write(json.dumps(entry) + "\n")
            parent = entry["id"]
    return path
