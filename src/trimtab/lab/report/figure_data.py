"""The data behind each plot, as a table of its own: whoever can't see a plot, or wants its numbers, reads that.

    Block ──▶ Pareto points · best arm by weight of cost · token curves · regret · bounds of a replay · sweep of the chance that a stub is noticed

A reward is linear in the weight of cost, so the sweep over weights needs no episode to be played or judged again: `reward + (λ₀ − λ)·cost`.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import quantiles

from trimtab.lab.bench.figures import COST, REWARD, SUCCESS
from trimtab.lab.report.evidence import Block
from trimtab.lab.report.table import Cell, Column, Table
from trimtab.lab.rewards.pareto import COST_WEIGHTS, ParetoPoint, best_arms, front
from trimtab.lab.rewards.reward import DEFAULT

_SHOWN = 0.25
"""A curve ends where fewer of an arm's requests than this are left."""


def pareto_points(block: Block, weight: float = DEFAULT.cost) -> tuple[ParetoPoint, ...]:
    """Return a point for each arm under one weight of cost."""
    made = []
    for arm, rows in block.section.rows.items():
        judged = [row.judged[block.bound] for row in rows]
        costs = [one.usd / row.keep_all_usd for one, row in zip(judged, rows, strict=True)]
        rewards = [one.reward + (DEFAULT.cost - weight) * each for one, each in zip(judged, costs, strict=True)]
        succeeded = [one.success for one in judged]
        made.append(ParetoPoint(arm, block.tier, weight, _mean(rewards), _mean(succeeded), _mean(costs), len(rows)))
    return tuple(made)


def pareto_table(block: Block) -> Table:
    """Success against cost, a point an arm, and whether no other arm beats it. Arms that know the future aren't rivals, so they take no part in the front."""
    rivals = [point for point in pareto_points(block) if block.kinds[point.arm] != "bound"]
    leading = {point.arm for point in front(rivals)}
    columns = (
        Column("arm", "arm"),
        Column("kind", "kind"),
        Column("cost", "cost", "share", "mean over stories, of keeping everything"),
        Column("success", "success", "share"),
        Column("front", "on the front"),
    )
    rows = [
        {
            "arm": point.arm,
            "kind": block.kinds[point.arm],
            "cost": point.cost,
            "success": point.success,
            "front": "yes" if point.arm in leading else "bound" if block.kinds[point.arm] == "bound" else "no",
        }
        for point in sorted(pareto_points(block), key=lambda point: (point.cost, point.arm))
    ]
    return _table("pareto", "Success against cost", columns, rows, block)


def weights_table(block: Block) -> Table:
    """Reward of the featured arms under each weight of cost, and which arm of all is best there."""
    columns = (
        Column("weight", "weight of cost", "number"),
        Column("arm", "arm"),
        Column("reward", "reward", "number"),
        Column("best", "best of all"),
    )
    swept = [point for weight in COST_WEIGHTS for point in pareto_points(block, weight)]
    best = best_arms(point for point in swept if block.kinds[point.arm] != "bound")
    rows: list[dict[str, Cell]] = [
        {"weight": point.cost_weight, "arm": point.arm, "reward": point.reward, "best": best[point.cost_weight]}
        for point in swept
        if point.arm in block.featured
    ]
    return _table("cost-weights", "Reward by what cost weighs", columns, rows, block)


def curves_table(block: Block) -> Table:
    """Tokens of a request by its number: median and middle half of the featured arms."""
    columns = (
        Column("arm", "arm"),
        Column("step", "request", "count"),
        Column("median", "median", "count", "tokens"),
        Column("low", "quarter below", "count"),
        Column("high", "quarter above", "count"),
        Column("n", "n", "count", "stories that came so far"),
    )
    rows = [point for arm in block.featured for point in _curve(arm, [row.curve for row in block.section.rows[arm]])]
    missing = "" if rows else "A curve takes two stories of an arm."
    return _table("curves", "Tokens of each request", columns, rows, block, missing=missing)


def _curve(arm: str, curves: Sequence[Sequence[int]]) -> Iterator[dict[str, Cell]]:
    longest = max(map(len, curves), default=0)
    for step in range(longest):
        here = [curve[step] for curve in curves if len(curve) > step]
        if len(here) < max(2, _SHOWN * len(curves)):
            return
        low, middle, high = quantiles(here, n=4, method="inclusive")
        yield {"arm": arm, "step": step + 1, "median": middle, "low": low, "high": high, "n": len(here)}


