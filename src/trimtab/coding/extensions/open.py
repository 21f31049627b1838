"""Whether anything of others acts in a project: a look that takes a few milliseconds, since in most it doesn't.

settings, three folders, packages' lists of entry points ──nothing──▶ NothingActs
                                                       └─something──▶ host.py: find, judge, load
"""

import os
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack

import anyio

from trimtab.coding.extensions.acting import Acting, NothingActs
from trimtab.coding.instructions.reach import reach_of
from trimtab.coding.person import Person
from trimtab.coding.project import Project

GROUP = "trimtab.extensions"
"""The entry points by which packages offer extensions."""
FOLDER = "extensions"
"""The folder of extensions, in Trimtab's home and in a project's `.trimtab`."""
_MARK = f"[{GROUP}]".encode()


async def open_extensions(project: Project, person: Person, stack: AsyncExitStack) -> tuple[Project, Acting]:
    """Load what there is for `project`, asking `person` about code of the project; what it brings leaves with `stack`.

    Returns the project with the providers that were registered. Raises `ConfigError` for a hook in the settings that can't be read.
    """
    if not project.settings.extensions.enabled or not await anyio.to_thread.run_sync(_anything, project):
        return project, NothingActs(project)
    from trimtab.coding.extensions.host import load_all  # noqa: PLC0415 - most sessions have none

    return await load_all(project, person, stack)


def _anything(project: Project) -> bool:
    folders = (project.home.config, *(folder / ".trimtab" for folder in reach_of(project).folders))
    return (
        any("hooks" in layer.values for layer in project.loaded.layers)
        or bool(project.settings.extensions.paths)
        or any((folder / FOLDER).is_dir() for folder in folders)
        or packages_offer()
    )


def packages_offer() -> bool:
    """Whether an installed package has an extension."""
    return any(True for _ in offering())


def offering() -> Iterator[str]:
    """The folders with what is known of installed packages that have one, in the order in which modules are found."""
    for folder in dict.fromkeys(sys.path):
        try:
            with os.scandir(folder or ".") as entries:
                names = sorted(e.path for e in entries if e.name.endswith((".dist-info", ".egg-info")))
        except OSError:
            continue
        yield from (name for name in names if _holds_mark(os.path.join(name, "entry_points.txt")))


def _holds_mark(file: str) -> bool:
    try:
        with open(file, "rb") as stream:
            return _MARK in stream.read()
    except OSError:
        return False
