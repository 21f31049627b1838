"""The plot of a story: which request brings what, and which one needs it.

    level ──threads──▶ each: request that shows fact 1, request that uses it (and shows fact 2), …

How a `Level` is kept: a story has exactly `steps` requests; `lag` requests lie between the one whose calls bring a fact and the first one that uses it,
give or take a fifth, as far as the story has room (a chain of three facts has room for a third of it); about `distractors`
results that nothing needs come with each one that something does;
a large result has about `tokens`, and as many others are small
(under 200 tokens, a line or two are more than that).
"""

from dataclasses import dataclass, field
from random import Random

from trimtab.lab.tasks.material.pages import CHARS
from trimtab.lab.tasks.task import Level

LEAST_STEPS = 5
"""Requests of the shortest story."""


def seeded(family: str, seed: int, level: Level) -> Random:
    """The source of chance of a task. A string as a seed gives the same numbers on every Python."""
    if level.steps < LEAST_STEPS or min(level.lag, level.tokens) < 1 or level.distractors < 0:
        raise ValueError(
            f"no story has {level}: steps are at least {LEAST_STEPS}, lag and tokens at least 1; choose a longer one"
        )
    return Random(f"{family}/{seed}/{level.steps}/{level.lag}/{level.distractors}/{level.tokens}")


def lag_of(level: Level, links: int = 1) -> int:
    """Return the lag that a story has room for, when each of its threads is a chain of so many facts."""
    return max(1, min(level.lag, (level.steps - 3) // links))


def threads(
    rng: Random, level: Level, *, links: int = 1, first: int = 1, until: int | None = None
) -> list[tuple[int, ...]]:
    """Draw threads: for each the request that brings its first fact, then those that use one fact and bring the next; the last one only uses.

    `first`, `until`: no thread begins with an earlier or later request. No two threads begin with the same request. At least one thread is drawn.
    """
    lag = lag_of(level, links)
    # A thread takes a request more than it has facts, and each fact the requests that bring its distractors.
    wanted = max(1, round((level.steps - 1) / (links + 1 + links * level.distractors)))
    drawn: dict[int, tuple[int, ...]] = {}
    for _ in range(wanted * 3):
        gaps = [max(1, lag + rng.randint(-(lag // 5), lag // 5)) for _ in range(links)]
        room = min(level.steps - sum(gaps), level.steps if until is None else until)
        if len(drawn) == wanted or room < first:
            continue
        steps = [rng.randint(first, room)]
        for gap in gaps:
            steps.append(steps[-1] + gap)
        drawn.setdefault(steps[0], tuple(steps))
    if not drawn:
        drawn[first] = tuple(first + lag * link for link in range(links + 1))
    return [drawn[start] for start in sorted(drawn)]


@dataclass(slots=True)
class Sizes:
    """How long results are, in characters of a material."""

    rng: Random
    tokens: int
    _bag: list[bool] = field(default_factory=list)

    def result(self, material: str) -> int:
        """Of any two results one is large, in either order."""
        if not self._bag:
            self._bag = [True, False]
            self.rng.shuffle(self._bag)
        return self.large(material) if self._bag.pop() else self.small(material)

    def large(self, material: str) -> int:
        """About `tokens`."""
        return round(self.tokens * self.rng.uniform(0.9, 1.1) * CHARS[material])

    def small(self, material: str) -> int:
        """A part of it, up to a third."""
        return round(max(30.0, self.tokens * self.rng.uniform(0.04, 0.35)) * CHARS[material])
