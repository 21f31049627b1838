"""The path: how arms of this kind are usually made better, step by step, each against the one before.

    fixed summary ▶ occupancy rule ▶ logs ▶ supervised ▶ RL

A step is the first of its arms that was played, never the one that did best on what is shown. A step of which none was played is said to be missing, and the next one is held
against the last that there is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.lab.bench.section import COMPARED, Section
from trimtab.lab.corpora.intervals import Interval
from trimtab.lab.rewards.facts import Bound


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of the path. `arms`: names of arms, without their parameters; those in front are what it means, the others stand in for them."""

    name: str
    about: str
    arms: tuple[str, ...]


PATH: tuple[Stage, ...] = (
    Stage("fixed summary", "a summary whenever the window is nearly full", ("summary",)),
    Stage("occupancy rule", "rules that act on how full the window is", ("occupancy", "rules")),
    Stage("logs", "break-even, with what recorded sessions say of how long things are needed", ("break-even",)),
    Stage("supervised", "a network that says what is needed again, and break-even", ("supervised",)),
    Stage("RL", "that network, trained on rewards", ("rl",)),
)


@dataclass(frozen=True, slots=True)
class Step:
    """What a stage came to. `arm` is empty where none of its arms was played; `before` where there is nothing to hold it against."""

    stage: Stage
    arm: str = ""
    before: str = ""
    gains: tuple[tuple[str, Bound, Interval], ...] = ()
    """Figure, bound, and by how much it is above that of the step before (tokens: how many times it is that)."""


def walked(section: Section, path: Sequence[Stage] = PATH) -> list[Step]:
    """Return the steps of the path in a section, missing ones too."""
    steps: list[Step] = []
    before = ""
    for stage in path:
        arm = _played(section, stage)
        gains = _gains(section, arm, before) if arm and before else ()
        steps.append(Step(stage, arm, before if arm else "", gains))
        before = arm or before
    return steps


def _played(section: Section, stage: Stage) -> str:
    names = [arm.partition("(")[0].strip() for arm in section.arms]
    return next((section.arms[names.index(name)] for name in stage.arms if name in names), "")


def _gains(section: Section, arm: str, before: str) -> tuple[tuple[str, Bound, Interval], ...]:
    return tuple(
        (figure.name, bound, section.gain(arm, before, figure, bound))
        for figure in COMPARED
        for bound in figure.bounds(section.key.tier)
    )