def regret_table(block: Block) -> Table:
    """How far each arm is below the one that knows the future, in reward, paired."""
    columns = (
        Column("arm", "arm"),
        Column("kind", "kind"),
        Column("regret", "regret", "number", "reward of the clairvoyant arm less its own"),
        Column("gap", "gap closed", "share", "of what lies between keeping everything and the clairvoyant arm"),
    )
    bound = block.champion("bound")
    if bound is None:
        missing = "No arm that knows the future has played here."
        return _table("regret", "Regret to the clairvoyant arm", columns, [], block, missing=missing)
    base = block.base
    found: list[tuple[float, str, dict[str, Cell]]] = []
    for arm in block.section.arms:
        if arm == bound:
            continue
        regret = block.gain(bound, arm, REWARD, block.bound)
        gap = block.gain(bound, base, REWARD, block.bound).value if base else 0.0
        closed = 1 - regret.value / gap if gap else None
        found.append((regret.value, arm, {"arm": arm, "kind": block.kinds[arm], "regret": regret, "gap": closed}))
    rows = [row for _, _, row in sorted(found, key=lambda one: one[:2])]
    about = f"Below {bound}, which knows what no policy can know."
    return _table("regret", "Regret to the clairvoyant arm", columns, rows, block, about=about)


def bounds_table(block: Block) -> Table:
    """What a replay says of each arm, from its optimistic to its pessimistic bound; success from there down to where each hidden need fails its step."""
    columns = (
        Column("arm", "arm"),
        Column("kind", "kind"),
        Column("cost_low", "cost, optimistic", "share"),
        Column("cost_high", "cost, pessimistic", "share"),
        Column("success_high", "success, optimistic", "share"),
        Column("success_low", "success, fails", "share", "a hidden need fails its step"),
    )
    if not all({"optimistic", "pessimistic", "fails"} <= row.judged.keys() for row in block.rows):
        missing = "These rows aren't judged by the bounds of a replay."
        return _table("bounds", "Bounds of the replay", columns, [], block, missing=missing)
    costs = {arm: block.figure(arm, COST, "optimistic").value for arm in block.section.arms}
    rows: list[dict[str, Cell]] = [
        {
            "arm": arm,
            "kind": block.kinds[arm],
            "cost_low": costs[arm],
            "cost_high": block.figure(arm, COST, "pessimistic").value,
            "success_high": block.figure(arm, SUCCESS, "optimistic").value,
            "success_low": block.figure(arm, SUCCESS, "fails").value,
        }
        for arm in sorted(costs, key=lambda arm: (costs[arm], arm))
    ]
    return _table("bounds", "Bounds of the replay", columns, rows, block)


def noticed_table(block: Block) -> Table:
    """Success of the featured arms by the chance that a stub is noticed."""
    columns = (
        Column("arm", "arm"),
        Column("chance", "chance", "number", "that a stub is noticed"),
        Column("success", "success", "share"),
        Column("reward", "reward", "number"),
        Column("n", "n", "count"),
    )
    rows: list[dict[str, Cell]] = []
    for arm in block.featured:
        mine = [row for row in block.section.rows[arm] if row.noticed]
        for chance in sorted({float(chance) for row in mine for chance in row.noticed}):
            judged = [one for row in mine for key, one in row.noticed.items() if float(key) == chance]
            rows.append(
                {
                    "arm": arm,
                    "chance": chance,
                    "success": _mean([one.success for one in judged]),
                    "reward": _mean([one.reward for one in judged]),
                    "n": len(judged),
                }
            )
    missing = "" if rows else "No row says what other chances would come to."
    return _table("noticed", "If stubs were noticed less often", columns, rows, block, missing=missing)


def _table(
    name: str,
    title: str,
    columns: tuple[Column, ...],
    rows: Sequence[Mapping[str, Cell]],
    block: Block,
    *,
    about: str = "",
    missing: str = "",
) -> Table:
    return Table(f"{name}-{block.name}", title, columns, tuple(rows), block.scope, about, missing=missing)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
