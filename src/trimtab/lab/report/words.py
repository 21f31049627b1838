"""Sentences made of figures. Each says what its interval bears and nothing more.

    the whole interval on one side of zero   costs less / costs more, succeeds more often / less often
    an interval that holds zero              equal within its farther end, where that is near; else that nothing is shown
    a replay                                 the same under each bound, and what hangs on the bound is said to

The figures stand in the sentence, so whoever doubts it can check it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trimtab.lab.bench.deciders import MOSTLY, SAYS
from trimtab.lab.bench.figures import COST, SUCCESS, Figure
from trimtab.lab.bench.projects import Claim, claims
from trimtab.lab.corpora.intervals import Interval
from trimtab.lab.report.bearing import TOO_FEW, ZERO, bounded, known, side
from trimtab.lab.report.evidence import TIERS, Block
from trimtab.lab.report.table import Form, Table, number, told
from trimtab.lab.suite import REAL_PART

EQUAL = 0.03
"""Within this, a difference is called equal, with the number."""
SURE = 2
"""Price regimes at which a learned policy must be above the best rule."""
_CHOSE = ("train", "validation", REAL_PART)
"""Parts that are looked at on the way: the gate isn't judged by what was chosen on them, nor by what everybody sees before choosing."""


@dataclass(frozen=True, slots=True)
class Said:
    """Sentences about one thing."""

    about: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verbs:
    """What a difference is called: below zero, above zero, and around it."""

    below: str
    above: str
    equal: str
    unit: str = ""


PAID = Verbs("costs less", "costs more", "cost is equal")
SUCCEEDED = Verbs("succeeds less often", "succeeds more often", "success is equal", " points")


def difference(found: Interval, form: Form, verbs: Verbs) -> str:
    """Return one clause about a difference: which side of zero it is on, and its figures."""
    figures = _figures(found, form, verbs)
    open_ = f"whether it {verbs.below} or {verbs.above.split(' ', 1)[1]}"
    if not known(found):
        return f"{open_} isn't known: no story was played by both"
    if not bounded(found):
        return f"{open_} isn't known of so few ({figures})"
    where = side(found)
    if where:
        return f"it {verbs.above if where > 0 else verbs.below} ({figures})"
    within = max(-found.low, found.high)
    if within < ZERO:
        return f"{verbs.equal} ({figures})"
    if within <= EQUAL:
        spelt = number(within, "share").removesuffix(" %") + (verbs.unit or " %")
        return f"{verbs.equal} within {spelt} ({figures})"
    return f"{open_} isn't shown ({figures})"


def under_bounds(found: Mapping[str, Interval], form: Form, verbs: Verbs) -> str:
    """Return one clause about a difference that is read under several bounds."""
    if len(found) == 1:
        return difference(next(iter(found.values())), form, verbs)
    figures = "; ".join(f"{bound} {_figures(one, form, verbs)}" for bound, one in found.items())
    sides = {side(one) for one in found.values()}
    open_ = f"whether it {verbs.below} or {verbs.above.split(' ', 1)[1]}"
    if sides == {0}:
        return f"{open_} isn't shown under any bound ({figures})"
    if len(sides) > 1:
        return f"{open_} hangs on the bound ({figures})"
    return f"it {verbs.above if sides == {1} else verbs.below} under every bound ({figures})"


def _figures(found: Interval, form: Form, verbs: Verbs) -> str:
    return told(found, form).replace(" [", f"{verbs.unit} [", 1)


def against(block: Block, arm: str, base: str) -> str:
    """Return what may be said of an arm of a block beside another: cost, then success."""

    other = f"keeping everything (`{base}`)" if base == block.base else f"`{base}`"
    if block.section.lacks:
        return f"`{arm}` beside {other}: nothing is claimed: {block.section.lacks}."

    def by_bound(figure: Figure, *, relative: bool) -> dict[str, Interval]:
        ask = block.change if relative else block.gain
        return {bound: ask(arm, base, figure, bound) for bound in figure.bounds(block.tier)}

    paid = under_bounds(by_bound(COST, relative=True), "change", PAID)
    if block.tier == "T2" and block.figure(base, SUCCESS, block.bound).value == 0:
        paid = f"nothing is said of cost, since no work of `{base}` came to its end"
    succeeded = under_bounds(by_bound(SUCCESS, relative=False), "points", SUCCEEDED)
    return f"`{arm}` beside {other}: {paid}; {succeeded}."


def gate(found: Mapping[str, Interval], arm: str, rule: str) -> str:
    """Return whether a learned arm is above the best rule in reward at as many prices as shipping it as the default asks for. `found`: its gain at each."""
    clear = sum(side(one) > 0 for one in found.values())
    figures = ", ".join(f"{prices} {told(one, 'signed')}" for prices, one in found.items())
    verdict = "clears it" if clear >= SURE else "doesn't clear it"
    return (
        f"The gate for a default, a reward above the best rule with the whole interval over unseen families at {SURE} prices: `{arm}` {verdict}, "
        f"being above `{rule}` at {clear} of {len(found)} ({figures})."
    )


