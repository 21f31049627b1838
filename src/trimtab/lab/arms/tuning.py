"""Tuning: every kind of rule gets the parameters that do best on the training tasks, and the same number of tries.

    GRIDS ──all specs──▶ a few tasks of each family ──the best of each kind──▶ all tasks ──mean reward──▶ the best ──▶ tuned.json
    jobs (a task, all specs that aren't known for it) ──Executor──▶ Trial … ──▶ Ledger (JSON lines)

Kinds are compared on the part `validation` afterwards (`standings`); which parameters a kind has is never chosen there, and `test` is opened for neither. A trial is
known by all that it depends on, so a run that was broken off goes on, and another grid costs only what is new in it.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from statistics import fmean

import msgspec

from trimtab import __version__
from trimtab.lab.arms.arm import Arm
from trimtab.lab.arms.grids import GRIDS, Grid
from trimtab.lab.arms.playing import Conditions, Played, Table
from trimtab.lab.arms.registry import find_arm
from trimtab.lab.corpora.intervals import Interval, ratio_interval
from trimtab.lab.env.story import Story
from trimtab.lab.executor import Executor, Here
from trimtab.lab.files import REFUSALS, bytes_of
from trimtab.lab.suite import PARTS, Part, drawn
from trimtab.types.errors import UsageError

PLAYED_BY = f"{__version__}/1"
"""The code that played a trial: raise the number when a play of the same arm comes to something else than before."""
MOST = 24
"""Combinations that are tried of each kind."""
EACH = 8
"""Tasks of each family."""
SHORT = 2
"""Tasks of each family on which all specs are tried."""
_AT_ONCE = 12
"""Specs of a job: so much is lost of a run that is broken off, for each worker."""
FINALISTS = 4
"""Specs of each kind, beside its default, that are tried on all tasks."""


class Trial(msgspec.Struct, frozen=True):
    """One spec on one task: reward at the usual weights, expected success, cost in units of keeping everything, tokens of all requests, edits, and milliseconds that the policy took."""

    key: str
    spec: str
    part: Part
    family: str
    number: int
    reward: float
    success: float
    cost: float
    prompt: int
    edits: int
    forced: int
    policy_ms: float


class Best(msgspec.Struct, frozen=True):
    """What tuning found for one kind: means of `tasks` tasks, and how many specs were `tried`; `untuned`: what its default came to on the same tasks."""

    kind: str
    spec: str
    reward: float
    success: float
    cost: float
    tasks: int
    tried: int
    untuned: float


class Tuned(msgspec.Struct, frozen=True):
    """The best of every kind on one part."""

    played_by: str
    part: Part
    best: tuple[Best, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """Some specs on one task."""

    part: Part
    family: str
    number: int
    specs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """How a spec does on a part: means, and the reward with its interval, alone and above another spec's on the same tasks. `prompt`: tokens of all requests of a task."""

    spec: str
    tasks: int
    reward: Interval
    above: Interval
    success: float
    cost: float
    prompt: float
    edits: float
    policy_ms: float


class Ledger:
    """Trials by key, kept in a file if there is one. A line that is no trial, such as the last one of a run that was broken off, is passed over."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.trials: dict[str, Trial] = {}
        lines = bytes_of(path).splitlines() if path is not None and path.exists() else []
        for line in lines:
            try:
                trial = msgspec.json.decode(line, type=Trial)
            except REFUSALS:
                continue
            self.trials[trial.key] = trial

    def add(self, trials: Iterable[Trial]) -> None:
        """Keep new trials."""
        fresh = [trial for trial in trials if trial.key not in self.trials]
        self.trials.update((trial.key, trial) for trial in fresh)
        if self.path is not None and fresh:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as file:
                file.writelines(b"\n" + msgspec.json.encode(trial) for trial in fresh)


def tune(
    grids: Mapping[str, Grid] = GRIDS,
    *,
    each: int = EACH,
    most: int = MOST,
    short: int = SHORT,
    seed: int = 0,
    ledger: Ledger | None = None,
    executor: Executor | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Tuned:
    """Return the best parameters of each kind of rule, on `each` training tasks of every family. `tell` hears of every task that was played.

    All specs are tried on `short` tasks of every family, and the best few of each kind on all: what is far behind after those isn't worth the rest.
    """
    ledger = ledger or Ledger()

    def trials_of_all(specs: Mapping[str, Sequence[str]], each: int) -> dict[str, list[Trial]]:
        every = tuple(dict.fromkeys(chain(*specs.values())))
        return by_spec(play(every, "train", each=each, ledger=ledger, executor=executor, tell=tell))

    tried = {kind: grid.specs(most, seed=seed) for kind, grid in grids.items()}
    first = {spec: _mean(trials) for spec, trials in trials_of_all(tried, min(short, each)).items()}
    finalists = {kind: _finalists(specs, first) for kind, specs in tried.items()}
    trials = trials_of_all(finalists, each)
    best = (_best(kind, specs, trials, len(tried[kind])) for kind, specs in finalists.items())
    return Tuned(PLAYED_BY, "train", tuple(best))


def play(
    specs: Sequence[str],
    part: Part,
    *,
    each: int,
    ledger: Ledger | None = None,
    executor: Executor | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> list[Trial]:
    """Return the trials of specs on `each` tasks of every family of a part, family by family within each number; those that the ledger holds aren't played again."""
    ledger, executor = ledger or Ledger(), executor or Here()
    tasks = [
        (family, number) for number in range(each) for family in PARTS[part]
    ]  # so that what is done so far is balanced
    keys = {(*task, spec): key for task in tasks for spec, key in _keys(specs, part, *task)}
    unknown = [(task, [spec for spec in specs if keys[*task, spec] not in ledger.trials]) for task in tasks]
    missing = [
        Job(part, *task, tuple(left[n : n + _AT_ONCE])) for task, left in unknown for n in range(0, len(left), _AT_ONCE)
    ]
    for done, (job, trials) in enumerate(zip(missing, executor.map(trials_of, missing), strict=True), 1):
        ledger.add(trials)
        tell(f"{done} of {len(missing)}: {job.family} {job.number}, {len(trials)} arms")
    return [ledger.trials[keys[*task, spec]] for task in tasks for spec in specs]


