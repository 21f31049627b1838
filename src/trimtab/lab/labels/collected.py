"""Rows to learn from: decisions of generated stories and of recordings, labelled in hindsight.

    suite(part) ──each task under three drivers──▶ Labelled, group = family        windows and prices as the suite draws them, prices between the regimes
    sessions    ──one driver each, one of three windows──▶ Labelled, group = project

Every item names all that its rows hang on, so that any executor gives the same rows in the same order.
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Literal, TypeAlias

from trimtab.context.policies.none import NoPolicy
from trimtab.lab.arms.playing import Conditions, Table
from trimtab.lab.corpora.splits import read_index, set_aside
from trimtab.lab.corpora.trajectory import Place
from trimtab.lab.env.story import recorded_story
from trimtab.lab.executor import Executor, Here
from trimtab.lab.labels.hindsight import Driver, Labelled, by_chance, by_rules, keep, labelled
from trimtab.lab.rewards.prices import draw_between
from trimtab.lab.suite import PARTS, Part, drawn
from trimtab.sessions.detect import read_recordings

DriverName: TypeAlias = Literal["keep", "rules", "chance"]
DRIVERS: tuple[DriverName, ...] = ("keep", "rules", "chance")
WINDOWS = (60_000, 100_000, 200_000)
"""Tokens, in which recordings are played."""
EVERY, EVERY_RECORDED = 3, 8
"""From one labelled decision to the next, in generated stories and in recordings: neighbours are alike."""
SHORTEST, LONGEST = 20, 250
"""Requests of a recording that is played: a shorter one has no decisions, and of a longer one a part would do."""
SHARE, SEED = 0.25, 0
"""Of the families of recordings, what is set aside for validation, and by which seed."""


@dataclass(frozen=True, slots=True)
class TaskItem:
    """A generated task to be labelled."""

    part: Part
    family: str
    number: int


@dataclass(frozen=True, slots=True)
class SessionItem:
    """A recording to be labelled: its file, what it counts to, and its place among the others, which says in what window and by whom it is played."""

    path: str
    group: str
    number: int


def rows_from_suite(part: Part, each: int, *, first: int = 0, executor: Executor | None = None) -> list[Labelled]:
    """Return the rows of `each` tasks of every family of a part."""
    items = [TaskItem(part, family, number) for family in PARTS[part] for number in range(first, first + each)]
    return list(chain.from_iterable((executor or Here()).map(rows_of_task, items)))


def rows_from_sessions(
    paths: Sequence[Path], *, groups: Sequence[str] = (), executor: Executor | None = None
) -> list[Labelled]:
    """Return the rows of the sessions in files of any agent: a person's own, for instance. `groups`: what each file counts to, else all are one. Raises `ImportFailed` for a file that holds none."""
    names = groups or ("sessions",) * len(paths)
    items = [SessionItem(str(path), name, n) for n, (path, name) in enumerate(zip(paths, names, strict=True))]
    return list(chain.from_iterable((executor or Here()).map(rows_of_session, items)))


def recorded_places(folder: Path, part: Literal["fit", "validation"], most: int | None = None) -> tuple[Place, ...]:
    """Return the sessions of a corpus that may be learned from, of one part, one of each family: of its split `train`, of which some families are set aside for validation."""
    train = [place for place in read_index(folder / "index.jsonl") if place.split == "train"]
    chosen: dict[str, Place] = {}
    for place in set_aside(train, SHARE, seed=SEED)[part]:
        chosen.setdefault(place.family or place.name, place)
    # In an order that has nothing to do with when they were recorded, so that the first of them stand for all.
    places = sorted(chosen.values(), key=lambda place: zlib.crc32(place.name.encode()))
    return tuple(places[:most])


def rows_of_task(item: TaskItem) -> list[Labelled]:
    """Return the rows of one task, under each driver."""
    task = drawn(item.part, item.family, item.number)
    prices = draw_between(task.task.name, item.number)
    table = Table(Conditions(task.conditions.window, prices))
    setup, story = table.setup(NoPolicy()), task.story
    first = 2 + item.number % EVERY
    return [
        row
        for name in DRIVERS
        for row in labelled(story, setup, driver_named(name, item.number), group=item.family, every=EVERY, first=first)
    ]


def rows_of_session(item: SessionItem) -> list[Labelled]:
    """Return the rows of the sessions in a file, in the window and under the driver that its place says."""
    return list(_recorded(item))


def _recorded(item: SessionItem) -> Iterator[Labelled]:
    window = WINDOWS[item.number % len(WINDOWS)]
    driver = driver_named(DRIVERS[item.number // len(WINDOWS) % len(DRIVERS)], item.number)
    for recording in read_recordings(Path(item.path)):
        story = recorded_story(recording)
        if not SHORTEST <= len(story.prepared.steps) <= LONGEST:
            continue
        table = Table(Conditions(window, draw_between(story.name, 0)))
        first = 4 + item.number % EVERY_RECORDED
        for row in labelled(
            story, table.setup(NoPolicy()), driver, group=item.group, every=EVERY_RECORDED, first=first
        ):
            yield replace(row, story=Path(item.path).name)


def driver_named(name: DriverName, seed: int) -> Driver:
    """Return a driver. `seed` is that of the one that hides by chance."""
    return {"keep": keep, "rules": by_rules, "chance": by_chance(seed)}[name]
