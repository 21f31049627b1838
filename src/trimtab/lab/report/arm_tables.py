"""Arms side by side, as the bench's three tables: what the work came to, what it took, and what its edits were worth. Then two arms by prices, and arms by project or family.

Of a replay, a figure that hangs on what is assumed of hidden things has a column for each bound.
"""

import math
from collections.abc import Mapping

from trimtab.lab.bench.figures import COST, REWARD, SUCCESS, TOKENS, Figure, Group, in_group
from trimtab.lab.bench.projects import claims
from trimtab.lab.bench.section import readings
from trimtab.lab.report.bearing import TOO_FEW, says
from trimtab.lab.report.evidence import Block
from trimtab.lab.report.table import Cell, Column, Form, Table
from trimtab.lab.rewards.facts import Bound

_WITH_INTERVAL = (SUCCESS, REWARD, COST, TOKENS)
"""What is told with its interval; with one on each figure nobody finds any."""
_ARM = (Column("arm", "arm"), Column("kind", "kind"))
_VERDICTS = (
    Column("verdict", "verdict", about="beside keeping everything in a window that holds it"),
    Column("as_sent", "as sent", about="beside keeping everything, and failing where that doesn't fit"),
)
_SUCCESS_GAIN = Column("success_gain", "Δ keep-all", "points", "points of success above keeping everything as sent, paired")  # fmt: skip
_TOKENS_CHANGE = Column("tokens_change", "Δ keep-all", "change", "tokens of a request against keeping everything, paired")  # fmt: skip


def arm_tables(block: Block) -> tuple[Table, Table, Table]:
    """Return effect, efficiency and edit quality of all arms, the largest reward first."""
    rewards = {arm: block.figure(arm, REWARD, block.bound).value for arm in block.section.arms}
    order = sorted(rewards, key=lambda arm: (-rewards[arm], arm))
    verdicts = _verdicts(block)
    rows = tuple({**_figures(block, arm), **verdicts.get(arm, {})} for arm in order)
    marks = frozenset(number for number, row in enumerate(rows) if row["arm"] == block.champion("learned"))
    about = "a column for each bound where it matters" if block.tier == "T1" else ""

    def made(group: Group, title: str, *more: Column) -> Table:
        columns = (*_ARM, *more, *_columns(block, group))
        return Table(f"{group}-{block.name}", title, columns, rows, block.scope, about, marks)

    return made("effect", "Effect", *_VERDICTS), made("efficiency", "Efficiency"), made("quality", "Edit quality")


def _verdicts(block: Block) -> dict[str, dict[str, Cell]]:
    """Both verdicts of each arm, from the lower bound to the upper where they differ; no word for what is no rival."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for one in block.section.verdicts():
        fitting, sent = found.setdefault(one.arm, ([], []))
        fitting.append(one.fitting)
        sent.append(one.sent)
    return {
        arm: {"verdict": " – ".join(dict.fromkeys(fitting)), "as_sent": " – ".join(dict.fromkeys(sent))}
        for arm, (fitting, sent) in found.items()
        if block.kinds[arm] not in ("keep", "bound")
    }


def _columns(block: Block, group: Group) -> tuple[Column, ...]:
    made: list[Column] = []
    for figure in in_group(group):
        bounds = figure.bounds(block.tier)
        made += [Column(_key(figure, bound), _title(figure, bound, bounds), form_of(figure), figure.about) for bound in bounds]  # fmt: skip
        made += {SUCCESS.name: [_SUCCESS_GAIN], TOKENS.name: [_TOKENS_CHANGE]}.get(figure.name, [])
    return tuple(made)


def _key(figure: Figure, bound: Bound) -> str:
    return f"{figure.name.lower()}_{bound}"


def _title(figure: Figure, bound: Bound, bounds: tuple[Bound, ...]) -> str:
    name = figure.name.lower()
    return name if len(bounds) == 1 else f"{name}, {bound}"


def form_of(figure: Figure) -> Form:
    """How a figure is told: cost is a number to the bench and a share here, since it is one of keeping everything."""
    if figure is COST or figure.unit == "share":
        return "share"
    if figure.unit == "tokens":
        return "count"
    return "number" if figure is REWARD else "decimal"


def _figures(block: Block, arm: str) -> dict[str, Cell]:
    row: dict[str, Cell] = {"arm": arm, "kind": block.kinds[arm]}
    for figure, bound in readings(block.tier):
        found = block.figure(arm, figure, bound)
        if figure in _WITH_INTERVAL:
            row[_key(figure, bound)] = found
        else:
            row[_key(figure, bound)] = None if math.isnan(found.value) else found.value
    if block.base is not None and arm != block.base:
        row[_SUCCESS_GAIN.key] = block.gain(arm, block.base, SUCCESS, block.bound)
        row[_TOKENS_CHANGE.key] = block.change(arm, block.base, TOKENS, block.bound)
    return row


def prices_table(block: Block, arm: str | None, base: str | None) -> Table:
    """Return the gain of an arm over another at each kind of prices."""
    columns = (Column("prices", "prices"), Column("reward", "Δ reward", "signed"), Column("says", "so"))
    name, title = f"by-prices-{block.name}", "By prices"
    if arm is None or base is None:
        return Table(name, title, columns, (), block.scope, missing=_NO_TWO)
    gains = block.gains_by_prices(arm, base)
    rows: tuple[dict[str, Cell], ...] = tuple(
        {"prices": prices, "reward": found, "says": says(found)} for prices, found in gains.items()
    )
    return Table(name, title, columns, rows, block.scope, f"`{arm}` against `{base}`")


def units_table(block: Block, arm: str | None, base: str | None) -> Table:
    """Return what holds in each project (of generated tasks: family): the arm against another, and what the others would have chosen for it."""
    unit = block.section.unit
    bounds = REWARD.bounds(block.tier)
    columns = (
        Column(unit, unit),
        Column("arm", "arm"),
        Column("n", "n", "count", "stories"),
        *(Column(f"reward_{bound}", "Δ reward" if len(bounds) == 1 else f"Δ reward, {bound}", "signed") for bound in bounds),
        Column("says", "so", about="by all its bounds"),
        Column("chosen", "chosen on the others", about=f"the arm with the largest reward without this {unit}"),
    )  # fmt: skip
    name, title = f"by-{unit}-{block.name}", f"By {unit}"
    if arm is None or base is None:
        return Table(name, title, columns, (), block.scope, missing=_NO_TWO)
    rows: list[dict[str, Cell]] = [
        {
            unit: claim.project or "(none named)",
            "arm": claim.arm,
            "n": claim.stories,
            **{f"reward_{bound}": gain for bound, gain in claim.gains},
            "says": STANDS.get(claim.stand, claim.stand),
            "chosen": "yes" if claim.chosen else None,
        }
        for claim in claims(block.section, base)
        if claim.arm == arm or claim.chosen
    ]
    missing = "" if rows else f"There is one {unit} only, so nothing can be left out."
    about = f"against `{base}`; what holds in one says nothing of another"
    return Table(name, title, columns, tuple(rows), block.scope, about, missing=missing)


STANDS: Mapping[str, str] = {"not told apart from": "not shown", "not judged against": TOO_FEW}
"""Words of the bench for where an arm stands, as a cell has them; the others stay."""
_NO_TWO = "No two arms to compare: a learned arm and a rule, or a rule and keeping everything, must have played."
