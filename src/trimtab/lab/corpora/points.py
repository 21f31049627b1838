"""Decision points: moments in real sessions at which some results have to go, with what happened to each of them afterwards.

    trajectory ──every 40 calls──▶ Point: facts of the candidates (what was known) + which of them the next 40 calls needed (what came)
    scores ──keep the best while they fit──▶ share of what was needed that is kept when 10, 25 or 50 % of the characters are

Needed is a candidate whose strings one of the next 40 calls wrote, though nothing had shown them again since the decision, nor within ten requests before, or
whose file one of them read again. A point whose 40 calls aren't all there, or that has fewer than five candidates, is none.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from trimtab.lab.corpora.facts import EVERY, Facts, facts_at
from trimtab.lab.corpora.trajectory import Trajectory

LEAST_CANDIDATES = 5
"""Candidates of the smallest point: among fewer there is little to choose."""
SHARES = (0.10, 0.25, 0.50)
"""Of the characters of all candidates, what is kept."""


@dataclass(frozen=True, slots=True)
class Point:
    """One decision. `needed` has a word for each of `facts`; a ranker that is no oracle doesn't look at it."""

    session: str
    project: str
    family: str
    step: int
    facts: tuple[Facts, ...]
    needed: tuple[bool, ...]

    @property
    def size(self) -> int:
        """Characters of all candidates."""
        return sum(one.size for one in self.facts)


Scores: TypeAlias = Sequence[float]
"""One for each candidate of a point, the higher the sooner it is kept."""
Ranker: TypeAlias = Callable[[Point], Scores]
"""Scores the candidates of a point."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Of the needed results of a point, how many were kept."""

    kept: int
    needed: int


def points_of(trajectory: Trajectory) -> Iterator[Point]:
    """Yield the decision points of a session."""
    place = trajectory.place
    for step in range(EVERY, len(trajectory.steps) - EVERY + 1, EVERY):
        facts = facts_at(trajectory, step)
        if len(facts) >= LEAST_CANDIDATES:
            later = needed_after(trajectory, step)
            needed = tuple(one.result in later for one in facts)
            yield Point(place.name, place.project, place.family, step, facts, needed)


def needed_after(trajectory: Trajectory, step: int) -> frozenset[int]:
    """Return the numbers of the results that the 40 calls behind request `step` needed, of those that had come by then."""
    return frozenset(
        need.result
        for need in trajectory.needs
        if step < need.step <= step + EVERY and (need.reread or need.fresh(since=step))
    )


def kept_at(point: Point, scores: Scores, share: float) -> Kept:
    """Keep results, the best first, as long as they fit into `share` of the characters; one that doesn't fit is passed over. Of equals the newer goes first."""
    room = share * point.size
    kept = 0
    for place in sorted(range(len(scores)), key=lambda n: (scores[n], n), reverse=True):
        size = point.facts[place].size
        if size <= room:
            room -= size
            kept += point.needed[place]
    return Kept(kept, sum(point.needed))


def scored(points: Iterable[Point], ranker: Ranker) -> tuple[Scores, ...]:
    """Return what a ranker says of each point."""
    return tuple(ranker(point) for point in points)


def kept_by(points: Iterable[Point], scores: Iterable[Scores], share: float) -> list[Kept]:
    """Return what is kept at each point."""
    return [kept_at(point, score, share) for point, score in zip(points, scores, strict=True)]


def recall_at(points: Iterable[Point], scores: Iterable[Scores], share: float) -> float:
    """Return the share of all needed results, of all points together, that is kept: 0 to 1; nan where nothing was needed."""
    kept = kept_by(points, scores, share)
    needed = sum(one.needed for one in kept)
    return sum(one.kept for one in kept) / needed if needed else math.nan
