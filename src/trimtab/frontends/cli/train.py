"""`trimtab train`: a context policy, trained on generated tasks, offline.

options ──▶ Config + Place ──train──▶ a folder for each run: weights, record, curves         interrupted: the same line goes on

Nothing of the training library is loaded before it is needed, and not for `--help`.
"""

import os
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from trimtab.frontends.cli.ending import breaking_off
from trimtab.frontends.cli.named import Named
from trimtab.frontends.cli.numbers import COUNT, SEED, WORKERS
from trimtab.frontends.cli.progress import Watched, told
from trimtab.frontends.cli.ran import noted
from trimtab.frontends.cli.train_stages import STAGES, require_meant
from trimtab.types.errors import UsageError
from trimtab.types.extras import install_hint

if TYPE_CHECKING:
    from trimtab.context.policies.learned.weights import Weights
    from trimtab.lab.train.config import Config
    from trimtab.lab.train.first import First
    from trimtab.lab.train.train import Place, Trained

PER_MINUTE = 3_000
"""Decisions that a minute is counted as: a processor plays 45 to 130 a second, and validation has its time too."""
_BROKEN_OFF = "broken off; the same command goes on from the last step"
DOING = {
    "rows_of_task": "needed, tasks labelled",
    "rows_of_session": "needed, sessions labelled",
    "taught": "lessons of teachers",
    "played": "rollouts",
    "judge": "validation",
}
"""What a person is told is done, by the name of the function that a stage gives the executor."""
_MOST_WORKERS = 8
_MOST_MINUTES = 1_000_000


