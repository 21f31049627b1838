"""Intervals for arms that played the same stories: a paired hierarchical bootstrap.

    paths (family, task, telling) ──drawn with replacement, from the outside in──▶ how often each story counts in each draw
    parts of a figure, one for each story ──counted so──▶ share, difference, ratio ──2.5 % and 97.5 %──▶ Interval

Stories of one family are more alike than others, and so are the tellings of one task. So what is drawn first is families, then tasks within each that was drawn, then
tellings; a family that was drawn twice draws its tasks twice. Both arms of a comparison are counted by the same draws: what makes a story hard is hard for both.

A figure is a sum of parts over a sum of parts, so a mean has 1 below.

Of three families one may be drawn three times in more than 1 draw of 27, so an interval is as wide as what the families differ by. That is right for a claim about families
that nobody saw. What is said of these very families takes them as they are (`fixed`), and draws within each.

What an interval takes to say anything is in `grounds`.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from trimtab.lab.corpora.intervals import Interval

DRAWS = 2_000
"""Draws for an interval."""
Part: TypeAlias = tuple[float, float]
"""Of one story: what is above the line of a figure, and below it."""
Path: TypeAlias = Sequence[str]
Array: TypeAlias = npt.NDArray[np.float64]


def counts_of(paths: Sequence[Path], draws: int = DRAWS, seed: int = 0, *, fixed: int = 0) -> Array:
    """Return how often each of `paths` counts in each draw, as `draws` rows. The outer `fixed` levels aren't drawn. The same arguments always give the same."""
    dice = np.random.default_rng(seed)
    counts = np.zeros((draws, len(paths)))
    _draw(dice, counts, list(range(len(paths))), paths, 0, np.ones(draws, dtype=np.int64), fixed)
    return counts


def _draw(
    dice: np.random.Generator,
    counts: Array,
    places: Sequence[int],
    paths: Sequence[Path],
    level: int,
    times: npt.NDArray[np.int64],
    fixed: int,
) -> None:
    """Draw below a node that was itself drawn `times` times. Each time it draws as many children as it has; over all of its times that is one multinomial."""
    children: dict[str | int, list[int]] = {}
    for place in places:
        deeper = level < len(paths[place])
        children.setdefault(paths[place][level] if deeper else place, []).append(place)
    if level < fixed:
        drawn = np.repeat(times[:, None], len(children), axis=1)
    else:
        drawn = dice.multinomial(times * len(children), np.full(len(children), 1 / len(children)))
    for column, (name, below) in enumerate(children.items()):
        if isinstance(name, int):
            counts[:, name] = drawn[:, column]
        else:
            _draw(dice, counts, below, paths, level + 1, drawn[:, column], fixed)


class Paired:
    """Stories that all arms of a comparison played. Parts are given in the order of `paths`."""

    def __init__(self, paths: Sequence[Path], *, draws: int = DRAWS, seed: int = 0, fixed: int = 0) -> None:
        self.paths, self._draws, self._seed, self._fixed = tuple(paths), draws, seed, fixed

    @cached_property
    def counts(self) -> Array:
        """How often each story counts in each draw."""
        return counts_of(self.paths, self._draws, self._seed, fixed=self._fixed)

    def share(self, parts: Sequence[Part]) -> Interval:
        """Return a figure with its 95 % interval."""
        return self._interval(*self._figure(parts))

    def gain(self, parts: Sequence[Part], above: Sequence[Part]) -> Interval:
        """Return by how much a figure is above that of another arm."""
        (value, drawn), (other, others) = self._figure(parts), self._figure(above)
        return self._interval(value - other, drawn - others)

    def ratio(self, parts: Sequence[Part], to: Sequence[Part]) -> Interval:
        """Return how many times a figure is that of another arm."""
        (value, drawn), (other, others) = self._figure(parts), self._figure(to)
        return self._interval(value / other if other else math.nan, _divided(drawn, others))

    def _figure(self, parts: Sequence[Part]) -> tuple[float, Array]:
        """The figure itself, and in each draw; nan where nothing is below the line."""
        if len(parts) != len(self.paths):
            raise ValueError(f"{len(parts)} parts for {len(self.paths)} stories")
        table = np.array(parts, dtype=np.float64).reshape(-1, 2)
        whole = math.fsum(below for _, below in parts)
        value = math.fsum(top for top, _ in parts) / whole if whole else math.nan
        drawn = self.counts @ table
        return value, _divided(drawn[:, 0], drawn[:, 1])

    def _interval(self, value: float, drawn: Array) -> Interval:
        known = drawn[~np.isnan(drawn)]
        if math.isnan(value) or not len(known):
            return Interval(value, math.nan, math.nan)
        low, high = np.quantile(known, (0.025, 0.975))
        return Interval(value, float(low), float(high))


def _divided(top: Array, below: Array) -> Array:
    shares: Array = np.divide(top, below, out=np.full(len(top), np.nan), where=below != 0)
    return shares
