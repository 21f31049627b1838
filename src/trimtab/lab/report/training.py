"""What training did: the ablation of credit and branching, and the path from a fixed summary to reinforcement learning, each step against the one before.

The path is the bench's (`bench/steps.py`), the ablation is training's (`train/ablation.py`); each interval is theirs.
"""

from collections.abc import Sequence

from trimtab.lab.bench.figures import COST, REWARD, SUCCESS
from trimtab.lab.bench.grounds import borne, lacking
from trimtab.lab.bench.steps import PATH as STAGES
from trimtab.lab.bench.steps import Stage, walked
from trimtab.lab.corpora.intervals import Interval
from trimtab.lab.report.bearing import says
from trimtab.lab.report.evidence import Block
from trimtab.lab.report.table import Cell, Column, Table
from trimtab.lab.train.ablation_row import AblationRow, Estimate

ABLATION = (
    Column("variant", "credit"),
    Column("branching", "branch points"),
    Column("says", "so", about="what the interval over the clone bears"),
    Column(
        "gain", "Δ clone", "signed", "reward above the clone that training began with, seed by seed and task by task"
    ),
    Column("reward", "reward", "number", "mean over seeds and tasks, greedy"),
    Column("sampled", "reward, sampled", "number", "the same policy, drawing its actions"),
    Column("success", "success", "share"),
    Column("cost", "cost", "share", "of keeping everything"),
    Column("seeds", "seeds", "count"),
    Column("decisions", "decisions", "count", "of all its runs"),
)


def ablation_table(rows: Sequence[AblationRow]) -> Table:
    """Return what each variant of credit and way to branch came to, beside the clone that all began with and the arms that it is compared with."""
    title = "Credit and branch points"
    if not rows:
        return Table(
            "ablation", title, ABLATION, (), missing="No ablation.json of `trimtab train` lies in these folders."
        )
    made: tuple[dict[str, Cell], ...] = tuple(
        {
            "variant": row.variant,
            "branching": row.branching or None,
            "reward": _interval(row.reward),
            "success": _interval(row.success),
            "cost": _interval(row.cost),
            "sampled": None if row.sampled is None else _interval(row.sampled),
            "gain": None if row.gain is None else _gain(row, row.gain),
            "says": "reference" if row.gain is None else says(_gain(row, row.gain)),
            "seeds": row.seeds,
            "decisions": row.decisions or None,
        }
        for row in rows
    )
    seeds, tasks = (sorted({getattr(row, key) for row in rows if row.gain}) or [0] for key in ("seeds", "tasks"))
    n = [" to ".join(f"{one:,}" for one in dict.fromkeys((some[0], some[-1]))) for some in (seeds, tasks)]
    scope = f"T0 · validation, tasks that chose nothing · {n[0]} seeds · n = {n[1]} tasks a run"
    return Table(
        "ablation", title, ABLATION, made, scope, "all from the same clones, with the same budget of decisions"
    )


def _gain(row: AblationRow, gain: Estimate) -> Interval:
    """What a variant is over its clone, as far as its runs bear it: seeds are what is drawn first here, so they stand for families."""
    return borne(_interval(gain), lacking(row.seeds * row.tasks, row.seeds, row.seeds, unit="seed"))


def _interval(one: Estimate) -> Interval:
    return Interval(one.mean, one.low, one.high)


PATH = (
    Column("step", "step"),
    Column("arm", "arm"),
    Column("before", "against"),
    Column("says", "so"),
    Column("reward_change", "Δ reward", "signed"),
    Column("success_change", "Δ success, points", "points", "against the last step before it that played, paired"),
    Column("cost_change", "Δ cost", "change"),
    Column("reward", "reward", "number"),
    Column("success", "success", "share"),
    Column("cost", "cost", "share"),
    Column("note", "what it is"),
)


def path_table(block: Block, path: Sequence[Stage] = STAGES) -> Table:
    """Return the bench's path: each step against the last one before it that played."""
    bound = block.bound
    made: list[dict[str, Cell]] = []
    for step in walked(block.section, path):
        row: dict[str, Cell] = {"step": step.stage.name, "arm": step.arm or None, "before": step.before or None}
        if step.arm:
            row |= {
                "success": block.figure(step.arm, SUCCESS, bound),
                "cost": block.figure(step.arm, COST, bound),
                "reward": block.figure(step.arm, REWARD, bound),
                "note": step.stage.about,
            }
        else:
            lacks = (
                f"no {' or '.join(step.stage.arms)} was played"
                if step.stage.arms
                else f"nobody said which arm it is (--step {step.stage.key}=ARM)"
            )
            row["note"] = f"missing: {lacks}"
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