@click.command("train")
@click.option(
    "--stage",
    type=click.Choice(STAGES),
    default="all",
    help="needed: learn what is needed again; clone: what teachers do; rl: improve on that by reinforcement; all: the three, each with what came of the one before (default). ablation: variants side by side.",
)
@click.option(
    "--variant",
    type=click.Choice(["traj", "snapshot", "parent"]),
    default="snapshot",
    help="What a decision is credited with: its rollout's reward, the mean of all behind it, or what it adds to that.",
)
@click.option(
    "--branching",
    type=click.Choice(["context", "random", "none"]),
    default="context",
    help="Where rollouts are sampled again: where much hangs on a decision, anywhere, or nowhere.",
)
@click.option(
    "--scheme",
    type=click.Choice(["outcome", "step"]),
    default="outcome",
    help="What is rewarded: what a task came to, or each action by itself, which shows what becomes of that.",
)
@click.option("--seed", type=SEED, default=0, help="Of all that is drawn.")
@click.option("--seeds", type=COUNT, default=2, help="Of an ablation: how many, from --seed on.")
@click.option(
    "--minutes",
    type=click.FloatRange(0, min_open=True),
    default=10.0,
    help=f"The budget: {PER_MINUTE:,} decisions each. The clock breaks a run off when they are over. Default: 10.",
)
@click.option(
    "--each",
    type=COUNT,
    metavar="N",
    help="Tasks of each family that are learned from before reinforcement, and that validation takes. Default: as many as a policy is worth.",
)
@click.option("--workers", type=WORKERS, help="Processes that play. Default: one for each processor, 8 at most.")
@click.option("--ray", is_flag=True, help="Play on a Ray cluster of --workers on this machine.")
@click.option("--ray-address", default="", metavar="ADDRESS", help="Play on the Ray cluster there.")
@click.option("--device", default="cpu", help="Where the network is trained: cpu, cuda.")
@click.option("--teachers", metavar="A,B", help="Policies that the clone learns from. Default: the best there are.")
@click.option(
    "--needed",
    type=Named(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Weights of kind needed, whose figures the policy sees too.",
)
@click.option(
    "--from-sessions",
    "sessions",
    type=Named(file_okay=False, exists=True, path_type=Path),
    metavar="DIR",
    help="With needed and all: learn from recorded sessions of yours too; of a folder with an index.jsonl, from its part train.",
)
@click.option(
    "--out",
    type=Named(file_okay=False, path_type=Path),
    default=Path("runs"),
    metavar="DIR",
    help="Where runs are kept. Default: runs.",
)
def command(
    *,
    stage: str,
    variant: str,
    branching: str,
    scheme: str,
    seed: int,
    seeds: int,
    minutes: float,
    each: int | None,
    workers: int | None,
    ray: bool,
    ray_address: str,
    device: str,
    teachers: str | None,
    needed: Path | None,
    sessions: Path | None,
    out: Path,
) -> int:
    """Train a context policy on generated tasks, offline.

    A clone of what good policies do is improved by playing tasks and learning what each decision turned out to be worth. A run is named after its options, what it begins with and the code: one that
    is done isn't done again, one that was broken off goes on. In its folder: weights.json, record.json, curves.jsonl, scores.json.
    """
    require_meant(stage, _given())
    _require_torch()
    from trimtab.lab.executor import executor_for
    from trimtab.lab.one_writer import one_writer
    from trimtab.lab.train.config import of_size
    from trimtab.lab.train.first import EACH, first_of
    from trimtab.lab.train.train import Place

    _require_device(device)
    config = _config({"variant": variant, "branching": branching, "scheme": scheme}, seed, minutes, teachers)
    if each is not None:
        config = of_size(config, each)
    weights = _needed(needed)
    begins = first_of(sessions, seed=seed, each=each or EACH)
    many = workers or min(_MOST_WORKERS, os.cpu_count() or 1)
    with (
        breaking_off(lambda: _BROKEN_OFF),
        one_writer(out, "train"),
        noted(out),
        closing(Watched(executor_for(many, ray=ray, address=ray_address), DOING)) as executor,
    ):
        place = Place(out, executor, device=device, seconds=60 * minutes, say=told)
        if stage in ("needed", "all") and weights is None:
            weights = _first(place, begins)
        if stage == "ablation":
            _ablation(config, place, range(seed, seed + seeds), weights)
        elif stage != "needed":
            _one(config, place, stage, weights)
    return 0


def _given() -> frozenset[str]:
    """The options that stand on the line."""
    here = click.get_current_context()
    return frozenset(
        option.opts[0]
        for option in here.command.params
        if option.name and here.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
    )


def _first(place: "Place", config: "First") -> "Weights | None":
    from trimtab.lab.train.first import first

    made = first(config, place)
    click.echo(made.folder / "weights.json")
    return made.weights


def _one(config: "Config", place: "Place", stage: str, weights: "Weights | None") -> None:
    from trimtab.lab.train.train import train

    made: Trained = train(config, place, needed=weights, stage="clone" if stage == "clone" else "rl")
    if made.ended != "budget":
        told("time is over; the same command goes on from the last step")
    click.echo(made.folder / "weights.json")


def _ablation(config: "Config", place: "Place", seeds: range, weights: "Weights | None") -> None:
    from dataclasses import replace

    from trimtab.lab.train import ablation

    # A run that the clock broke off couldn't be compared with one that it didn't.
    rows = ablation.ablate(config, replace(place, seconds=None), seeds=seeds, needed=weights)
    ablation.told(rows, click.echo)
    click.echo(place.folder / "ablation.json")


def _require_torch() -> None:
    if find_spec("torch") is None or find_spec("numpy") is None:
        raise UsageError("training needs torch and numpy, which aren't installed", hint=install_hint("train"))


def _require_device(device: str) -> None:
    import torch

    try:
        found = float(
            torch.ones(1, dtype=torch.float64, device=device).sum()
        )  # as the network is trained: not every one can
        if found != 1.0:
            raise RuntimeError("it doesn't count")
    except (RuntimeError, AssertionError, AttributeError, ImportError, TypeError, ValueError) as problem:
        raise UsageError(
            f"there is no device {device!r} to train on: {str(problem).partition(chr(10))[0]}",
            hint="Leave out --device, or name one that is there: cpu.",
        ) from problem


def _config(how: dict[str, str], seed: int, minutes: float, teachers: str | None) -> "Config":
    import msgspec

    from trimtab.lab.train.config import Config, Learning

    if not 0 < minutes <= _MOST_MINUTES:  # a float that is no number passes every range
        raise UsageError(f"--minutes {minutes:g} is no budget", hint=f"Give more than 0, at most {_MOST_MINUTES:,}.")
    decisions = max(1, round(minutes * PER_MINUTE))
    learning = msgspec.convert({**how, "decisions": decisions}, Learning)
    config = Config(seed=seed, learning=learning)
    if teachers is None:
        return config
    named = tuple(name.strip() for name in teachers.split(",") if name.strip())
    return msgspec.structs.replace(config, cloning=msgspec.structs.replace(config.cloning, teachers=named))


def _needed(file: Path | None) -> "Weights | None":
    if file is None:
        return None
    from trimtab.context.stores.weights import weights_at
    from trimtab.lab.train.extras import extra_of

    weights = weights_at(str(file))
    extra_of(weights)  # weights of another kind are refused before anything is played
    return weights
