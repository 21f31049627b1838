"""The report in its order: what it says first, then the evidence, the weightiest tier first, then training, and what is shown without any bench.

    Found ──report_of──▶ Report: summary, sections of tables and figures, every table by its name

A table or figure without data keeps its place and says why it is empty, so that nobody takes silence for a result. A section that holds nothing else stands behind those that say something.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from trimtab.lab.bench.deciders import told
from trimtab.lab.bench.steps import PATH, Stage
from trimtab.lab.report.arm_tables import arm_tables, prices_table, units_table
from trimtab.lab.report.contrasts import contrasts_table
from trimtab.lab.report.evidence import TIERS, Block, blocks_of
from trimtab.lab.report.figure_data import (
    bounds_table,
    curves_table,
    noticed_table,
    pareto_table,
    regret_table,
    weights_table,
)
from trimtab.lab.report.hacking import hacking_table
from trimtab.lab.report.reading import Found
from trimtab.lab.report.table import Table
from trimtab.lab.report.training import ablation_table, path_table
from trimtab.lab.report.words import Said, summary


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot of a table. `kind` names the chart; `roles`: the colour of each arm that has one of its own."""

    kind: str
    table: Table
    caption: str
    roles: tuple[tuple[str, str], ...] = ()


Part: TypeAlias = Table | Figure


@dataclass(frozen=True, slots=True)
class Section:
    """`lines` stand in front of its parts. `warns`: it is there to say that something isn't."""

    anchor: str
    title: str
    lines: tuple[str, ...]
    parts: tuple[Part, ...] = ()
    folded: bool = False
    warns: bool = False

    @property
    def empty(self) -> bool:
        """Whether all that it says is that there is no data."""
        return not any(_table_of(part).rows for part in self.parts)


@dataclass(frozen=True, slots=True)
class Report:
    """All that the page shows but its facts and the checklist."""

    summary: tuple[Said, ...]
    sections: tuple[Section, ...]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Every table, those of figures too, in the order of the page."""
        return tuple(_table_of(part) for section in self.sections for part in section.parts)


def _table_of(part: Part) -> Table:
    return part.table if isinstance(part, Figure) else part


def report_of(found: Found, path: Sequence[Stage] = PATH) -> Report:
    """Return the report of what was read. `path`: which arm is which step of it."""
    known = blocks_of(found.rows, found.candidate)
    leading = _leading(known)
    walk = path_table(leading, path)
    ablation, contrasts = ablation_table(found.ablation), contrasts_table(found.runs)
    made = (
        *_evidence(known),
        Section(
            "path",
            "The path",
            (
                "Fixed summary, occupancy rule, logs, supervised, reinforcement learning: each step against the one before.",
            ),
            (_figure("path", walk, "Each step with its interval of 95 %."), walk),
        ),
        Section(
            "ablation",
            "Ablation",
            (
                "Credit by trajectory, by snapshot or by parent; branch points chosen by context or at random, or none. `step`: each action rewarded by itself, told of by what its tasks came to.",
            ),
            (
                _figure("ablation", ablation, "Means with the interval of 95 %, over seeds and tasks."),
                ablation,
                contrasts,
            ),
        ),
        Section(
            "hacking",
            "Reward hacking",
            (
                "The simple scheme scores each action as it happens. Below are five plays of one story, by its points and by the reward.",
            ),
            (hacking_table(),),
        ),
    )
    return Report(summary(known, walk, ablation, contrasts), tuple(sorted(made, key=lambda section: section.empty)))


def _leading(known: Sequence[Block]) -> Block:
    """The block that the path is told on: generated tasks, where every step can play; else the weightiest."""
    return next((block for block in known if block.tier == "T0"), known[0])


def _evidence(known: Sequence[Block]) -> Iterator[Section]:
    for tier, about in TIERS:
        mine = [block for block in known if block.tier == tier]
        if not mine:
            lines = (f"Skipped: these folders hold no row of {tier}, {about}. None of its tables is on this page.",)
            yield Section(tier.lower(), f"{tier}: no data", lines, warns=True)
        for block in mine:
            yield _block(block)


def _block(block: Block) -> Section:
    title = f"{block.title}: {block.about}"
    tables = arm_tables(block)
    if not block.leads:
        return Section(block.name, title, _lines(block), tables, folded=True)
    effect, efficiency, quality = tables
    roles = _roles(block)
    learned, rule = block.champion("learned"), block.champion("rule")
    arm, base = (learned, rule or block.base) if learned else (rule, block.base)
    figures = {
        "pareto": Figure("pareto", pareto_table(block), "Up and to the left is better.", roles),
        "weights": Figure("weights", weights_table(block), "What each arm is worth to somebody for whom cost weighs so much.", roles),
        "curves": Figure("curves", curves_table(block), "Over the stories that came so far.", roles),
        "regret": Figure("regret", regret_table(block), "Paired on the same stories, with the interval of 95 %.", roles),
        "noticed": Figure("noticed", noticed_table(block), "A stub that nobody notices is a need that is missed.", roles),
    }  # fmt: skip
    splits = (prices_table(block, arm, base), units_table(block, arm, base))
    replay: tuple[Part, ...] = ()
    if block.tier == "T1":
        caption = "A replay doesn't know what the agent would have done: every figure is an interval between two readings of the same recording."
        bounds = bounds_table(block)
        replay = (Figure("bounds", bounds, caption, roles), bounds)
    parts = (
        *replay,
        effect,
        figures["pareto"],
        figures["weights"],
        efficiency,
        figures["curves"],
        quality,
        figures["regret"],
        figures["noticed"],
        *splits,
    )
    return Section(block.name, title, _lines(block), parts)


def _lines(block: Block) -> tuple[str, ...]:
    """What a reader must know of a block before its figures."""
    section = block.section
    lines = [block.scope + "."]
    if section.lacks:
        lines.append(f"Nothing is claimed here: {section.lacks}. Read it as a first look.")
    if len(section.units) < 2:
        lines.append(f"One {section.unit} only: its intervals say nothing about others.")
    if block.base is None:
        lines.append("Keeping everything hasn't played here, so there are no verdicts.")
    lines += told(section.left)
    if block.leads:
        lines.append(_chosen(block))
    if section.left_out:
        lines.append(f"{section.left_out:,} stories are left out, because some arm didn't play them.")
    return tuple(lines)


def _chosen(block: Block) -> str:
    """What chose between the arms of a kind."""
    where = f"on {block.chosen_on.key.title}" if block.chosen_on else "here, since nothing was played on validation: the figures of the best of each kind are too good"  # fmt: skip
    opened = f"; the test part was opened for {block.candidate}" if block.candidate else ""
    return f"The best of each kind was chosen {where}{opened}."


def _figure(kind: str, table: Table, caption: str) -> Figure:
    return Figure(kind, table, caption)


def _roles(block: Block) -> tuple[tuple[str, str], ...]:
    """The colour of each featured arm: its kind's, and further ones for further learned arms."""
    found: list[tuple[str, str]] = []
    learned = 0
    for arm in block.featured:
        kind = str(block.kinds[arm])
        if kind == "learned":
            learned += 1
            kind = "learned" if learned == 1 else f"learned-{learned}"
        found.append((arm, kind))
    return tuple(found)
