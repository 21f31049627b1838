"""Variants of credit and ways to branch, held against each other run by run: the same seed, the same tasks, the same configuration but for what is compared.

    record.json + scores.json of each run ──same configuration──▶ cells (credit, branching) × seeds ──pairs──▶ differences in reward, with the bench's intervals

`ablation.json` tells each variant beside the clone that it began with. What one variant is beside another can't be read off two such intervals, so it is counted here.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from trimtab.lab.bench.grounds import borne, lacking
from trimtab.lab.bench.paired import Paired
from trimtab.lab.corpora.intervals import Interval
from trimtab.lab.report.bearing import says
from trimtab.lab.report.reading import Run
from trimtab.lab.report.table import Cell, Column, Table

Way: TypeAlias = tuple[str, str]
"""Credit and branch points."""
Rewards: TypeAlias = Mapping[tuple[str, str], float]
"""By seed and task."""
COLUMNS = (
    Column("what", "what is compared"),
    Column("one", "one"),
    Column("other", "beside"),
    Column("says", "so"),
    Column("change", "Δ reward", "signed", "paired by seed and task"),
    Column("seeds", "seeds", "count", "that both ran"),
    Column("n", "n", "count", "runs of a task that are compared"),
)
_CREDIT, _BRANCHING = ("traj", "snapshot", "parent"), ("none", "random", "context")


def contrasts_table(runs: Sequence[Run]) -> Table:
    """Return each pair of ways that differ in one thing: credit under the same branch points, branch points under the same credit."""
    cells = _cells(runs)
    rows: list[dict[str, Cell]] = []
    counts: set[int] = set()
    for what, one, other in _pairs(cells):
        both = sorted(cells[one].keys() & cells[other].keys())
        counts.add(len(both))
        change = _gain([cells[one][at] for at in both], [cells[other][at] for at in both], both)
        rows.append(
            {
                "what": what,
                "one": ", ".join(one),
                "other": ", ".join(other),
                "says": says(change),
                "change": change,
                "seeds": len({seed for seed, _ in both}),
                "n": len(both),
            }
        )
    title = "One way beside another"
    if not rows:
        missing = "No two runs of training lie in these folders that differ only in credit or branch points."
        return Table("contrasts", title, COLUMNS, (), missing=missing)
    scope = f"T0 · validation, tasks that chose nothing · n = {' to '.join(f'{one:,}' for one in dict.fromkeys((min(counts), max(counts))))}, by seed and task"
    return Table("contrasts", title, COLUMNS, tuple(rows), scope)


def _cells(runs: Sequence[Run]) -> dict[Way, dict[tuple[str, str], float]]:
    """The rewards of the largest set of runs that share everything but seed, credit and branch points."""
    sets: dict[bytes, list[Run]] = {}
    for run in runs:
        if run.figures and run.way is not None:
            sets.setdefault(msgspec.json.encode(run.rest, order="deterministic"), []).append(run)
    found: dict[Way, dict[tuple[str, str], float]] = {}
    for run in max(sets.values(), key=len, default=[]):
        assert run.way is not None
        rewards = found.setdefault(run.way, {})
        rewards.update({(str(run.seed), one.task): one.reward for one in run.figures})
    return found


def _pairs(cells: Mapping[Way, Rewards]) -> Iterator[tuple[str, Way, Way]]:
    for branching in _BRANCHING:
        known = [(credit, branching) for credit in _CREDIT if (credit, branching) in cells]
        for place, one in enumerate(known):
            yield from (("credit", one, other) for other in known[:place] if cells[one].keys() & cells[other].keys())
    for credit in _CREDIT:
        known = [(credit, branching) for branching in _BRANCHING if (credit, branching) in cells]
        for place, one in enumerate(known):
            yield from (("branch points", one, other) for other in known[:place] if cells[one].keys() & cells[other].keys())  # fmt: skip


def _gain(ours: Sequence[float], theirs: Sequence[float], at: Sequence[tuple[str, str]]) -> Interval:
    """The mean difference; seeds are drawn, then tasks, so seeds stand for families."""
    found = Paired(at).gain([(one, 1.0) for one in ours], [(one, 1.0) for one in theirs])
    seeds = len({seed for seed, _ in at})
    return borne(found, lacking(len(at), seeds, seeds, unit="seed"))
