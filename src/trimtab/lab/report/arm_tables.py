"""Arms side by side, as the bench's three tables: what the work came to, what it took, and what its edits were worth. Then two arms by price, project and family.

Each table is about one block (tier and part). Of a replay, a figure that hangs on what is assumed of hidden things has a column for each bound.
"""

import math
from collections.abc import Callable

from trimtab.lab.bench.figures import COST, FIGURES, REWARD, SUCCESS, TOKENS, Figure
from trimtab.lab.bench.row import Row
from trimtab.lab.corpora.intervals import Interval
from trimtab.lab.report.evidence import Block
from trimtab.lab.report.sample import Sample, bounded, known, side
from trimtab.lab.report.table import Cell, Column, Form, Table
from trimtab.lab.rewards.facts import Bound

_WITH_INTERVAL = (SUCCESS, REWARD, COST, TOKENS)
"""What is told with its interval; with one on each figure nobody finds any."""
_TITLES = {"effect": "Effect", "efficiency": "Efficiency", "quality": "Edit quality"}
_ARM = (Column("arm", "arm"), Column("kind", "kind"))
VERDICT = Column("verdict", "verdict", about="beside keeping everything as it is sent; see how to read it")
SUCCESS_GAIN = Column("success_gain", "Δ keep-all", "points", "points of success above keeping everything, paired")
TOKENS_CHANGE = Column("tokens_change", "Δ keep-all", "change", "tokens of a request against keeping everything, paired")  # fmt: skip


def arm_tables(block: Block) -> tuple[Table, Table, Table]:
    """Return effect, efficiency and edit quality of all arms, the largest reward first."""
    rewards = {arm: block.sample.value(arm, REWARD, block.bound) for arm in block.sample.arms}
    order = sorted(rewards, key=lambda arm: (-rewards[arm] if not math.isnan(rewards[arm]) else math.inf, arm))
    rows = tuple(_figures(block, arm) for arm in order)
    best = block.champion("learned")
    marks = frozenset(number for number, row in enumerate(rows) if row["arm"] == best)
    effect, efficiency, quality = (
        Table(f"{group}-{block.name}", _TITLES[group], (*_ARM, *columns), rows, block.scope, _about(block), marks)
        for group, columns in (
            ("effect", (VERDICT, *_columns(block, "effect"))),
            ("efficiency", _columns(block, "efficiency")),
            ("quality", _columns(block, "quality")),
        )
    )
    return effect, efficiency, quality


def _about(block: Block) -> str:
    return "a column for each bound where it matters" if block.tier == "T1" else ""


def _columns(block: Block, group: str) -> tuple[Column, ...]:
    made: list[Column] = []
    for figure in FIGURES:
        if figure.group != group:
            continue
        bounds = block.bounds(figure)
        made += [Column(_key(figure, bound), _title(figure, bound, bounds), form_of(figure), figure.about) for bound in bounds]  # fmt: skip
        made += {SUCCESS.name: [SUCCESS_GAIN], TOKENS.name: [TOKENS_CHANGE]}.get(figure.name, [])
    return tuple(made)


def _key(figure: Figure, bound: Bound) -> str:
    return f"{figure.name.lower()}_{bound}"


def _title(figure: Figure, bound: Bound, bounds: tuple[Bound, ...]) -> str:
    name = figure.name.lower()
    return name if len(bounds) == 1 else f"{name}, {bound}"


def form_of(figure: Figure) -> Form:
    """How a figure is told: cost is a number to the bench and a share here, since it is one of keeping everything."""
    if figure is COST:
        return "share"
    if figure.unit == "tokens":
        return "count"
    if figure.unit == "share":
        return "share"
    return "number" if figure is REWARD else "decimal"


def _figures(block: Block, arm: str) -> dict[str, Cell]:
    sample, base = block.sample, block.base
    row: dict[str, Cell] = {"arm": arm, "kind": block.kinds[arm], "verdict": block.verdict(arm)}
    for figure in FIGURES:
        for bound in block.bounds(figure):
            if figure in _WITH_INTERVAL:
                row[_key(figure, bound)] = sample.figure(arm, figure, bound)
            else:
                value = sample.value(arm, figure, bound)
                row[_key(figure, bound)] = None if math.isnan(value) else value
    if base is not None and arm != base:
        row[SUCCESS_GAIN.key] = sample.gain(arm, base, SUCCESS, block.bound)
        row[TOKENS_CHANGE.key] = sample.change(arm, base, TOKENS, block.bound)
    return row


def split_table(
    block: Block, name: str, title: str, key: Callable[[Row], str], arm: str | None, base: str | None
) -> Table:
    """Return the difference of an arm to another within each value of `key`: a project, a family, prices."""
    columns = (
        Column(name, name),
        Column("n", "n", "count", "stories that both played"),
        Column("reward", "Δ reward", "signed"),
        Column("success", "Δ success, points", "points"),
        Column("cost", "Δ cost", "change", "as a share of the other's"),
        Column("says", "so", about="what the interval of the reward bears"),
    )
    full = f"by-{name}-{block.name}"
    if arm is None or base is None:
        missing = "No two arms to compare: a learned arm and a rule, or keeping everything, must have played."
        return Table(full, title, columns, (), block.scope, missing=missing)
    rows: list[dict[str, Cell]] = []
    for value in sorted({key(row) for row in block.rows}):
        sample = Sample([row for row in block.rows if key(row) == value and row.arm in (arm, base)])
        gained = sample.gain(arm, base, REWARD, block.bound)
        rows.append(
            {
                name: value or "(none named)",
                "n": sample.both(arm, base),
                "reward": gained,
                "success": sample.gain(arm, base, SUCCESS, block.bound),
                "cost": sample.change(arm, base, COST, block.bound),
                "says": says(gained),
            }
        )
    return Table(
        full, title, columns, tuple(rows), block.scope, f"`{arm}` against `{base}`, paired on the same stories"
    )


def says(found: Interval) -> str:
    """Return what the interval of a gain bears."""
    if not (known(found) and bounded(found)):
        return "no data"
    return {1: "better", -1: "worse", 0: "not shown"}[side(found)]
