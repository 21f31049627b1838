"""What training did: the ablation of credit and branching, and the path from a fixed summary to reinforcement learning, each step against the one before.

Runs of an ablation differ by their seed, so their interval is over seeds; two ways are compared seed by seed, where both ran it.
"""

from collections.abc import Sequence

from trimtab.lab.bench.figures import COST, REWARD, SUCCESS
from trimtab.lab.report.arm_tables import says
from trimtab.lab.report.evidence import Block
from trimtab.lab.report.reading import AblationRow, PathStep
from trimtab.lab.report.sample import over_runs
from trimtab.lab.report.table import Cell, Column, Table

PATH: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("fixed summary", ("summary",)),
    ("occupancy rule", ("threshold", "rules")),
    ("logs", ()),
    ("supervised", ("supervised", "learned(supervised)")),
    ("RL", ("rl", "learned(rl)")),
)
"""The steps by their names, and the arms that may stand for each where no `path.json` says so; the first that played is taken."""
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


PATH_COLUMNS = (
    Column("step", "step"),
    Column("arm", "arm"),
    Column("success", "success", "share"),
    Column("cost", "cost", "share"),
    Column("reward", "reward", "number"),
    Column("success_change", "Δ success, points", "points", "against the step before that has an arm, paired"),
    Column("cost_change", "Δ cost", "change"),
    Column("reward_change", "Δ reward", "signed"),
    Column("says", "so"),
    Column("note", "note"),
)


def path_table(block: Block, named: Sequence[PathStep]) -> Table:
    """Return the path: each step against the last one before it that has rows."""
    sample, bound = block.sample, block.bound
    steps = list(named) or [PathStep(label=label, arm=_first(block, specs)) for label, specs in PATH]
    made: list[dict[str, Cell]] = []
    before: str | None = None
    for step in steps:
        row: dict[str, Cell] = {"step": step.label, "arm": step.arm or None, "note": step.note or None}
        if step.arm in sample.by_arm:
            row |= {
                "success": sample.figure(step.arm, SUCCESS, bound),
                "cost": sample.figure(step.arm, COST, bound),
                "reward": sample.figure(step.arm, REWARD, bound),
            }
            if before is not None:
                gained = sample.gain(step.arm, before, REWARD, bound)
                row |= {
                    "success_change": sample.gain(step.arm, before, SUCCESS, bound),
                    "cost_change": sample.change(step.arm, before, COST, bound),
                    "reward_change": gained,
                    "says": says(gained),
                }
            before = step.arm
        else:
            row["note"] = step.note or ("this arm didn't play here" if step.arm else "no arm by itself")
        made.append(row)
    about = "Each step against the last one before it that played, on the same stories."
    return Table(
        f"path-{block.name}",
        "From a fixed summary to reinforcement learning",
        PATH_COLUMNS,
        tuple(made),
        block.scope,
        about,
    )


def _first(block: Block, specs: Sequence[str]) -> str:
    """The arm that stands for a step: one of these names, or one of them with parameters."""
    for spec in specs:
        for arm in block.sample.arms:
            if arm == spec or arm.startswith(f"{spec}("):
                return arm
    return ""
