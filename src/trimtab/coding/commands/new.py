"""`/new [DIR]`: go on with a fresh session, in this folder or in another one, which is asked about as any other where nobody trusts it."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import anyio

from trimtab.coding.choose import New
from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.project import Project
from trimtab.coding.session import Session

_MOST = 50


async def _run(desk: Desk, rest: str) -> None:
    project = desk.session.project
    await desk.switch(await anyio.to_thread.run_sync(moved, project, rest) if rest else project, New())


def moved(project: Project, folder: str) -> Project:
    """The project in `folder`, seen from where it is now. Raises `UsageError` where that is no folder one can enter, `ConfigError`."""
    return project.moved_to(Path(os.path.normpath(project.cwd / os.path.expanduser(folder))))


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    head, _, _ = typed.rpartition("/")
    start = session.project.cwd / os.path.expanduser(f"{head}/" if "/" in typed else "")
    names: list[str] = []
    with suppress(OSError, ValueError):
        names = sorted(one.name for one in Path(start).iterdir() if one.is_dir() and one.name[0] != ".")
    return tuple(Completion(f"{head}/{name}" if "/" in typed else name) for name in names[:_MOST])


COMMAND = Command("new", "[DIR]", "go on with a fresh session, here or in another folder", _run, _complete)
