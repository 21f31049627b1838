"""Tables: what a bench says, as rows for people.

section ──▶ a heading, a table for each group of figures, differences, the sweep, the path      its numbers, and their intervals, stand in the files too: `records`
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from trimtab.lab.bench.deciders import told
from trimtab.lab.bench.figures import FIGURES, SUCCESS, Figure, Group, Unit, in_group
from trimtab.lab.bench.grounds import TAKES
from trimtab.lab.bench.row import chance_key
from trimtab.lab.bench.section import COMPARED, Section
from trimtab.lab.bench.steps import Step
from trimtab.lab.corpora.intervals import Interval

Line: TypeAlias = tuple[str, ...]
_UNKNOWN = "[–]"
"""An interval that isn't known: see `grounds`."""
GROUPS: Mapping[Group, str] = {
    "effect": "Effect",
    "efficiency": "Efficiency",
    "quality": "Quality of edits",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A table for people: the first line is its head. `notes` belong to it; `legend` says what the columns hold."""

    title: str
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()
    legend: tuple[str, ...] = ()


def shown(section: Section, against: str) -> Iterator[Shown]:
    """Yield the tables of a section."""
    verdicts = _verdict_words(section)
    for group, title in GROUPS.items():
        yield _group(section, group, title, verdicts if group == "effect" else {})
    if against in section.arms and len(section.arms) > 1:
        yield _differences(section, against)
    if section.chances:
        yield _noticed(section)
    if any(row.actions for rows in section.rows.values() for row in rows):
        yield _actions(section)


def sizes(section: Section) -> str:
    """How much a section rests on, in words."""
    units, stories, tasks = len(section.units), section.stories, section.tasks
    kinds = {"family": ("family", "families", "task"), "project": ("project", "projects", "session")}[section.unit]
    parts = [f"{units} {kinds[0] if units == 1 else kinds[1]}", f"{tasks:,} {kinds[2]}{'' if tasks == 1 else 's'}"]
    if section.key.tier != "T1":
        parts.append(f"{section.seeds} seed{'' if section.seeds == 1 else 's'}")
    return f"{', '.join(parts)}: {stories:,} stor{'y' if stories == 1 else 'ies'} under every arm"


def path_shown(section: Section, steps: Sequence[Step]) -> Shown:
    """The path as a table, with what is missing of it."""
    heads = [(f.name, bound) for f in COMPARED for bound in f.bounds(section.key.tier)]
    lines: list[Line] = [("STEP", "ARM", *(_with_bound(name, b, section) for name, b in heads))]
    for step in steps:
        if step.arm:
            cells = {(name, bound): _signed(gain, name) for name, bound, gain in step.gains}
            lines.append((step.stage.name, step.arm, *(cells.get(head, "-") for head in heads)))
    missing = "; ".join(_missing(step) for step in steps if not step.arm)
    notes = (f"Missing: {missing}.",) if missing else ()
    return Shown("The path: each step against the one before", tuple(lines), notes, (_GAINS,))


def _missing(step: Step) -> str:
    arms = " or ".join(step.stage.arms)
    return f"{step.stage.name} ({f'no {arms} was played' if arms else f'--step {step.stage.key}=ARM says what it is'})"


def _group(section: Section, group: Group, title: str, verdicts: Mapping[str, Line]) -> Shown:
    figures = [figure for figure in in_group(group) if _known(section, figure)]
    heads = ("VERDICT", "AS SENT") if verdicts else ()
    lines: list[Line] = [("ARM", *(figure.name for figure in figures), *heads)]
    for arm in section.arms:
        lines.append((arm, *(_cell(section, arm, figure) for figure in figures), *verdicts.get(arm, ())))
    notes = tuple(told(section.left)) if group == "efficiency" else ()
    return Shown(title, tuple(lines), notes, _legend(section, figures, verdicts=bool(verdicts)))


def _known(section: Section, figure: Figure) -> bool:
    """Whether a figure says anything here: something is below its line."""
    bound = figure.bounds(section.key.tier)[0]
    return any(below for arm in section.arms for _, below in section.parts(arm, figure, bound))


def _cell(section: Section, arm: str, figure: Figure) -> str:
    """A figure as a table shows it: with its interval where it is the success of a generated story, as two ends where a recording has two."""
    found = [section.figure(arm, figure, bound) for bound in figure.bounds(section.key.tier)]
    values = [_number(one.value, figure.unit) for one in found]
    if len(values) > 1:
        return f"{values[0]}–{values[1]}"
    return f"{values[0]} {_ends(found[0], figure.unit)}" if figure is SUCCESS else values[0]


_GAINS = "With 95 % intervals, paired by story. TOKENS: how many times as many; all else: how much more."


def _legend(section: Section, figures: Sequence[Figure], *, verdicts: bool) -> tuple[str, ...]:
    words = [f"{figure.name}: {figure.about}" for figure in figures]
    lines = ["; ".join(words) + "."]
    if section.key.tier == "T1" and any(len(figure.replayed) > 1 for figure in figures):
        lines.append(
            "Two ends: SUCCESS, TOOLS and REWARD when nothing hidden is fetched, and when all of it is; COST when it is fetched, and when each original call is made again too."
        )
    if verdicts:
        lines.append(
            "VERDICT: beside keeping everything in a window that holds it. AS SENT: beside keeping everything and failing where that doesn't fit. Both are about these families alone."
        )
    if verdicts and section.lacks:
        lines.append(TAKES.replace("`", ""))
    return tuple(lines)


def _verdict_words(section: Section) -> dict[str, Line]:
    """For each arm both verdicts; from the lower end to the upper where they differ."""
    found: dict[str, list[Line]] = {}
    for one in section.verdicts():
        found.setdefault(one.arm, []).append((one.fitting, one.sent))
    return {
        arm: tuple(" – ".join(dict.fromkeys(words)) for words in zip(*pairs, strict=True))
        for arm, pairs in found.items()
    }


def _differences(section: Section, against: str) -> Shown:
    heads = [(figure, bound) for figure in COMPARED for bound in figure.bounds(section.key.tier)]
    lines: list[Line] = [("ARM", *(_with_bound(figure.name, bound, section) for figure, bound in heads))]
    for arm in section.arms:
        if arm != against:
            gains = (_signed(section.gain(arm, against, figure, bound), figure.name) for figure, bound in heads)
            lines.append((arm, *gains))
    return Shown(f"Against {against}", tuple(lines), (), (_GAINS,))


def _with_bound(name: str, bound: str, section: Section) -> str:
    figure = next(figure for figure in FIGURES if figure.name == name)
    return f"{name} ({bound})" if len(figure.bounds(section.key.tier)) > 1 else name


def _noticed(section: Section) -> Shown:
    lines: list[Line] = [("ARM", *(f"{chance:.0%}" for chance in section.chances))]
    for arm, rows in section.rows.items():
        read = [[row.noticed[chance_key(chance)].success for row in rows] for chance in section.chances]
        lines.append((arm, *(_number(math.fsum(one) / len(one), "share") for one in read)))
    return Shown("Success by the chance that a stub is noticed", tuple(lines))


def _actions(section: Section) -> Shown:
    kinds = sorted({kind for rows in section.rows.values() for row in rows for kind in row.actions})
    lines: list[Line] = [("ARM", *kinds)]
    for arm, rows in section.rows.items():
        lines.append((arm, *(f"{sum(row.actions.get(kind, 0) for row in rows):,}" for kind in kinds)))
    return Shown("Edits by kind, in all stories", tuple(lines))


def _number(value: float, unit: Unit) -> str:
    if math.isnan(value):
        return "-"
    if unit == "tokens":
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) < 100 else f"{value:,.0f}"


def _ends(found: Interval, unit: Unit) -> str:
    return _UNKNOWN if math.isnan(found.low) else f"[{_number(found.low, unit)}, {_number(found.high, unit)}]"


def _signed(found: Interval, name: str) -> str:
    if math.isnan(found.value):
        return "-"
    value, form = (f"×{found.value:.2f}", ".2f") if name == "TOKENS" else (f"{found.value:+.2f}", "+.2f")
    return f"{value} {_UNKNOWN if math.isnan(found.low) else f'[{found.low:{form}}, {found.high:{form}}]'}"
