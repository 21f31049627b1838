"""Claims by project: what holds of each project by itself, and what a choice that was made on the others came to there.

    section ──each project (family, where stories are generated) held out in turn──▶ on the others: the arm with the largest reward is chosen
                                                                                  └▶ on the one:   that arm, and every other, against the base

A claim is worded per project. `above` and `below` say that the interval leaves out 0, under every bound that a recording has; anything else isn't told apart. Nothing is
claimed of a project whose stories lack what a claim takes (`grounds`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from trimtab.lab.bench.figures import REWARD
from trimtab.lab.bench.section import Section
from trimtab.lab.corpora.intervals import Interval
from trimtab.lab.rewards.facts import Bound

Stand: TypeAlias = Literal["above", "below", "not told apart from", "not judged against"]
_NO_CANDIDATES = frozenset({"bound", "random", "keep"})


@dataclass(frozen=True, slots=True)
class Claim:
    """How an arm stands to the base in one project, by reward. `chosen`: the arm that the other projects chose; `lacks`: what its stories lack of what a claim takes."""

    project: str
    arm: str
    against: str
    stories: int
    gains: tuple[tuple[Bound, Interval], ...]
    chosen: bool
    lacks: str = ""

    @property
    def stand(self) -> Stand:
        """In a word."""
        if self.lacks:
            return "not judged against"
        if all(gain.low > 0 for _, gain in self.gains):
            return "above"
        return "below" if all(gain.high < 0 for _, gain in self.gains) else "not told apart from"


def claims(section: Section, against: str) -> Iterator[Claim]:
    """Yield the claims about every other arm in every project of a section; none where there is only one."""
    bounds = REWARD.bounds(section.key.tier)
    for project in section.units if len(section.units) > 1 else ():
        held, rest = section.only([project]), section.only(set(section.units) - {project})
        chosen = chosen_on(rest, [arm for arm in section.arms if arm != against])
        for arm in section.arms:
            if arm != against:
                gains = tuple((bound, held.gain(arm, against, REWARD, bound)) for bound in bounds)
                yield Claim(project, arm, against, held.stories, gains, arm == chosen, held.lacks)


def chosen_on(section: Section, arms: Sequence[str]) -> str:
    """Return the arm with the largest reward (of recordings: under the lower bound) among those that could be shipped; empty where there is none."""
    bound = REWARD.bounds(section.key.tier)[0]
    able = [arm for arm in arms if section.rows[arm][0].kind not in _NO_CANDIDATES]
    return max(able, key=lambda arm: section.figure(arm, REWARD, bound).value, default="")


def worded(found: Sequence[Claim], unit: str) -> list[str]:
    """Return what the claims come to as sentences: first each arm over all projects, then what was chosen on the others."""
    lines = []
    for arm in dict.fromkeys(claim.arm for claim in found):
        mine = [claim for claim in found if claim.arm == arm]
        parts = [
            f"{stand} {mine[0].against} in {', '.join(c.project for c in mine if c.stand == stand)}"
            for stand in dict.fromkeys(claim.stand for claim in mine)
        ]
        lines.append(f"{arm} is {'; '.join(parts)}.")
    for claim in found:
        if claim.chosen:
            lines.append(
                f"Chosen without the {unit} {claim.project}, {claim.arm} is {claim.stand} {claim.against} there."
            )
    return lines
