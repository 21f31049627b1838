"""A section: the rows that may be put side by side. Tiers are never mixed, parts neither, and prices that were named (those of a recording always are) stand by themselves.

    rows ──tier, part, prices that were named──▶ sections ──stories that all arms played──▶ one Paired for all that is said there

What is left out, because some arm didn't play it, is counted and told.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from trimtab.lab.bench.deciders import Left, left_of
from trimtab.lab.bench.figures import COST, FIGURES, REWARD, SUCCESS, TOKENS, Figure, met
from trimtab.lab.bench.grounds import SEEDED, borne, lacking
from trimtab.lab.bench.paired import Paired, Part
from trimtab.lab.bench.row import CHANCES, Row, chance_key
from trimtab.lab.bench.verdict import Verdict, verdict
from trimtab.lab.corpora.intervals import Interval
from trimtab.lab.env.facts import Tier
from trimtab.lab.rewards.facts import Bound

COMPARED: tuple[Figure, ...] = (SUCCESS, COST, TOKENS, REWARD)
"""What is compared with another arm."""


@dataclass(frozen=True, slots=True)
class Key:
    """What all numbers of a section have in common. `regime`: empty where prices were drawn, story by story."""

    tier: Tier
    part: str
    regime: str = ""

    @property
    def title(self) -> str:
        """As a heading says it."""
        return " ".join(filter(None, (self.tier, self.part, self.regime and f"at {self.regime} prices")))


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The verdict on an arm under one bound, beside keeping everything in a window that holds it, and beside sending everything."""

    arm: str
    bound: Bound
    fitting: Verdict
    sent: Verdict


