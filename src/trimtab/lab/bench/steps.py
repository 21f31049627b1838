"""The path: how arms of this kind are usually made better, step by step, each against the one before.

    fixed summary ▶ occupancy rule ▶ logs ▶ supervised ▶ RL

A step is the first of its arms that was played, never the one that did best on what is shown. A step of which none was played is said to be missing, and the next one is held
against the last that there is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from trimtab.lab.bench.section import COMPARED, Section
from trimtab.lab.corpora.intervals import Interval
from trimtab.lab.rewards.facts import Bound
from trimtab.types.errors import UsageError


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of the path. `key`: its name on a command line. `arms`: what plays it, as whole arms or by their names without parameters; those in front are what it means, the others stand in for them."""

    key: str
    name: str
    about: str
    arms: tuple[str, ...]


PATH: tuple[Stage, ...] = (
    Stage("summary", "fixed summary", "a summary whenever the window is nearly full", ("summary",)),
    Stage("rule", "occupancy rule", "rules that act on how full the window is", ("occupancy", "rules")),
    Stage("logs", "logs", "break-even, with what recorded sessions say of how long things are needed", ("break-even",)),
    Stage("supervised", "supervised", "a network that says what is needed again, and break-even", ()),
    Stage("rl", "RL", "that network, trained on rewards", ()),
)
"""The path as far as names say it: which weights are which step, only whoever trained them knows."""


def with_arms(arms: Mapping[str, str], path: Sequence[Stage] = PATH) -> tuple[Stage, ...]:
    """Return the path with the arms that play some of its steps, by the keys of those. Raises `UsageError` for a step that it doesn't have."""
    keys = [stage.key for stage in path]
    for key in arms:
        if key not in keys:
            raise UsageError(f"the path has no step {key!r}", hint=f"Steps: {', '.join(keys)}.")
    return tuple(replace(stage, arms=(arms[stage.key],)) if stage.key in arms else stage for stage in path)


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
    """The first arm of a stage that there is: as it is written, else any of that name."""
    named = {arm.partition("(")[0].strip(): arm for arm in reversed(section.arms)}
    return next((arm for name in stage.arms if (arm := name if name in section.arms else named.get(name, ""))), "")


def _gains(section: Section, arm: str, before: str) -> tuple[tuple[str, Bound, Interval], ...]:
    return tuple(
        (figure.name, bound, section.gain(arm, before, figure, bound))
        for figure in COMPARED
        for bound in figure.bounds(section.key.tier)
    )
