"""Sources: which recorded sessions a bench plays, and what project each belongs to; where the files of real tasks are.

index.jsonl of a data folder ──split──▶ (file, place)       paths ──▶ (file, place), a folder being a project       a data folder ──▶ what it lacks of each family
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from trimtab.lab.corpora.splits import by_split, read_index
from trimtab.lab.corpora.trajectory import Place
from trimtab.lab.rewards.prices import REGIMES
from trimtab.lab.tasks.real.registry import PUBLISHED, REAL, missing
from trimtab.sessions.detect import find_recordings
from trimtab.types.errors import UsageError

Located: TypeAlias = tuple[Path, Place]
GIVEN = "recordings"
"""The part of sessions that somebody named."""


def indexed(data: str, split: str, each: int | None = None) -> list[Located]:
    """Return the sessions of a split, at most `each` of every project, in the order of their names. Raises `UsageError`, and what `read_index` raises."""
    folder = Path(data) / "sessions"
    index = folder / "index.jsonl"
    if not data or not index.is_file():
        raise UsageError(
            f"{str(index)!r} is no index of recorded sessions" if data else "nothing says where recorded sessions are",
            hint="Set TRIMTAB_DATA, or give --data, to the folder that has sessions/index.jsonl.",
        )
    parts = by_split(read_index(index))
    if split not in parts:
        raise UsageError(f"the index has no split {split!r}", hint=f"Splits: {', '.join(sorted(parts))}.")
    return _sampled(((folder / place.name, place) for place in parts[split]), each)


def published(data: str) -> tuple[Path, list[str]]:
    """Return the folder that holds files of published benchmarks, and of each family that can't be made of them a sentence. Raises `UsageError` when none can."""
    folder = Path(data)
    lacks = {family: missing(folder, family) for family in REAL}
    if not data or all(lacks.values()):
        said = f"{data!r} has files of none of them" if data else "nothing says where they are"
        takes = "; ".join(f"{family}: {', '.join(PUBLISHED[family].files)}" for family in REAL)
        raise UsageError(
            f"the real part is made of files of published benchmarks, and {said}",
            hint=f"Set TRIMTAB_DATA, or give --data, to a folder that has those of a family or more ({takes}).",
        )
    return folder, [
        f"{family} is skipped: {data!r} has no {' and no '.join(lack)}" for family, lack in lacks.items() if lack
    ]


def named(paths: Iterable[str], each: int | None = None) -> list[Located]:
    """Return the sessions that paths stand for. A folder is a project with all sessions below it; of a file the folder that it lies in. Raises `UsageError` when there are none."""
    found: list[Located] = []
    for path in paths:
        given = Path(path)
        here = find_recordings(given) if given.is_dir() else [given]
        project = (given if given.is_dir() else given.parent).resolve().name
        if not here:
            raise UsageError(
                f"no session of a known agent lies in {path!r}", hint="Name session files, or folders with some."
            )
        found += ((file, Place(name=str(file), project=project, split=GIVEN)) for file in here)
    return _sampled(found, each)


def prices_named(names: str) -> tuple[str, ...]:
    """Return the names of prices, written with commas between. Raises `UsageError` for one that isn't there."""
    known = [regime.name for regime in REGIMES]
    found = tuple(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if not found or set(found) - set(known):
        raise UsageError(f"--prices {names!r} names no prices that are known", hint=f"Prices: {', '.join(known)}.")
    return found


def _sampled(sessions: Iterable[Located], each: int | None) -> list[Located]:
    """The first `each` of every project by name: which are taken depends on nothing else."""
    counts: dict[str, int] = {}
    kept: list[Located] = []
    for path, place in sorted(sessions, key=lambda one: one[1].name):
        counts[place.project] = counts.get(place.project, 0) + 1
        if each is None or counts[place.project] <= each:
            kept.append((path, place))
    return kept
