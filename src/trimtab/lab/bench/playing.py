"""Playing for a bench: which stories, and every arm in each of them.

    suite ──────▶ TaskJob ───┐ (real material too)      one job is one story (of a file: its recordings, at each price) under all arms that it still lacks
    assignments ▶ LiveJob ───┤
    recordings ─▶ FileJob ───┴─Executor.map(played)──▶ Done: rows, and what couldn't be played

A job is a value that can be sent anywhere. Its story is made, or read, where it is played, so what a job needs is its arms by name and what is there already.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TypeAlias

from trimtab.context.counting.counter import Counter
from trimtab.lab.arms.playing import Conditions, Table
from trimtab.lab.arms.registry import find_arm
from trimtab.lab.bench.live_jobs import LiveJob
from trimtab.lab.bench.measuring import Origin, origin_of_recording, origin_of_task, row_of
from trimtab.lab.bench.row import Row, slot_of_file
from trimtab.lab.corpora.trajectory import Place
from trimtab.lab.env.story import Story, recorded_story
from trimtab.lab.rewards.prices import REGIMES, Regime
from trimtab.lab.suite import PARTS, REAL_PART, Drawn, Part, RealPart, drawn, drawn_real
from trimtab.lab.tasks.real.registry import files_of, real_families
from trimtab.sessions.detect import read_recordings
from trimtab.sessions.recorded import Recording
from trimtab.sessions.replay.models import Terms, model_of
from trimtab.types.errors import TrimtabError, UsageError

PRICES = ("quarter", "tenth-written")
"""At which prices recordings are played where nobody says otherwise: a cache that saves three quarters, and one that saves nine tenths and charges for writing."""


@dataclass(frozen=True, slots=True)
class TaskJob:
    """One telling of one task of the suite. `prices`: at which it is played; empty: at those that were drawn for it. `data`: the folder with the files that a task of real material is made of."""

    part: Part | RealPart
    family: str
    number: int
    seed: int
    arms: tuple[str, ...]
    prices: str = ""
    data: Path | None = None

    @property
    def name(self) -> str:
        """What a person calls it."""
        return f"{self.family} {self.number}, seed {self.seed}{self._at}"

    @property
    def key(self) -> tuple[str, ...]:
        """Equal to that of its rows."""
        return self.part, self.slot, str(self.seed)

    @property
    def slot(self) -> str:
        """What its rows have for a slot: the task, and prices that were named."""
        return f"{self.family}-{self.number}{self._at}"

    @property
    def drawn(self) -> Drawn:
        """The task with its conditions. Raises `UsageError` for one of real material that can't be made."""
        if self.part == REAL_PART:
            assert self.data is not None, "real material comes from a folder"
            return drawn_real(self.data, self.family, self.number, seed=self.seed)
        return drawn(self.part, self.family, self.number, seed=self.seed)

    @property
    def _at(self) -> str:
        return f" at {self.prices}" if self.prices else ""


@dataclass(frozen=True, slots=True)
class FileJob:
    """One file of recordings. `window`: tokens; None: of each recording its own. `there`: arm, story and prices that are there already."""

    path: Path
    place: Place
    window: int | None
    prices: tuple[str, ...]
    arms: tuple[str, ...]
    there: frozenset[tuple[str, str, str]] = frozenset()

    @property
    def name(self) -> str:
        """What a person calls it."""
        return self.place.name

    @property
    def key(self) -> tuple[str, ...]:
        """Equal to that of its rows."""
        return self.place.split, self.slot, ""

    @property
    def slot(self) -> str:
        """What its rows have for a slot: the file in this window."""
        return slot_of_file(self.place.name, self.window)


Job: TypeAlias = TaskJob | FileJob | LiveJob