class Section:
    """Rows of one key, by arm, of the stories that all of `arms` played. `left_out`: stories that some arm didn't play. `of`: the section that these rows are a part of, whose seeds they share."""

    def __init__(self, key: Key, arms: Sequence[str], rows: Iterable[Row], *, of: "Section | None" = None) -> None:
        self.key, self._whole = key, of
        by_arm: dict[str, dict[tuple[str, int, int, str], Row]] = {arm: {} for arm in arms}
        for row in rows:
            if row.arm in by_arm:
                by_arm[row.arm][row.group] = row
        played = [found.keys() for found in by_arm.values() if found]
        everywhere = set.intersection(*map(set, played)) if played else set[tuple[str, int, int, str]]()
        self.left_out = len(set().union(*played)) - len(everywhere)
        groups = sorted(everywhere)
        self.rows = {arm: [found[group] for group in groups] for arm, found in by_arm.items() if found}
        self.arms = tuple(self.rows)

    @cached_property
    def paths(self) -> list[tuple[str, str, str]]:
        """Where each story stands, in the order of the rows."""
        return [row.path for row in self.rows[self.arms[0]]]

    @cached_property
    def paired(self) -> Paired:
        """The draws that all figures of this section share: families, tasks, tellings. For what is said beyond these families."""
        return Paired(self.paths)

    @cached_property
    def within(self) -> Paired:
        """Draws of tasks and tellings within each family (project), for what is said of these very ones."""
        return Paired(self.paths, fixed=1)

    @property
    def stories(self) -> int:
        """How many stories there are."""
        return len(self.paths)

    @property
    def units(self) -> tuple[str, ...]:
        """The families, or of recordings the projects, in alphabetical order."""
        return tuple(sorted({path[0] for path in self.paths}))

    @property
    def unit(self) -> str:
        """What a unit is called."""
        return "project" if self.key.tier == "T1" else "family"

    @property
    def tasks(self) -> int:
        """How many tasks (of recordings: sessions that share no messages) there are."""
        return len({path[:2] for path in self.paths})

    @property
    def seeds(self) -> int:
        """How many tellings a task has at most."""
        return len({row.seed for row in self.rows[self.arms[0]]})

    @cached_property
    def left(self) -> tuple[Left, ...]:
        """Of each arm how many decisions were left to the rules."""
        return tuple(left_of(arm, rows) for arm, rows in self.rows.items())

    @cached_property
    def lacks(self) -> str:
        """What these stories lack of what a claim takes; empty where one may be made."""
        seeds = (self._whole or self).seeds if self.key.tier in SEEDED else None
        return lacking(self.stories, len(self.units), seeds, unit=self.unit)

    @property
    def chances(self) -> tuple[float, ...]:
        """The chances that a stub is noticed under which all rows can be read; none of live work, where something noticed or didn't."""
        rows = [row for rows in self.rows.values() for row in rows]
        return tuple(chance for chance in CHANCES if all(chance_key(chance) in row.noticed for row in rows))

    @property
    def keep(self) -> str:
        """The arm that keeps everything; empty where none was played."""
        return next((arm for arm, rows in self.rows.items() if rows and rows[0].kind == "keep"), "")

    def parts(self, arm: str, figure: Figure, bound: Bound) -> list[Part]:
        """The parts of a figure of an arm, one for each story."""
        return [figure.part(row, bound) for row in self.rows[arm]]

    def figure(self, arm: str, figure: Figure, bound: Bound, *, within: bool = False) -> Interval:
        """A figure of an arm. `within`: with the interval that is about these families alone."""
        return self.share(self.parts(arm, figure, bound), within=within)

    def share(self, parts: Sequence[Part], *, within: bool = False) -> Interval:
        """The figure of some parts, one for each story, with its interval as far as that is known."""
        return borne((self.within if within else self.paired).share(parts), self.lacks)

    def gain(self, arm: str, against: str, figure: Figure, bound: Bound, *, within: bool = False) -> Interval:
        """By how much a figure of an arm is above that of another; of tokens how many times it is that."""
        if figure is TOKENS:
            return self.times(arm, against, figure, bound, within=within)
        mine, theirs = self.parts(arm, figure, bound), self.parts(against, figure, bound)
        return borne((self.within if within else self.paired).gain(mine, theirs), self.lacks)

    def times(self, arm: str, against: str, figure: Figure, bound: Bound, *, within: bool = False) -> Interval:
        """How many times a figure of an arm is that of another."""
        mine, theirs = self.parts(arm, figure, bound), self.parts(against, figure, bound)
        return borne((self.within if within else self.paired).ratio(mine, theirs), self.lacks)

    def only(self, units: Iterable[str]) -> "Section":
        """The section of some families or projects alone."""
        kept = frozenset(units)
        return Section(self.key, self.arms, (r for rows in self.rows.values() for r in rows if r.path[0] in kept))

    def verdicts(self) -> list[Verdicts]:
        """The verdicts on all arms; none where keeping everything wasn't played."""
        if not self.keep:
            return []
        return [self._verdicts(arm, bound) for arm in self.arms for bound in SUCCESS.bounds(self.key.tier)]

    def _verdicts(self, arm: str, bound: Bound) -> Verdicts:
        if self.lacks:
            return Verdicts(arm, bound, "too few", "too few")
        mine, sent = self.parts(arm, SUCCESS, bound), self.parts(self.keep, SUCCESS, bound)
        fitting = [(met(row, bound), 1.0) for row in self.rows[self.keep]]
        tokens = self.gain(arm, self.keep, TOKENS, bound).value
        return Verdicts(
            arm,
            bound,
            verdict(self.within.gain(mine, fitting), tokens),
            verdict(self.within.gain(mine, sent), tokens),
        )


def sections_of(rows: Sequence[Row], arms: Sequence[str]) -> list[Section]:
    """Return the sections of rows, for these arms in this order. Arms that played nothing in a section are left out of it."""
    by_key: dict[Key, list[Row]] = {}
    for row in rows:
        priced = row.tier == "T1" or "priced" in row.extra
        by_key.setdefault(Key(row.tier, row.part, row.regime if priced else ""), []).append(row)
    made = [Section(key, arms, by_key[key]) for key in sorted(by_key, key=lambda k: (k.tier, k.part, k.regime))]
    return [section for section in made if section.arms and section.stories]


def readings(tier: Tier) -> list[tuple[Figure, Bound]]:
    """All figures with the bounds under which they are read."""
    return [(figure, bound) for figure in FIGURES for bound in figure.bounds(tier)]
