"""Asking a person whether a project is trusted, and the project as it is after the answer.

    project ──nobody has decided, and something would act?──▶ Question ──▶ once, folder, parent, never ──▶ stored, and the project is read anew
                                                                      ──▶ show ──▶ the texts, hidden characters shown, and asked again
                                                                      ──▶ later, or no answer ──▶ as it was: not trusted, nothing stored

The one rule: an answer is about the very folder that was shown. One that was put in its place meanwhile is asked about.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import anyio

from trimtab.coding.person import Option, Person, Question
from trimtab.coding.project import Project, open_project
from trimtab.coding.telling.printable import one_path
from trimtab.coding.telling.trust_text import input_lines, input_texts
from trimtab.coding.trust.answers import ANSWERS, TrustAnswer
from trimtab.coding.trust.decide import keep_answer
from trimtab.coding.trust.inputs import nested_inputs
from trimtab.coding.trust.place import Place, place_of

SHOW = Option("show", "show the texts", "with what is hidden in them, and ask again")


async def settle_trust(project: Project, person: Person) -> Project:
    """Ask `person` about `project` if that is open, and return the project as it is then. Raises as `open_project` does."""
    while project.trust.open:
        place = await anyio.to_thread.run_sync(place_of, project.trust.root)
        answer = await _asked(project, person)
        if answer is None:
            return project
        if answer == "later":
            return _as_it_was(project)
        settled = await anyio.to_thread.run_sync(partial(_settled, project, place, answer))
        if settled is None:
            reason = "another folder was put here while you were asked"
            project = replace(project, trust=replace(project.trust, reason=reason))
            continue
        return settled
    return project


def _as_it_was(project: Project) -> Project:
    """The project of a person who wants to decide later: whoever was just asked needs no words on how to be asked."""
    notice = f"nothing of {one_path(project.trust.root)} acts in this session; /trust takes another answer"
    return replace(project, notices=tuple(notice if n == project.trust.notice else n for n in project.notices))


async def _asked(project: Project, person: Person) -> TrustAnswer | Literal["later"] | None:
    """What the person answers in the end; None when that is nothing."""
    decision, home = project.trust, project.env.get("HOME")
    details = await anyio.to_thread.run_sync(partial(_details, project))
    options = trust_options(decision.root, home)
    while True:
        key = await person.ask(
            Question(
                "trust",
                f"Trust {one_path(decision.root)}? It would act in this session, and nothing of it does yet:",
                details,
                options,
                default="later",
            )
        )
        if key == SHOW.key:
            details = await anyio.to_thread.run_sync(partial(_texts, project))
            options = tuple(option for option in options if option.key != SHOW.key)
            continue
        return "later" if key == "later" else next((answer for answer in ANSWERS if answer == key), None)


def trust_options(root: Path, home: str | None = None) -> tuple[Option, ...]:
    """What may be answered about the project `root`."""
    parent = root.parent
    wide = ", your whole home folder" if home and Path(home).is_relative_to(parent) else ""
    return (
        Option("once", "this time", "nothing is stored"),
        Option("folder", "this folder, from now on", "not if it is renamed or replaced"),
        Option(
            "parent",
            f"all that lies in {one_path(parent)}{wide}",
            "but a repository in there is asked about itself" if parent != root else "",
        ),
        Option("never", "no, and don't ask again"),
        Option("later", "not now", "you are asked again next time"),
        SHOW,
    )


def _details(project: Project) -> tuple[str, ...]:
    decision = project.trust
    where = [] if decision.root == project.cwd else [f"you are in {one_path(project.cwd)}"]
    why = [f"asked again: {decision.reason}"] if decision.reason else []
    below, whole = nested_inputs(decision.root, project.cwd)
    more = [] if whole else ["there may be more instruction files: the project is too large to be searched to its end"]
    return (*where, *why, *input_lines(decision.root, (*decision.inputs, *below)), *more)


def _texts(project: Project) -> tuple[str, ...]:
    decision = project.trust
    below, _ = nested_inputs(decision.root, project.cwd)
    return input_texts(decision.root, (*decision.inputs, *below))


def _settled(project: Project, place: Place, answer: TrustAnswer) -> Project | None:
    """The project as it is after that answer; None when another folder is there by now."""
    now = place_of(place.path)
    if place.identity is None or now.identity != place.identity:
        return None
    keep_answer(project.home.trust_file, place, answer)
    asked = project.asked
    return open_project(
        project.cwd,
        overrides=asked.overrides,
        sets=asked.sets,
        trust="once" if answer == "once" else None,
        env=project.env,
        cwd_given=asked.cwd_given,
    )