def trials_of(job: Job) -> tuple[Trial, ...]:
    """Play a job."""
    story, table = _task(job.part, job.family, job.number)
    return tuple(_trial(job, table.play(story, find_arm(spec))) for spec in job.specs)


def by_spec(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    """Return trials by their spec, in order."""
    found: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        found[trial.spec].append(trial)
    return dict(found)


def standings(trials: Iterable[Trial], *, against: str = "keep-all") -> tuple[Standing, ...]:
    """Return how each spec does, the best first. What is above `against` is paired by task; families are resampled, then tasks in each."""
    found = by_spec(trials)
    others = {(t.family, t.number): t.reward for t in found.get(against, ())}
    made = [_standing(spec, one, others) for spec, one in found.items()]
    return tuple(sorted(made, key=lambda standing: (-standing.reward.value, standing.spec)))


def write_tuned(path: Path, found: Tuned) -> None:
    """Write what was found."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")


def read_tuned(path: Path) -> Tuned:
    """Read what was found. Raises `UsageError` when the file isn't there, or holds something else."""
    try:
        return msgspec.json.decode(bytes_of(path), type=Tuned)
    except (OSError, *REFUSALS) as problem:
        raise UsageError(
            f"{str(path)!r} holds no tuned arms: {problem}", hint="Make it anew: python benchmarks/arms.py tune."
        ) from problem


def tuned(path: Path) -> dict[str, Arm]:
    """Return the tuned arms of a file, by the name of their kind. Raises `UsageError` as `read_tuned` does."""
    return {best.kind: find_arm(best.spec) for best in read_tuned(path).best}


def _finalists(specs: Sequence[str], means: Mapping[str, float]) -> tuple[str, ...]:
    """The default, and the best of the others; of equals the first."""
    default, *others = specs
    return default, *sorted(others, key=lambda spec: -means[spec])[:FINALISTS]


def _best(kind: str, specs: Sequence[str], trials: Mapping[str, Sequence[Trial]], tried: int) -> Best:
    means = {spec: _mean(trials[spec]) for spec in specs}
    spec = max(specs, key=lambda one: means[one])  # of equals the first, which is the simplest
    chosen = trials[spec]
    return Best(
        kind,
        spec,
        means[spec],
        fmean(trial.success for trial in chosen),
        fmean(trial.cost for trial in chosen),
        len(chosen),
        tried,
        means[specs[0]],
    )


def _mean(trials: Iterable[Trial]) -> float:
    return fmean(trial.reward for trial in trials)


def _standing(spec: str, trials: Sequence[Trial], others: Mapping[tuple[str, int], float]) -> Standing:
    families: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        families[trial.family].append(trial)
    alone = [[(trial.reward, 1.0) for trial in family] for family in families.values()]
    pairs = [
        [(t.reward - others[t.family, t.number], 1.0) for t in family if (t.family, t.number) in others]
        for family in families.values()
    ]
    return Standing(
        spec,
        len(trials),
        ratio_interval(alone),
        ratio_interval([pair for pair in pairs if pair]),
        fmean(trial.success for trial in trials),
        fmean(trial.cost for trial in trials),
        fmean(trial.prompt for trial in trials),
        fmean(trial.edits for trial in trials),
        fmean(trial.policy_ms for trial in trials),
    )


def _trial(job: Job, played: Played) -> Trial:
    reward, outcome = played.reward(), played.judged()
    return Trial(
        _key(played.arm, played.story.name, played.conditions),
        played.arm,
        job.part,
        job.family,
        job.number,
        reward.total,
        reward.success,
        outcome.usd / played.yardstick.keep_all_usd,
        sum(step.prompt for step in played.facts),
        sum(len(step.edits) for step in played.facts),
        sum(len(step.forced) for step in played.facts),
        round(played.policy_ms, 3),
    )


def _keys(specs: Sequence[str], part: Part, family: str, number: int) -> Iterator[tuple[str, str]]:
    one = drawn(part, family, number)
    for spec in specs:
        yield spec, _key(spec, one.task.name, one.conditions)


def _key(spec: str, story: str, conditions: Conditions) -> str:
    known_by = "\n".join((PLAYED_BY, spec, story, repr(conditions)))
    return hashlib.sha256(known_by.encode()).hexdigest()[:24]


@lru_cache(maxsize=2)
def _task(part: Part, family: str, number: int) -> tuple[Story, Table]:
    """A task and its table: jobs of one task often come one after another."""
    one = drawn(part, family, number)
    return one.story, Table(one.conditions)
