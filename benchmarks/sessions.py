"""What a long session costs: opening it, adding to it, going on with it.

The session has 50,000 entries of about 1 KB, four of five of them calls and their results. Opening is compared with `json.loads` of the same lines,
by CPU; adding a message with the same on a session of ten entries.
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
LONG, SHORT = 50_000, 10
TAU_LIMIT = 10_000
"""Tau's longer sessions take minutes."""
WINDOW = 100_000_000
"""Tokens; nothing is shortened in it."""
ROUNDS = 3


@dataclass(frozen=True)
class _Work:
    """One kind of work of `session_work.py` on one file."""

    install: Install
    path: Path

    def run(self, work: str) -> Spent:
        """Do it in a new process."""
        argv = [self.install.python, "-m", "benchmarks.session_work", work, self.path]
        return spend(argv, env=self.install.env, cwd=REPO)


def session_rows(ours: Install, theirs: Install | None, server: Server) -> list[Row]:
    """Load, append, whole run."""
    long, middle, short = (_written(ours, n) for n in (LONG, TAU_LIMIT, SHORT))
    size = long.stat().st_size / 1e6
    work = _Work(ours, long)
    runs = in_turn({w: partial(work.run, w) for w in ("parse", "load", "view")}, rounds=ROUNDS)
    parse, load, view = (_said(runs[w]) for w in ("parse", "load", "view"))
    memory = statistics.median(r.rss_mb for r in runs["view"])
    return [
        Row(f"json.loads of {LONG:,} entries ({size:.0f} MB)", f"{parse:.2f} s CPU"),
        Row("open them", f"{load:.2f} s = {load / parse:.2f} x json.loads", "<= 3 x", load <= 3 * parse),
        Row("open them, make the view", f"{view:.2f} s = {view / parse:.2f} x json.loads", "<= 3 x", view <= 3 * parse),
        Row("peak memory of that", f"{memory:.0f} MB = {memory / size:.1f} x the log"),
        *_append_rows(ours, long, short),
        *_resume_rows(ours, theirs, server, {SHORT: short, TAU_LIMIT: middle, LONG: long}),
    ]


def _written(ours: Install, entries: int) -> Path:
    """Make a session of so many entries, in another process: what this one holds would show in the memory of those it starts."""
    path = ours.work / f"{entries}.jsonl"
    _Work(ours, path).run(f"write-{entries}")
    return path


def _append_rows(ours: Install, long: Path, short: Path) -> list[Row]:
    copies = {n: shutil.copy(path, path.with_suffix(".copy.jsonl")) for n, path in ((LONG, long), (SHORT, short))}
    runs = in_turn({str(n): partial(_Work(ours, path).run, "append") for n, path in copies.items()}, rounds=ROUNDS)
    at_long, at_short = (_said(runs[str(n)]) * 1000 for n in (LONG, SHORT))
    ratio = at_long / at_short
    return [
        Row(f"append + fsync at {SHORT} entries", f"{at_short:.2f} ms"),
        Row(f"append + fsync at {LONG:,}", f"{at_long:.2f} ms = {ratio:.2f} x", "equal (<= 1.5 x)", ratio <= 1.5),
    ]


def _resume_rows(ours: Install, theirs: Install | None, server: Server, files: dict[int, Path]) -> list[Row]:
    """A whole run that adds one prompt and one answer to a session, in a window so large that the request holds all of it."""
    rows = []
    for entries, path in files.items():
        window = ("--set", f"providers.local.context_window={WINDOW}")
        run = trimtab(ours, server, "words-1", *window, "--session", str(path))
        peer = ""
        if theirs and entries <= TAU_LIMIT:
            peer = _used(tau(theirs, "words-1", "--session", write_tau_session(theirs, entries)))
        rows.append(Row(f"`-p hi` in a session of {entries:,}", _used(run), peer=peer))
    return rows


def _used(run: Spent) -> str:
    return f"{run.cpu_s:.2f} s CPU, {run.rss_mb:.0f} MB"


def _said(runs: list[Spent]) -> float:
    return statistics.median(float(r.output) for r in runs)


def write_tau_session(theirs: Install, entries: int) -> str:
    """Let tau begin a session, then repeat its prompt and answer; return its id."""
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
    return session
