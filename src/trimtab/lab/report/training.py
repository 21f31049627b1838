"""What training did: the ablation of credit and branching, and the path from a fixed summary to reinforcement learning, each step against the one before.

The path is the bench's (`bench/steps.py`). Runs of an ablation differ by their seed, so their interval is over seeds; two ways are compared seed by seed, where both ran it.
"""

from collections.abc import Sequence

from trimtab.lab.bench.figures import COST, REWARD, SUCCESS
from trimtab.lab.bench.steps import walked
from trimtab.lab.report.bearing import over_runs, says
from trimtab.lab.report.evidence import Block
from trimtab.lab.report.reading import AblationRow
from trimtab.lab.report.table import Cell, Column, Table

ABLATION = (
    Column("variant", "credit"),
    Column("branching", "branch points"),
    Column("reward", "reward", "number", "mean over seeds"),
    Column("success", "success", "share"),
    Column("cost", "cost", "share"),
    Column("change", "Δ reward", "signed", "against the first row, seed by seed"),
    Column("says", "so"),
    Column("seeds", "seeds"),
)


def ablation_table(rows: Sequence[AblationRow]) -> Table:
    """Return a row for each variant and way to branch. What they are held against is `traj` with random branch points, or the first there is."""
    title = "Credit and branch points"
    if not rows:
        return Table("ablation", title, ABLATION, (), missing="No training run of an ablation lies in these folders.")
    found: dict[tuple[str, str], dict[int, AblationRow]] = {}
    for row in rows:
        found.setdefault((row.variant, row.branching), {})[row.seed] = row
    order = {"traj": 0, "snapshot": 1, "parent": 2}
    ways = sorted(found, key=lambda way: (order.get(way[0], 3), way[0], way[1] != "random", way[1]))
    base = found[ways[0]]
    made: list[dict[str, Cell]] = []
    for way in ways:
        runs = found[way]
        both = sorted(runs.keys() & base.keys())
        change = over_runs(runs[seed].reward - base[seed].reward for seed in both) if way != ways[0] else None
        made.append(
            {
                "variant": way[0],
                "branching": way[1],
                "reward": over_runs(run.reward for run in runs.values()),
                "success": over_runs(run.success for run in runs.values()),
                "cost": over_runs(run.cost for run in runs.values()),
                "change": change,
                "says": "reference" if change is None else says(change),
                "seeds": ", ".join(map(str, sorted(runs))),
            }
        )
    scopes = sorted({f"{row.tier} · {row.part}" for row in rows})
    episodes = sorted({row.episodes for row in rows if row.episodes})
    each = (
        f" · n = {' to '.join(f'{n:,}' for n in dict.fromkeys((episodes[0], episodes[-1])))} a run" if episodes else ""
    )
    scope = f"{', '.join(scopes)} · {len(rows)} runs{each}"
    return Table(
        "ablation", title, ABLATION, tuple(made), scope, f"Held against {' with '.join(ways[0])} branch points."
    )


PATH = (
    Column("step", "step"),
    Column("arm", "arm"),
    Column("before", "against"),
    Column("success", "success", "share"),
    Column("cost", "cost", "share"),
    Column("reward", "reward", "number"),
    Column("success_change", "Δ success, points", "points", "against the last step before it that played, paired"),
    Column("cost_change", "Δ cost", "change"),
    Column("reward_change", "Δ reward", "signed"),
    Column("says", "so"),
    Column("note", "what it is"),
)


def path_table(block: Block) -> Table:
    """Return the bench's path: each step against the last one before it that played."""
    bound = block.bound
    made: list[dict[str, Cell]] = []
    for step in walked(block.section):
        row: dict[str, Cell] = {"step": step.stage.name, "arm": step.arm or None, "before": step.before or None}
        if step.arm:
            row |= {
                "success": block.figure(step.arm, SUCCESS, bound),
                "cost": block.figure(step.arm, COST, bound),
                "reward": block.figure(step.arm, REWARD, bound),
                "note": step.stage.about,
            }
        else:
            row["note"] = f"missing: no {' or '.join(step.stage.arms)} was played"
        if step.arm and step.before:
            gained = block.gain(step.arm, step.before, REWARD, bound)
            row |= {
                "success_change": block.gain(step.arm, step.before, SUCCESS, bound),
                "cost_change": block.change(step.arm, step.before, COST, bound),
                "reward_change": gained,
                "says": says(gained),
            }
        made.append(row)
    return Table(f"path-{block.name}", "From a fixed summary to reinforcement learning", PATH, tuple(made), block.scope)