@dataclass(frozen=True, slots=True)
class Unplayed:
    """A story that couldn't be played, and what to do about it."""

    name: str
    why: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a job."""

    name: str
    rows: tuple[Row, ...] = ()
    failed: tuple[Unplayed, ...] = ()


def suite_jobs(
    part: Part, each: int, seeds: int, arms: Sequence[str], *, prices: Sequence[str] = ("",)
) -> list[TaskJob]:
    """Return the jobs of a part of the suite: seeds last, so that a run that is broken off has all tasks. `prices`: each story is played at each of them; empty: as drawn."""
    return [
        TaskJob(part, family, number, seed, tuple(arms), name)
        for seed, number, family, name in product(range(seeds), range(each), PARTS[part], prices)
    ]


def real_jobs(
    data: Path, each: int, seeds: int, arms: Sequence[str], *, prices: Sequence[str] = ("",)
) -> list[TaskJob]:
    """Return the jobs of the families of real material whose files are in `data`, as `suite_jobs` does."""
    return [
        TaskJob(REAL_PART, family, number, seed, tuple(arms), name, data)
        for seed, number, family, name in product(range(seeds), range(each), real_families(data), prices)
    ]


def file_jobs(
    places: Iterable[tuple[Path, Place]], arms: Sequence[str], *, window: int | None, prices: Sequence[str] = PRICES
) -> list[FileJob]:
    """Return the jobs of recorded sessions."""
    return [FileJob(path, place, window, tuple(prices), tuple(arms)) for path, place in places]


def files_of_jobs(jobs: Iterable[Job]) -> dict[str, tuple[Path, ...]]:
    """Return the files that jobs play: of recordings by their names, of real material by its family."""
    found: dict[str, tuple[Path, ...]] = {}
    for job in jobs:
        if isinstance(job, FileJob):
            found[job.place.name] = (job.path,)
        elif isinstance(job, TaskJob) and job.data is not None and job.family not in found:
            found[job.family] = files_of(job.data, job.family)
    return found


def key_of(row: Row) -> tuple[str, ...]:
    """The key of the job that a row comes from."""
    return row.part, row.slot, str(row.seed) if row.tier == "T0" else ""


def lacking(jobs: Sequence[Job], rows: Iterable[Row]) -> list[Job]:
    """Return the jobs that still have something to play, without what is there. Of a file only reading it says which recordings it holds, so it stays."""
    there: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        there.setdefault(key_of(row), []).append(row)
    return [job for job in (_without(job, there.get(job.key, [])) for job in jobs) if job.arms]


def asked_for(jobs: Sequence[Job], rows: Iterable[Row]) -> list[Row]:
    """Return the rows that belong to these jobs: a folder may hold others too."""
    prices = {job.key: job.prices if isinstance(job, FileJob) else () for job in jobs}
    return [row for row in rows if (of := prices.get(key_of(row))) is not None and (not of or row.regime in of)]


def _without(job: Job, rows: Sequence[Row]) -> Job:
    if not isinstance(job, FileJob):
        played = {row.arm for row in rows}
        return replace(job, arms=tuple(arm for arm in job.arms if arm not in played))
    return replace(job, there=frozenset((row.arm, row.story, row.regime) for row in rows))


def played(job: Job) -> Done:
    """Play a job. A story that can't be read or played is told; the others of the job go on."""
    try:
        if isinstance(job, TaskJob):
            return _task(job)
        if isinstance(job, LiveJob):
            return Done(job.name, tuple(job.rows()))
        recordings = read_recordings(job.path, name=job.place.name)
    except TrimtabError as error:
        return Done(job.name, failed=(Unplayed(job.name, error.message, error.hint),))
    rows: list[Row] = []
    failed: list[Unplayed] = []
    for number, recording in enumerate(recordings):
        origin = origin_of_recording(job.place, number, slot=job.slot)
        try:
            rows.extend(_recorded(job, recording, origin))
        except TrimtabError as error:
            failed.append(Unplayed(origin.name, error.message, error.hint))
    return Done(job.name, tuple(rows), tuple(failed))


def _recorded(job: FileJob, recording: Recording, origin: Origin) -> list[Row]:
    """Play one recording at each price under the arms that it still lacks there."""
    lacks = {name: [arm for arm in job.arms if (arm, origin.name, name) not in job.there] for name in job.prices}
    if not any(lacks.values()):
        return []
    model = model_of(recording, Terms(job.window))
    story = recorded_story(recording)
    if not story.prepared.steps:
        raise UsageError("no model answers in it, so there is nothing to play", hint="Leave it out.")
    counter = Counter(model)
    rows: list[Row] = []
    for name, arms in lacks.items():
        table = Table(Conditions(model.context_window, _regime(name), model=model), counter=counter)
        rows += _rows(story, arms, table, origin)
    return rows


def _task(job: TaskJob) -> Done:
    one = job.drawn
    conditions = replace(one.conditions, regime=_regime(job.prices)) if job.prices else one.conditions
    origin = replace(origin_of_task(one), slot=job.slot, priced=bool(job.prices))
    rows = _rows(one.story, job.arms, Table(conditions), origin, job.seed)
    return Done(job.name, tuple(rows))


def _rows(story: Story, arms: Sequence[str], table: Table, origin: Origin, seed: int = 0) -> Iterator[Row]:
    for spec in arms:
        arm = find_arm(spec)
        yield row_of(table.play(story, arm, seed=seed), arm, origin)


def _regime(name: str) -> Regime:
    return next(regime for regime in REGIMES if regime.name == name)
