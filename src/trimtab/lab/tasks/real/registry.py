"""The families of real tasks, as far as a folder holds their files.

FOLDER ──files of each family──▶ families that can be played, and what is missing of the others
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from trimtab.lab.tasks.real import bfcl, loogle, middle, tau2
from trimtab.lab.tasks.task import Family, Level, Task


@dataclass(frozen=True, slots=True)
class Published:
    """What a family is made of: patterns of files below the folder, of which each must be there; `more` are read where they are."""

    make: Callable[[Path, int, Level], Task]
    files: tuple[str, ...]
    more: tuple[str, ...] = ()


PUBLISHED: dict[str, Published] = {
    tau2.NAME: Published(tau2.make, (f"{tau2.NAME}/documents.jsonl.gz", f"{tau2.NAME}/tasks.json.gz")),
    middle.PAIRS: Published(middle.pairs, (f"{middle.FOLDER}/{middle.PAIRS_FILE}",)),
    middle.PASSAGES: Published(middle.passages, (f"{middle.FOLDER}/{middle.PASSAGES_FILE}",)),
    loogle.NAME: Published(
        loogle.make, (f"{loogle.NAME}/{loogle.FILES[0]}",), tuple(f"{loogle.NAME}/{name}" for name in loogle.FILES[1:])
    ),
    bfcl.NAME: Published(
        bfcl.make,
        (
            f"{bfcl.ROOT}/{bfcl.FILE}",
            f"{bfcl.ROOT}/possible_answer/{bfcl.FILE}",
            f"{bfcl.ROOT}/memory_prereq_conversation/memory_*.json",
        ),
    ),
}
"""What a family is called → what it is made of."""
REAL = tuple(PUBLISHED)
"""The names of all families of real tasks."""


def real_families(folder: Path) -> dict[str, Family]:
    """Return the families whose files are in `folder`, by name. Their tasks raise `ValueError` at a level that has no room, `UsageError` where a file is damaged or another one."""
    return {name: partial(one.make, folder) for name, one in PUBLISHED.items() if not missing(folder, name)}


def missing(folder: Path, family: str) -> tuple[str, ...]:
    """Return the patterns of files that a family needs and `folder` doesn't have."""
    return tuple(pattern for pattern in PUBLISHED[family].files if not any(_matching(folder, pattern)))


def files_of(folder: Path, family: str) -> tuple[Path, ...]:
    """Return the files that the tasks of a family are made of, in alphabetical order."""
    one = PUBLISHED[family]
    return tuple(sorted(path for pattern in (*one.files, *one.more) for path in _matching(folder, pattern)))


def _matching(folder: Path, pattern: str) -> Iterator[Path]:
    return (path for path in folder.glob(pattern) if path.is_file())
