"""The ablation: credit variants and ways of branching side by side, several seeds each, from the same clones, on the same tasks.

    cells × seeds ──train──▶ scores on tasks of validation that chose nothing ──resampled: seeds, then tasks──▶ means with intervals, and differences to the clone

Each run is small and has the same budget of decisions, so that what differs is the credit. Runs that were made before aren't made again.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from trimtab.context.policies.learned.weights import Weights
from trimtab.lab.credit.advantage import Variant
from trimtab.lab.train.ablation_row import AblationRow, Estimate
from trimtab.lab.train.config import Branching, Config, Scheme
from trimtab.lab.train.judging import LAST_FROM, Score, Who, scores
from trimtab.lab.train.runs import RunFolder
from trimtab.lab.train.train import Place, train


class Cell(NamedTuple):
    """One way to train."""

    variant: Variant
    branching: Branching
    scheme: Scheme = "outcome"

    @property
    def name(self) -> str:
        """What the table calls its credit: an action that is rewarded by itself has no other."""
        return self.variant if self.scheme == "outcome" else self.scheme


CELLS: tuple[Cell, ...] = (
    Cell("traj", "none"),
    Cell("traj", "context"),
    Cell("snapshot", "context"),
    Cell("snapshot", "random"),
    Cell("parent", "context"),
    Cell("parent", "random"),
    Cell("snapshot", "context", "step"),
)
"""The first is plain group-relative policy gradient: what branches elsewhere, is more rollouts there. The last is rewarded for its actions, and told of by what its tasks came to."""
DRAWS = 2_000


class _Told(msgspec.Struct, frozen=True):
    """What is told of a run's record."""

    decisions: int
    best_step: int


def ablate(
    config: Config, place: Place, *, seeds: Sequence[int], cells: Sequence[Cell] = CELLS, needed: Weights | None = None
) -> list[AblationRow]:
    """Run all cells with all seeds, write `ablation.json` and return its rows."""
    found: dict[Cell, list[Path]] = {cell: [] for cell in cells}
    for seed in seeds:
        for cell in cells:
            place.say(f"— {cell.name}, branching {cell.branching}, seed {seed}")
            learning = msgspec.structs.replace(config.learning, **cell._asdict())
            judging = msgspec.structs.replace(config.judging, arms=())
            one = msgspec.structs.replace(config, seed=seed, learning=learning, judging=judging)
            found[cell].append(train(one, place, needed=needed).folder)
    arms: list[Who] = [(arm, arm, "greedy") for arm in config.judging.arms]
    rows = [
        _row_of([[score]], variant=score.name)
        for score in scores(arms, config.judging.last, place.executor, first=LAST_FROM)
    ]
    runs = {cell: [_scores_in(folder) for folder in folders] for cell, folders in found.items()}
    first = next(iter(runs.values()), [])
    rows.append(
        _row_of([[run["clone"]] for run in first], variant="clone", sampled=[run["clone, sampled"] for run in first])
    )
    for cell, made in runs.items():
        records = [_told_in(folder) for folder in found[cell]]
        rows.append(
            _row_of(
                [[run["trained"], run["clone"]] for run in made],
                variant=cell.name,
                branching=cell.branching,
                decisions=sum(record.decisions for record in records),
                sampled=[run["trained, sampled"] for run in made],
                best_steps=tuple(record.best_step for record in records),
            )
        )
    RunFolder(place.folder).write("ablation.json", msgspec.json.format(msgspec.json.encode(rows), indent=1))
    return rows


def _scores_in(folder: Path) -> Mapping[str, Score]:
    names = ("trained", "trained, sampled", "clone", "clone, sampled")
    return {name: RunFolder(folder).score(name) for name in names}


def _told_in(folder: Path) -> _Told:
    run = RunFolder(folder)
    record = run.record()
    with run.whole("record.json"):
        return msgspec.convert(record, _Told)


def _row_of(
    runs: Sequence[Sequence[Score]],
    *,
    variant: str,
    branching: str = "",
    decisions: int = 0,
    sampled: Sequence[Score] = (),
    best_steps: tuple[int, ...] = (),
) -> AblationRow:
    """A row of runs, one for each seed: its score, and what it is compared with where there is something."""
    first = [run[0] for run in runs]
    gains = [
        [a.reward - b.reward for a, b in zip(run[0].figures, run[1].figures, strict=True)] for run in runs if run[1:]
    ]
    return AblationRow(
        variant=variant,
        branching=branching,
        seeds=len(runs),
        tasks=len(first[0].figures) if first else 0,
        decisions=decisions,
        reward=estimate([one.reward for one in score.figures] for score in first),
        success=estimate([one.success for one in score.figures] for score in first),
        cost=estimate([one.cost for one in score.figures] for score in first),
        sampled=estimate([one.reward for one in score.figures] for score in sampled) if sampled else None,
        gain=estimate(gains) if gains else None,
        best_steps=best_steps,
    )


def estimate(seeds: Iterable[Sequence[float]], *, draws: int = DRAWS) -> Estimate:
    """Return the mean of figures, by seed and task, with its percentile interval: seeds are drawn with replacement, then tasks, the same ones for every seed of a draw."""
    values = [list(one) for one in seeds]
    tasks = range(len(values[0])) if values else range(0)
    if not tasks:
        return Estimate(0.0, 0.0, 0.0)
    chance = random.Random(0)
    means = []
    for _ in range(draws):
        drawn = chance.choices(tasks, k=len(tasks))
        means.append(_mean(_mean(one[task] for task in drawn) for one in chance.choices(values, k=len(values))))
    means.sort()
    return Estimate(
        _mean(_mean(one) for one in values), means[int(0.025 * (draws - 1))], means[round(0.975 * (draws - 1))]
    )


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known)


def told(rows: Sequence[AblationRow], say: Callable[[str], None]) -> None:
    """Tell the rows as lines."""
    for row in rows:
        name = f"{row.variant}, {row.branching}" if row.branching else row.variant
        gain = f"  over the clone {_shown(row.gain)}" if row.gain else ""
        say(f"{name:22} reward {_shown(row.reward)}  success {row.success.mean:.2f}  cost {row.cost.mean:.2f}{gain}")


def _shown(one: Estimate) -> str:
    return f"{one.mean:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"
