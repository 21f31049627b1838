"""Arms side by side, as three tables: what the work came to, what it took, and what its edits were worth. Then the same by price and by project or family.

Each table is about one block (tier and part); a figure that no row of it has is a dash, and a block without any gives a table that says so.
"""

from collections.abc import Callable, Mapping, Sequence

from trimtab.lab.bench.row import Row
from trimtab.lab.report.estimates import TOKENS, Estimate, Metric, Sample, cost, reward, shares, success
from trimtab.lab.report.evidence import Block
from trimtab.lab.report.table import Cell, Column, Form, Table

_ARM = (Column("arm", "arm"), Column("kind", "kind"))
EFFECT = (
    *_ARM,
    Column("success", "success", "share", "expected or measured success, mean"),
    Column("success_change", "Δ keep-all", "points", "points above keeping everything, paired"),
    Column("reward", "reward", "number", "success less cost and what else is charged"),
    Column("needs_seen", "needs seen", "share", "what steps needed and their request showed"),
    Column("needs_lost", "lost", "share", "what steps needed and nothing led back to"),
    Column("verdict", "verdict"),
)
EFFICIENCY = (
    *_ARM,
    Column("cost", "cost", "share", "dollars with the prompt cache, of what keeping everything costs"),
    Column("tokens", "tokens a request", "count", "mean"),
    Column("tokens_change", "Δ keep-all", "change", "tokens of a request against keeping everything, paired"),
    Column("peak", "peak", "count", "tokens of the largest request of a story, mean"),
    Column("cached", "cached", "share", "prompt tokens that were read from the cache"),
    Column("edits", "edits", "number", "changes of the context, a story"),
    Column("forced", "forced", "share", "of them the ladder's, because a request didn't fit"),
    Column("reloads", "reloads", "number", "a story"),
    Column("summaries", "summaries", "number", "calls of a model that wrote one, a story"),
    Column("overflows", "overflows", "number", "requests larger than the window, a story"),
    Column("invalid", "invalid", "number", "requests that a provider would refuse, a story"),
    Column("policy_ms", "ms", "ms", "milliseconds of a decision"),
)
QUALITY = (
    *_ARM,
    Column("hidden", "hidden", "number", "items taken out of sight, a story"),
    Column("needed_later", "needed later", "share", "of them those that a later step needed"),
    Column("reread", "read again", "share", "readings of such an item again, for each that was hidden"),
    Column("fields_kept", "fields kept", "share", "key fields that the last request that needed them showed"),
    Column("refused", "refused", "number", "wishes that the engine refused, a story"),
)


def _per(part: Callable[[Row], float], whole: Callable[[Row], float] = lambda _: 1.0) -> Metric:
    return Metric("", lambda row: (part(row), whole(row)))


PLAIN: Mapping[str, Metric] = {
    "needs_seen": _per(lambda row: row.needs.visible, lambda row: row.needs.visible + row.needs.stub + row.needs.lost),
    "needs_lost": _per(lambda row: row.needs.lost, lambda row: row.needs.visible + row.needs.stub + row.needs.lost),
    "peak": _per(lambda row: row.peak),
    "cached": _per(lambda row: row.cached, lambda row: row.prompt),
    "edits": _per(lambda row: row.edits),
    "forced": _per(lambda row: row.forced, lambda row: row.edits),
    "reloads": _per(lambda row: row.reloads),
    "summaries": _per(lambda row: row.summaries),
    "overflows": _per(lambda row: row.overflows),
    "invalid": _per(lambda row: row.invalid),
    "policy_ms": _per(lambda row: row.policy_ms, lambda row: row.decisions),
    "hidden": _per(lambda row: row.quality.hidden),
    "needed_later": _per(lambda row: row.quality.hidden_needed, lambda row: row.quality.hidden),
    "reread": _per(lambda row: row.quality.reread, lambda row: row.quality.hidden),
    "fields_kept": _per(lambda row: row.quality.fields_kept, lambda row: row.quality.fields),
    "refused": _per(lambda row: row.refused),
}
"""Figures that are told without an interval."""


