"""Which rows belong together, which arm stands for its kind, and what may be said of an arm beside keeping everything.

    rows ──▶ Block (one tier, one part) ──▶ its Sample, its bound, its champions, its verdicts

Arms that stand for a kind are chosen on the part `validation` where there is one, never on the part that judges. Where there is none, the page says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from trimtab.lab.arms.arm import ArmKind
from trimtab.lab.bench.figures import REWARD, SUCCESS, TOKENS, Figure
from trimtab.lab.bench.row import Row
from trimtab.lab.bench.verdict import verdict
from trimtab.lab.env.facts import Tier
from trimtab.lab.report.sample import Sample, known
from trimtab.lab.rewards.facts import Bound

TIERS: tuple[tuple[Tier, str], ...] = (
    ("T2", "a scripted agent in real repositories with real tests"),
    ("T0", "generated tasks"),
    ("T1", "replays of recorded sessions"),
    ("T3", "a live model"),
)
"""The weightiest first: success in T2 is the gate, a live model is a look from outside."""
_PARTS = ("test", "eval", "validation", "train")
_LEARNED = 3
"""Learned arms that plots show by name."""


@dataclass(frozen=True)
class Block:
    """Rows of one tier and part. `choosing`: the rows on which champions are chosen."""

    tier: Tier
    part: str
    rows: tuple[Row, ...]
    choosing: tuple[Row, ...]

    @cached_property
    def sample(self) -> Sample:
        """The rows, ready to be asked."""
        return Sample(self.rows)

    @property
    def bound(self) -> Bound:
        """How they are judged where one figure is wanted: a recording's story has no expectation, so its upper bound."""
        return "optimistic" if self.tier == "T1" else "expected"

    def bounds(self, figure: Figure) -> tuple[Bound, ...]:
        """The bounds of a figure that all rows have."""
        found = tuple(bound for bound in figure.bounds(self.tier) if all(bound in row.judged for row in self.rows))
        return found or (self.bound,)

    @cached_property
    def kinds(self) -> dict[str, ArmKind]:
        """The kind of each arm."""
        return {row.arm: row.kind for row in self.rows}

    def of(self, *kinds: ArmKind) -> tuple[str, ...]:
        """The arms of these kinds."""
        return tuple(arm for arm in self.sample.arms if self.kinds[arm] in kinds)

    @property
    def base(self) -> str | None:
        """The arm that keeps everything, as it is sent."""
        kept = self.of("keep")
        return next((arm for arm in kept if arm in ("keep-all", "none")), next(iter(kept), None))

    @property
    def chosen_elsewhere(self) -> bool:
        """Whether champions were chosen on another part than the one that judges them."""
        return self.choosing is not self.rows

    def champion(self, *kinds: ArmKind) -> str | None:
        """The arm with the largest mean reward of these kinds, of equals the first by name. None without any."""
        sample = Sample(self.choosing)
        rewards = {arm: sample.value(arm, REWARD, self.bound) for arm in self.of(*kinds) if arm in sample.by_arm}
        return min(rewards, key=lambda arm: (-rewards[arm], arm)) if rewards else None

    @property
    def scope(self) -> str:
        """Tier, part, n and seeds, as each table says them."""
        seeds = self.sample.seeds
        each = sorted({len(rows) for rows in self.sample.by_arm.values()})
        n = " to ".join(f"{count:,}" for count in dict.fromkeys((each[0], each[-1])))
        part = f" · {self.part}" if self.part else ""
        shown = ", ".join(map(str, seeds[:8])) + (", …" if len(seeds) > 8 else "")
        stories = counted(self.sample.stories, "story", "stories")
        return f"{self.tier}{part} · {stories}, {counted(len(seeds), 'seed')} ({shown}) · n = {n} an arm"

    def verdict(self, arm: str) -> str:
        """The bench's verdict on an arm beside keeping everything as it is sent; none for what is no rival."""
        base = self.base
        if base is None or self.kinds[arm] in ("keep", "bound"):
            return "reference"
        tokens = self.sample.change(arm, base, TOKENS, self.bound)
        success = self.sample.gain(arm, base, SUCCESS, self.bound)
        return verdict(success, 1 + tokens.value) if known(success) and known(tokens) else "no data"

    @cached_property
    def featured(self) -> tuple[str, ...]:
        """The arms that plots show by name: one for each kind, and learned ones up to three."""
        rewards = {arm: self.sample.value(arm, REWARD, self.bound) for arm in self.of("learned")}
        learned = sorted(rewards, key=lambda arm: (-rewards[arm], arm))[:_LEARNED]
        chosen = (self.base, self.champion("rule"), self.champion("peer"), *learned, *self.of("bound")[:1])
        return tuple(dict.fromkeys(arm for arm in chosen if arm is not None))

    @property
    def name(self) -> str:
        """As names of files and anchors have it."""
        return f"{self.tier}-{self.part}".strip("-").lower()


def blocks(rows: Sequence[Row]) -> tuple[Block, ...]:
    """Return the rows by tier and part: the weightiest tier first, the part that judges before the one that chose."""
    order = [tier for tier, _ in TIERS]
    found: dict[tuple[Tier, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row.tier, row.part), []).append(row)
    made = []
    for (tier, part), mine in sorted(found.items(), key=lambda one: (order.index(one[0][0]), _rank(one[0][1]))):
        own = tuple(mine)
        choosing = own if part == "validation" else tuple(found.get((tier, "validation"), ()))
        made.append(Block(tier, part, own, choosing or own))
    return tuple(made)


def _rank(part: str) -> tuple[int, str]:
    return (_PARTS.index(part) if part in _PARTS else len(_PARTS), part)


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
