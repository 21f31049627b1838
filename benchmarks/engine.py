"""What the context engine costs: a step and an edit at two lengths of session, a whole fold, counting."""

import statistics
from functools import partial
from pathlib import Path

from benchmarks.installs import Install
from benchmarks.measure import Spent, in_turn, spend
from benchmarks.table import Row

REPO = Path(__file__).resolve().parent.parent
SHORT, LONG, FOLDED = 10, 10_000, 50_000
ROUNDS = 3


def engine_rows(ours: Install) -> list[Row]:
    """Step, edit, fold, count."""
    works = (
        f"step-{SHORT}",
        f"step-{LONG}",
        f"edit-{SHORT}",
        f"edit-{LONG}",
        f"after_edit-{LONG}",
        f"parse-{FOLDED}",
        f"fold-{FOLDED}",
        "count",
    )
    runs = in_turn({work: partial(_run, ours, work) for work in works}, rounds=ROUNDS)
    short, long, early, edit, after, parse, fold, rate = (_said(runs[work]) for work in works)
    return [
        Row(f"a step of the engine at {SHORT} items", f"{short * 1000:.2f} ms"),
        Row(f"at {LONG:,}", f"{long * 1000:.2f} ms = {long / short:.1f} x", "equal (<= 3 x)", long <= 3 * short),
        Row(f"an edit at {SHORT} items", f"{early * 1000:.2f} ms"),
        Row(f"at {LONG:,}", f"{edit * 1000:.2f} ms = {edit / early:.1f} x", "<= 5 ms", edit <= 0.005),
        Row("the request behind the edit", f"{after * 1000:.0f} ms"),
        Row(
            f"decode and fold {FOLDED:,} entries",
            f"{fold:.2f} s = {fold / parse:.2f} x json.loads",
            "<= 3 x",
            fold <= 3 * parse,
        ),
        Row("counting", f"{rate:.1f} MB/s"),
    ]


def _run(ours: Install, work: str) -> Spent:
    argv = [ours.python, "-m", "benchmarks.engine_work", work]
    return spend(argv, env=ours.env, cwd=REPO)


def _said(runs: list[Spent]) -> float:
    return statistics.median(float(run.output) for run in runs)
