"""Which rows belong together, which arm stands for its kind, and what may be said of an arm beside keeping everything.

    rows ──▶ Block (one tier, one part) ──▶ its Sample, its bound, its champions

Arms that stand for a kind are chosen on the part `validation` where there is one, never on the part that judges. Where there is none, the page says so.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from trimtab.lab.arms.arm import ArmKind
from trimtab.lab.bench.row import Row
from trimtab.lab.env.facts import Tier
from trimtab.lab.report.estimates import TOKENS, Estimate, Metric, Sample, reward, success

Verdict: TypeAlias = Literal["good", "over-compressed", "not managing", "costs more", "unclear", "reference"]
TIERS: tuple[tuple[Tier, str], ...] = (
    ("T2", "a scripted agent in real repositories with real tests"),
    ("T0", "generated tasks"),
    ("T1", "replays of recorded sessions"),
    ("T3", "a live model"),
)
"""The weightiest first: success in T2 is the gate, a live model is a look from outside."""
_PARTS = ("test", "validation", "train")
KEPT: ArmKind = "keep"
NEAR = 0.05
"""Tokens within this share of keeping everything are no saving."""


@dataclass(frozen=True)
class Block:
    """Rows of one tier and part. `bound`: how they are judged where one figure is wanted."""

    tier: Tier
    part: str
    rows: tuple[Row, ...]
    choosing: tuple[Row, ...]
    """Rows of the part on which champions are chosen."""

    @cached_property
    def sample(self) -> Sample:
        """The rows, ready to be resampled."""
        return Sample(self.rows)

    @property
    def bound(self) -> str:
        """`expected` where all rows have it, else `optimistic`."""
        return "expected" if all("expected" in row.judged for row in self.rows) else "optimistic"

    @cached_property
    def kinds(self) -> dict[str, ArmKind]:
        """The kind of each arm."""
        return {row.arm: row.kind for row in self.rows}

    def of(self, *kinds: ArmKind) -> tuple[str, ...]:
        """The arms of these kinds."""
        return tuple(arm for arm in self.sample.arms if self.kinds[arm] in kinds)

    @property
    def base(self) -> str | None:
        """The arm that keeps everything."""
        return next(iter(self.of(KEPT)), None)

    @cached_property
    def chosen_elsewhere(self) -> bool:
        """Whether champions were chosen on another part than the one that judges them."""
        return self.choosing is not self.rows

    def champion(self, *kinds: ArmKind) -> str | None:
        """The arm with the largest mean reward of these kinds, of equals the first by name. None without any."""
        sample = Sample(self.choosing, draws=0) if self.chosen_elsewhere else self.sample
        mine = [arm for arm in self.of(*kinds) if arm in sample.by_arm]
        best = {arm: _mean(sample.by_arm[arm].values(), reward(self.bound)) for arm in mine}
        return min(best, key=lambda arm: (-best[arm], arm)) if best else None

    @property
    def scope(self) -> str:
        """Tier, part, n and seeds, as each table says them."""
        seeds = self.sample.seeds
        arms = {arm: len(rows) for arm, rows in self.sample.by_arm.items()}
        each = sorted(set(arms.values()))
        n = f"{each[0]:,}" if len(each) == 1 else f"{each[0]:,} to {each[-1]:,}"
        part = f" · {self.part}" if self.part else ""
        return (
            f"{self.tier}{part} · {_counted(self.sample.stories, 'story', 'stories')}, {_counted(len(seeds), 'seed')}"
            f" ({', '.join(map(str, seeds[:8]))}{', …' if len(seeds) > 8 else ''}) · n = {n} an arm"
        )

    def verdict(self, arm: str) -> Verdict:
        """What may be said of an arm beside keeping everything: see `verdict_of`."""
        base = self.base
        if base is None or self.kinds[arm] in (KEPT, "bound"):
            return "reference"
        tokens = self.sample.difference(arm, base, TOKENS, relative=True)
        return verdict_of(tokens, self.sample.difference(arm, base, success(self.bound)))

    @cached_property
    def featured(self) -> tuple[str, ...]:
        """The arms that plots show by name: one for each kind, all learned ones up to three."""
        learned = sorted(self.of("learned"), key=lambda arm: -self._reward_of(arm))[:3]
        chosen = (self.base, self.champion("rule"), self.champion("peer"), *learned, *self.of("bound")[:1])
        return tuple(dict.fromkeys(arm for arm in chosen if arm is not None))

    def _reward_of(self, arm: str) -> float:
        return _mean(self.sample.by_arm[arm].values(), reward(self.bound))


def verdict_of(tokens: Estimate, succeeded: Estimate) -> Verdict:
    """Return the verdict by an arm's difference to keeping everything: of tokens, as a share of it, and of success.

    over-compressed   fewer tokens, and the interval of success is below zero
    not managing      the interval of success holds zero, and tokens are within 5 %
    costs more        more tokens than that
    good              fewer tokens, and success isn't shown to be below
    """
    if not (tokens.known and succeeded.known):
        return "unclear"
    below = succeeded.high < 0
    if tokens.value > NEAR:
        return "costs more"
    if below:
        return "over-compressed" if tokens.value < 0 else "unclear"
    return "not managing" if tokens.value >= -NEAR else "good"


def blocks(rows: Sequence[Row]) -> tuple[Block, ...]:
    """Return the rows by tier and part: the weightiest tier first, the part that judges before the one that chose."""
    order = [tier for tier, _ in TIERS]
    found: dict[tuple[Tier, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row.tier, row.part), []).append(row)
    made = []
    for (tier, part), mine in sorted(found.items(), key=lambda one: (order.index(one[0][0]), _rank(one[0][1]))):
        own = tuple(mine)
        choosing = tuple(found.get((tier, "validation"), ())) if part != "validation" else own
        made.append(Block(tier, part, own, choosing or own))
    return tuple(made)


def _rank(part: str) -> tuple[int, str]:
    return (_PARTS.index(part) if part in _PARTS else len(_PARTS), part)


def _mean(rows: Iterable[Row], metric: Metric) -> float:
    sums = [metric.of(row) for row in rows]
    whole = sum(w for _, w in sums)
    return sum(p for p, _ in sums) / whole if whole else float("-inf")


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
