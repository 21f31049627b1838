"""Sentences made of figures. Each says what its interval bears and nothing more.

    the whole interval on one side of zero   costs less / costs more, succeeds more often / less often
    an interval that holds zero              equal within its farther end, where that is near; else that nothing is shown

The figures stand in the sentence, so whoever doubts it can check it.
"""

from collections.abc import Mapping, Sequence

from trimtab.lab.report.estimates import Estimate, Sample, cost, reward, success
from trimtab.lab.report.evidence import TIERS, Block
from trimtab.lab.report.table import Form, Table, number, told

EQUAL = 0.03
"""Success within this many is called equal, with the number."""
SURE = 2
"""Price regimes at which a learned policy must be above the best rule."""


def difference(found: Estimate, form: Form, *, below: str, above: str, equal: str, near: float) -> str:
    """Return one clause about a difference: which side of zero it is on, and its figures."""
    if not found.known:
        return f"whether it {below} or {above} isn't known: no story was played by both"
    figures = told(found, form)
    if found.low != found.low:
        return f"whether it {below} or {above} isn't shown by one story ({figures})"
    if found.high < 0:
        return f"it {below} ({figures})"
    if found.low > 0:
        return f"it {above} ({figures})"
    within = max(-found.low, found.high)
    if within <= near:
        return f"{equal} within {number(within, 'share')} ({figures})"
    return f"whether it {below} or {above} isn't shown ({figures})"


def compared(arm: str, base: str, cost_change: Estimate, success_change: Estimate) -> str:
    """Return what may be said of an arm beside another: cost, then success."""
    paid = difference(cost_change, "change", below="costs less", above="costs more", equal="cost is equal", near=EQUAL)
    succeeded = difference(
        success_change,
        "points",
        below="succeeds less often",
        above="succeeds more often",
        equal="success is equal",
        near=EQUAL,
    )
    return f"`{arm}` beside `{base}`: {paid}; {succeeded}."


def against(block: Block, arm: str, base: str) -> str:
    """Return `compared` for two arms of a block."""
    sample, bound = block.sample, block.bound
    return compared(
        arm,
        base,
        sample.difference(arm, base, cost(bound), relative=True),
        sample.difference(arm, base, success(bound)),
    )


def gate(block: Block, arm: str, rule: str) -> str:
    """Return whether a learned arm is above the best rule in reward at as many prices as shipping it as the default asks for."""
    found = _by_prices(block, arm, rule)
    clear = [prices for prices, one in found.items() if one.low > 0]
    figures = ", ".join(f"{prices} {told(one, 'signed')}" for prices, one in found.items())
    enough = "which clears the gate" if len(clear) >= SURE else f"and the gate asks for {SURE}"
    return f"In reward, the whole interval of `{arm}` is above `{rule}` at {len(clear)} of {len(found)} prices ({figures}), {enough}."


def _by_prices(block: Block, arm: str, rule: str) -> Mapping[str, Estimate]:
    found = {}
    for prices in sorted({row.regime for row in block.rows}):
        sample = Sample([row for row in block.rows if row.regime == prices])
        found[prices] = sample.difference(arm, rule, reward(block.bound))
    return found


def summary(blocks: Sequence[Block], path: Table | None, ablation: Table) -> tuple[str, ...]:
    """Return the page in a few sentences: the weightiest tiers, the path, the ablation, and what there is no data for."""
    said: list[str] = []
    for tier, _ in TIERS:
        block = next((one for one in blocks if one.tier == tier), None)
        if block is not None:
            said += [f"{_where(block)}: {line}" for line in _of_block(block)]
    if path is not None:
        said += _steps(path)
    said += _ablated(ablation)
    missing = [f"{tier} ({about})" for tier, about in TIERS if not any(block.tier == tier for block in blocks)]
    if missing:
        said.append(f"No data: {'; '.join(missing)}. Nothing on this page is about them.")
    return tuple(said)


def _where(block: Block) -> str:
    return f"{block.tier}, {block.part}" if block.part else block.tier


def _of_block(block: Block) -> list[str]:
    arm, rule, base = block.champion("learned"), block.champion("rule"), block.base
    lines = []
    if arm and rule:
        lines += [against(block, arm, rule), gate(block, arm, rule)]
    best = arm or rule
    if best and base:
        lines.append(against(block, best, base))
    return lines or ["there is no learned arm and no rule to compare."]


def _steps(path: Table) -> list[str]:
    """The path in one sentence: which steps are shown to be better than the one before, which aren't."""
    found: dict[str, list[str]] = {}
    for row in path.rows:
        change = row.get("reward_change")
        if isinstance(change, Estimate):
            found.setdefault(str(row["says"]), []).append(f"{row['step']} ({told(change, 'signed')})")
    if not found:
        return []
    heads = {
        "better": "above the one before",
        "worse": "below the one before",
        "not shown": "not shown to differ from the one before",
        "no data": "without data",
    }
    parts = [f"{', '.join(found[key])} {head}" for key, head in heads.items() if key in found]
    return [f"The path, each step in reward: {'; '.join(parts)}."]


def _ablated(ablation: Table) -> list[str]:
    rows = [row for row in ablation.rows if isinstance(row.get("change"), Estimate)]
    if not rows:
        return []
    shown = [row for row in rows if row["says"] in ("better", "worse")]
    reference = next(row for row in ablation.rows if row["says"] == "reference")
    base = f"`{reference['variant']}` with {reference['branching']} branch points"
    if not shown:
        return [f"Credit: no variant is shown to differ in reward from {base}, over seeds {reference['seeds']}."]
    lines = [
        f"`{row['variant']}` with {row['branching']} branch points is {row['says']} ({told(row['change'], 'signed')})"
        for row in shown
    ]
    rest = len(rows) - len(shown)
    more = f"; {rest} other{'s are' if rest > 1 else ' is'} not shown to differ" if rest else ""
    return [f"Credit, beside {base}: {', '.join(lines)}{more}."]
