"""The sandbox of a project's commands: its settings and folders as a `Confiner`, and what the doctor says about it."""

import os
from collections.abc import Iterator, Sequence

from trimtab.coding.check import Check
from trimtab.coding.kept_rules import reading_rules
from trimtab.coding.project import Project
from trimtab.coding.sandbox.confiner import Confiner
from trimtab.coding.sandbox.places import Grounds

_TODO = "Install bubblewrap, or use Linux 5.13 or later; docs/sandbox.md says what each needs."
_UNSEEN = (
    "Keep such files outside of what this user can read; docs/permissions.md (Reading) says which commands are seen."
)
_SHOWN = 8
"""Paths that are named of one kind."""


def confiner_of(project: Project) -> Confiner:
    """Return what every command of this project is started through. Nothing is looked at before the first one."""
    settings = project.settings.sandbox
    home = project.home
    grounds = Grounds(
        project=str(project.cwd),
        home=project.env.get("HOME", ""),
        own=tuple(dict.fromkeys(os.path.realpath(folder) for folder in (home.config, home.data, home.cache))),
        environment=project.env,
        write=settings.write,
        sockets=settings.sockets,
        network=settings.network,
        secret=os.path.realpath(home.auth_file),
    )
    return Confiner(settings, grounds)


def sandbox_checks(project: Project) -> tuple[Check, ...]:
    """What holds the commands of this project, what gets past it, and where they may write. Starts programs to try them."""
    return (*_checks(project), *_reading(project))


def _reading(project: Project) -> Iterator[Check]:
    """Rules that close files to reading hold by the words of a command alone: no sandbox of ours hides such a file."""
    if texts := [rule.text for rule in reading_rules(project).deny]:
        found = f"{_few(texts)}: denied to tools and to commands that name the file; programs that a command starts can still read it"
        yield Check("note", "sandbox reads", found, _UNSEEN)


def _checks(project: Project) -> Iterator[Check]:
    settings = project.settings.sandbox
    plan, choice = confiner_of(project).examine()
    if choice.sandbox is None:
        free = "a command that may run can do what you can"
        if settings.mode == "required":
            yield Check("missing", "sandbox", f"none: {choice.why}; no command runs", _TODO)
        elif settings.mode == "off":
            yield Check("note", "sandbox", f"off: {free}")
        else:
            yield Check("note", "sandbox", f"none: {choice.why}; {free}", _TODO)
        return
    said = choice.sandbox.describe()
    gaps = f"; not held: {'; '.join(said.gaps)}" if said.gaps else ""
    yield Check("ok", "sandbox", f"{said.name}: {', '.join(said.holds)}{gaps}")
    yield Check("ok", "sandbox writes", ", ".join(plan.write))
    if kept := plan.kept():
        yield Check("ok", "sandbox keeps", f"{_few(kept)}: no command writes there")
    if closed := [place.path for place in plan.places if place.kind == "close"]:
        what = (
            "no command reaches these: secrets, and sockets of programs (tmux, docker, …) that would act for it outside"
        )
        yield Check("ok", "sandbox closes", f"{_few(closed)}: {what}")
    if plan.ignored:
        todo = "Make it first, or correct sandbox.write."
        yield Check("note", "sandbox writes", f"{', '.join(plan.ignored)}: isn't there, or leads out by a link", todo)


def _few(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(paths[:_SHOWN]) + more
