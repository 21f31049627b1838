"""What is put side by side: a section of the bench, the arm that stands for each kind there, and differences as the page tells them.

    rows ──sections of the bench──▶ Block: tier, part and prices, its champions, gains and changes

Statistics are the bench's, so a page and a table of `trimtab bench` say the same. Its intervals are about the families that were played; only what is claimed of others, as at
the gate, draws families too. Arms that stand for a kind are chosen on the part `validation` where there is one, never on the
part that judges; the candidate for which the test part was opened is the learned one there. Where nothing chose, the page says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from trimtab.lab.arms.arm import ArmKind
from trimtab.lab.bench.figures import REWARD, Figure
from trimtab.lab.bench.row import Row
from trimtab.lab.bench.section import Key, Section, sections_of
from trimtab.lab.corpora.intervals import Interval
from trimtab.lab.env.facts import Tier
from trimtab.lab.report.bearing import UNKNOWN
from trimtab.lab.rewards.facts import Bound
from trimtab.lab.suite import REAL_PART

TIERS: tuple[tuple[Tier, str], ...] = (
    ("T2", "a scripted agent in real repositories with real tests"),
    ("T0", "generated tasks"),
    ("T1", "replays of recorded sessions"),
    ("T3", "a live model"),
)
"""The weightiest first: success in T2 is the gate, a live model is a look from outside."""
REAL = "tasks made of published texts, never learned from and never used to choose"
"""What the part `real` of T0 is."""
_PARTS = ("test", "eval", "validation", "train", REAL_PART)
_LEARNED = 3
"""Learned arms that plots show by name."""


@dataclass(frozen=True)
class Block:
    """A section with what chose between its arms: another section, an opened candidate, or nothing. `leads`: it is of the part that judges its tier, or real material, which stands beside every part."""

    section: Section
    chosen_on: Section | None = None
    candidate: str = ""
    leads: bool = True

    @property
    def tier(self) -> Tier:
        """Where its numbers come from."""
        return self.section.key.tier

    @property
    def part(self) -> str:
        """Which part of the suite, or of the recordings."""
        return self.section.key.part

    @property
    def name(self) -> str:
        """As names of files and anchors have it."""
        key = self.section.key
        return "-".join(filter(None, (key.tier, key.part, key.regime))).lower()

    @property
    def title(self) -> str:
        """As a heading has it."""
        key = self.section.key
        return " · ".join(filter(None, (key.tier, key.part, key.regime and f"{key.regime} prices")))

    @property
    def about(self) -> str:
        """What was played."""
        return REAL if self.part == REAL_PART else dict(TIERS)[self.tier]

    @property
    def bound(self) -> Bound:
        """How it is judged where one figure is wanted: nobody knows what a recorded agent would have noticed, so its upper end."""
        return bound_of(self.tier)

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows of all arms."""
        return tuple(row for rows in self.section.rows.values() for row in rows)

    @cached_property
    def kinds(self) -> Mapping[str, ArmKind]:
        """The kind of each arm."""
        return {arm: rows[0].kind for arm, rows in self.section.rows.items()}

    def of(self, *kinds: ArmKind) -> tuple[str, ...]:
        """The arms of these kinds."""
        return tuple(arm for arm in self.section.arms if self.kinds[arm] in kinds)

    @property
    def base(self) -> str | None:
        """The arm that keeps everything."""
        return self.section.keep or None

    def champion(self, kind: ArmKind) -> str | None:
        """The arm with the largest reward of a kind, of equals the first by name; the candidate, where the test part was opened for one. None without any."""
        if self.kinds.get(self.candidate) == kind:
            return self.candidate
        section = (kind != "bound" and self.chosen_on) or self.section  # what is no rival needs no choice elsewhere
        bound = bound_of(section.key.tier)
        rewards = {arm: section.figure(arm, REWARD, bound).value for arm in self.of(kind) if arm in section.arms}
        return min(rewards, key=lambda arm: (-rewards[arm], arm)) if rewards else None

    @cached_property
    def featured(self) -> tuple[str, ...]:
        """The arms that plots show by name: one for each kind, and learned ones up to three."""
        learned = sorted(self.of("learned"), key=lambda arm: (-self.section.figure(arm, REWARD, self.bound).value, arm))
        best = self.champion("learned")
        chosen = (self.base, self.champion("rule"), self.champion("peer"), best, *learned[:_LEARNED], self.champion("bound"))  # fmt: skip
        return tuple(dict.fromkeys(arm for arm in chosen if arm is not None))

    @property
    def scope(self) -> str:
        """Tier, part, n and seeds, as each table says them."""
        section = self.section
        one, many, task = ("project", "projects", "session") if self.tier == "T1" else ("family", "families", "task")
        parts = [counted(len(section.units), one, many), counted(section.tasks, task)]
        if self.tier != "T1":
            seeds = sorted({row.seed for row in self.rows})
            parts.append(f"{counted(len(seeds), 'seed')} ({', '.join(map(str, seeds[:8]))}{', …' if len(seeds) > 8 else ''})")  # fmt: skip
        return f"{self.title} · {', '.join(parts)} · n = {section.stories:,} an arm"

    def figure(self, arm: str, figure: Figure, bound: Bound) -> Interval:
        """A figure of an arm, with the interval that is about these families (or projects)."""
        return self.section.figure(arm, figure, bound, within=True)

    def gain(self, arm: str, base: str, figure: Figure, bound: Bound) -> Interval:
        """By how much a figure of an arm is above that of another, in these families."""
        return self.section.gain(arm, base, figure, bound, within=True)

    def change(self, arm: str, base: str, figure: Figure, bound: Bound) -> Interval:
        """The same as a share of the other arm's."""
        times = self.section.times(arm, base, figure, bound, within=True)
        return Interval(times.value - 1, times.low - 1, times.high - 1)

    def gains_by_prices(self, arm: str, base: str) -> dict[str, Interval]:
        """The gain in reward at each kind of prices by itself, with the interval that is about families that nobody saw."""
        found = {}
        for regime in sorted({row.regime for row in self.rows}):
            mine = [row for row in self.rows if row.regime == regime]
            part = Block(Section(Key(self.tier, self.part, regime), (arm, base), mine, of=self.section))
            both = {arm, base} <= set(part.section.arms) and part.section.stories
            found[regime] = part.section.gain(arm, base, REWARD, self.bound) if both else UNKNOWN
        return found