def arm_tables(block: Block) -> tuple[Table, Table, Table]:
    """Return effect, efficiency and edit quality of all arms, the largest reward first."""
    rows = [_figures(block, arm) for arm in _ordered(block)]
    marks = frozenset(n for n, row in enumerate(rows) if row["arm"] in {block.champion("learned")})
    name = f"{block.tier}-{block.part}".strip("-").lower()
    extra = tuple(Column(key, key.replace("_", " "), "number") for key in _extra_keys(block.rows))
    where = f"Judged by the bound “{block.bound}”."
    return (
        Table(f"effect-{name}", "Effect", (*EFFECT[:-1], *extra, EFFECT[-1]), tuple(rows), block.scope, where, marks),
        Table(f"efficiency-{name}", "Efficiency", EFFICIENCY, tuple(rows), block.scope, where, marks),
        Table(f"quality-{name}", "Edit quality", QUALITY, tuple(rows), block.scope, "", marks),
    )


def _ordered(block: Block) -> list[str]:
    figures = {arm: block.sample.figures_of(arm, reward(block.bound)).value for arm in block.sample.arms}
    return sorted(figures, key=lambda arm: (-figures[arm] if figures[arm] == figures[arm] else 0.0, arm))


def _extra_keys(rows: Sequence[Row]) -> list[str]:
    return sorted({key for row in rows for key in row.extra})


def _figures(block: Block, arm: str) -> dict[str, Cell]:
    sample, base, bound = block.sample, block.base, block.bound
    mine = list(sample.by_arm[arm].values())
    compared: dict[str, Cell] = {}
    if base is not None and arm != base:
        compared = {
            "success_change": sample.difference(arm, base, success(bound)),
            "tokens_change": sample.difference(arm, base, TOKENS, relative=True),
        }
    extra = {key: _per(lambda row, key=key: row.extra.get(key, 0.0)) for key in _extra_keys(block.rows)}  # type: ignore[misc]
    return {
        "arm": arm,
        "kind": block.kinds[arm],
        "success": sample.figures_of(arm, success(bound)),
        "reward": sample.figures_of(arm, reward(bound)),
        "cost": sample.figures_of(arm, cost(bound)),
        "tokens": sample.figures_of(arm, TOKENS),
        "verdict": block.verdict(arm),
        **shares(mine, {**PLAIN, **extra}),
        **compared,
    }


def split_table(
    block: Block, name: str, title: str, key: Callable[[Row], str], arm: str | None, base: str | None
) -> Table:
    """Return the difference of an arm to another within each value of `key`: a project, a family, prices."""
    columns = (
        Column(name, name),
        Column("n", "n", "count", "stories that both played"),
        Column("reward", "reward", "signed"),
        Column("success", "success, points", "points"),
        Column("cost", "cost", "change", "as a share of the other's"),
        Column("says", "so"),
    )
    if arm is None or base is None:
        missing = "No two arms to compare: a learned arm and a rule, or keeping everything, must have played."
        return Table(_named(name, block), title, columns, (), block.scope, missing=missing)
    rows = []
    for value in sorted({key(row) for row in block.rows}):
        sample = Sample([row for row in block.rows if key(row) == value])
        found = sample.difference(arm, base, reward(block.bound))
        rows.append(
            {
                name: value or "(none named)",
                "n": found.n,
                "reward": found,
                "success": sample.difference(arm, base, success(block.bound)),
                "cost": sample.difference(arm, base, cost(block.bound), relative=True),
                "says": says(found),
            }
        )
    about = f"{arm} against {base}, paired on the same stories."
    return Table(_named(name, block), title, columns, tuple(rows), block.scope, about)


def _named(name: str, block: Block) -> str:
    return f"by-{name}-{block.tier}-{block.part}".strip("-").lower()


def says(found: Estimate) -> str:
    """Return what an interval of a difference bears."""
    if not found.known or found.low != found.low:
        return "no data"
    return "better" if found.low > 0 else "worse" if found.high < 0 else "not shown"


FORMS: Mapping[str, Form] = {column.key: column.form for column in (*EFFECT, *EFFICIENCY, *QUALITY)}
"""How each figure is told."""