def summary(blocks: Sequence[Block], path: Table, ablation: Table, contrasts: Table) -> tuple[Said, ...]:
    """Return the page in a few sentences: each tier, the weightiest first, the path, the ablation, and what there is no data for."""
    said: list[Said] = []
    for block in blocks:
        if block.leads:
            same = [one for one in blocks if (one.tier, one.part) == (block.tier, block.part)]
            said.append(Said(block.title, _of_block(block, same, blocks)))
    said += [Said("The path", _steps(path)), Said("Credit", (*ablated(ablation), *contrasted(contrasts)))]
    missing = "; ".join(f"{tier}, {about}" for tier, about in TIERS if not any(block.tier == tier for block in blocks))
    if missing:
        said.append(Said("No data", (f"{missing}. Nothing on this page is about that.",)))
    return tuple(one for one in said if one.lines)


def _of_block(block: Block, same: Sequence[Block], blocks: Sequence[Block]) -> tuple[str, ...]:
    """`same`: the blocks of its tier and part, one for each kind of prices; the gate is over all of them, and is told with the first. `blocks`: all that there are."""
    arm, rule, base = block.champion("learned"), block.champion("rule"), block.base
    lines = []
    if arm and rule:
        lines.append(against(block, arm, rule))
    best = arm or rule
    if best and base:
        lines.append(against(block, best, base))
    if arm and rule and block is same[0] and block.part not in _CHOSE:
        lines.append(_gated(block, same, blocks, arm, rule))
    if arm and rule:
        found = [claim for claim in claims(block.section, rule) if claim.arm == arm]
        lines += [by_unit(found, block.section.unit)] if found else []
    return tuple(lines) or ("There is no learned arm and no rule to compare.",)


def _gated(block: Block, same: Sequence[Block], blocks: Sequence[Block], arm: str, rule: str) -> str:
    """The gate, where something else than these stories chose the arms, and the arm itself decided, in every tier."""
    if block.chosen_on is None and not block.candidate:
        return "The gate for a default isn't judged here: the best of each kind was chosen on these very stories."
    left = [(one.title, found) for one in blocks for found in one.section.left if found.arm == arm]
    if mostly := [f"{title} {found.figures}" for title, found in left if found.mostly]:
        return (
            f"The gate for a default: `{arm}` is refused, since {SAYS} in its place ({'; '.join(mostly)}): figures of the rules say nothing of it. "
            f"It takes an arm that makes at least {1 - MOSTLY:.0%} of its decisions itself, in every tier that it played."
        )
    gains = {prices: gain for one in same for prices, gain in one.gains_by_prices(arm, rule).items()}
    said = gate(gains, arm, rule)
    if unknown := [title for title, found in left if found.uncounted]:
        said += f" How many of its decisions were left to the rules isn't known ({'; '.join(unknown)}): rows of an older version don't say."
    return said


def by_unit(found: Sequence[Claim], unit: str) -> str:
    """Return where an arm is above another: a claim holds for the projects (or families) that it names, not for others."""
    words = {"not told apart from": "not shown to differ", "not judged against": "of too few to say"}
    parts = []
    for stand in ("above", "below", *words):
        named = [claim.project or "(none named)" for claim in found if claim.stand == stand]
        if named:
            parts.append(f"{words.get(stand, stand)} in {', '.join(named)}")
    return f"By {unit}, in reward, `{found[0].arm}` beside `{found[0].against}`: {'; '.join(parts)}."


def _steps(path: Table) -> tuple[str, ...]:
    """The path in one sentence: which steps are shown to be better than the one before, which aren't."""
    found: dict[str, list[str]] = {}
    for row in path.rows:
        change = row.get("reward_change")
        if isinstance(change, Interval):
            found.setdefault(str(row["says"]), []).append(f"{row['step']} ({told(change, 'signed')})")
    heads = {
        "better": "above the one before",
        "worse": "below the one before",
        "not shown": "not shown to differ from the one before",
        TOO_FEW: "of too few to say",
        "no data": "without data",
    }
    parts = [f"{', '.join(found[key])}: {head}" for key, head in heads.items() if key in found]
    return (f"Each step in reward. {'. '.join(parts)}.",) if parts else ()


def ablated(ablation: Table) -> tuple[str, ...]:
    """What each variant is over the clone that it began with: by what is shown."""
    found: dict[str, list[str]] = {}
    for row in ablation.rows:
        if isinstance(row.get("gain"), Interval):
            told_as = f"`{row['variant']}` branching {row['branching']} ({told(row['gain'], 'signed')})"
            found.setdefault(str(row["says"]), []).append(told_as)
    heads = {"better": "above it", "worse": "below it", "not shown": "not shown to differ", TOO_FEW: "of too few to say", "no data": "without data"}  # fmt: skip
    parts = [f"{', '.join(found[key])}: {head}" for key, head in heads.items() if key in found]
    return (f"Reward over the clone that training began with. {'. '.join(parts)}.",) if parts else ()


def contrasted(contrasts: Table) -> tuple[str, ...]:
    """Which way is shown to be above or below another, and of how many that isn't shown."""
    if not contrasts.rows:
        return ()
    shown = [
        f"`{row['one']}` is {'above' if row['says'] == 'better' else 'below'} `{row['other']}` ({told(row['change'], 'signed')})"
        for row in contrasts.rows
        if row["says"] in ("better", "worse")
    ]
    pairs = len(contrasts.rows)
    if not shown:
        return (
            f"Of {pairs} pairs of ways that differ in credit or branch points alone, none is shown to differ in reward.",
        )
    return (
        f"Of {pairs} pairs of ways that differ in credit or branch points alone, {len(shown)} differ: {', '.join(shown)}.",
    )