def bound_of(tier: Tier) -> Bound:
    """Return the bound under which a tier is judged where one figure is wanted."""
    return "optimistic" if tier == "T1" else "expected"


def blocks_of(rows: Sequence[Row], candidate: str = "") -> tuple[Block, ...]:
    """Return the rows by tier, part and prices: the weightiest tier first, the part that judges before the one that chose. `candidate`: for which arm the test part was opened."""
    arms = tuple(dict.fromkeys(row.arm for row in rows))
    order = [tier for tier, _ in TIERS]
    sections = sorted(
        sections_of(rows, arms), key=lambda one: (order.index(one.key.tier), *_rank(one.key.part), one.key.regime)
    )
    made = []
    for section in sections:
        key = section.key
        judging = next(one.key.part for one in sections if one.key.tier == key.tier)
        leads = key.part in (judging, REAL_PART)
        made.append(Block(section, _chooser(section, sections), candidate, leads))
    return tuple(made)


def _chooser(section: Section, sections: Sequence[Section]) -> Section | None:
    """The section on which the arms that stand for a kind are chosen: validation of the same tier and prices, else of generated tasks, which all tiers' arms play."""
    key = section.key
    if key.part == "validation":
        return section
    chose = [one for one in sections if one.key.part == "validation"]
    ranks = ((key.tier, key.regime), (key.tier, ""), ("T0", key.regime), ("T0", ""))
    known = {(one.key.tier, one.key.regime): one for one in reversed(chose)}
    return next(
        (known[rank] for rank in ranks if rank in known), next((one for one in chose if one.key.tier == "T0"), None)
    )


def _rank(part: str) -> tuple[int, str]:
    return (_PARTS.index(part) if part in _PARTS else len(_PARTS), part)


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
