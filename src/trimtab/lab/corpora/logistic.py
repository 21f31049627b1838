"""Logistic regression, small enough to read: thousands of rows, tens or hundreds of columns, in plain Python.

    rows ──standardised──▶ Newton steps on  Σ log(1 + exp(-± z)) + l2/2 · Σ w²  ──▶ Logistic
    rows ──with all products of two columns──▶ the same                        ──▶ Quadratic

A Newton step solves a linear system by conjugate gradients (Hestenes and Stiefel 1952), which only asks what the curvature does to a vector: two passes over the
rows, and no matrix. The intercept isn't penalised, and with it the mean of the fitted chances is the share of positives.
"""

import math
from collections.abc import Sequence
from itertools import combinations_with_replacement, starmap
from operator import mul
from typing import TypeAlias

import msgspec

Vector: TypeAlias = Sequence[float]
_NEWTON = 30
_HALVINGS = 20
_ENOUGH = 1e-9
"""Part of the loss that one more Newton step would have to gain."""
_NEAR = 1e-10
"""Part of a linear system's right side that may be left over, squared."""
_FAR = 30.0
"""A chance nearer to 0 or 1 than this many nats is none that data could tell apart."""


class Logistic(msgspec.Struct, frozen=True):
    """A fitted model. Columns are standardised by `mean` and `scale` before they are weighed."""

    mean: tuple[float, ...]
    """Of each column."""
    scale: tuple[float, ...]
    """Standard deviation of each column; 1 where it is constant."""
    weights: tuple[float, ...]
    """Of each standardised column."""
    bias: float
    """Log odds of an average row."""

    def chance(self, row: Vector) -> float:
        """Return the chance that a row is positive, 0 to 1."""
        return _sigmoid(self.bias + _dot(_standard(row, self.mean, self.scale), self.weights))


class Quadratic(msgspec.Struct, frozen=True):
    """A fitted model that also weighs products: what a column says may hang on another one."""

    mean: tuple[float, ...]
    """Of each column."""
    scale: tuple[float, ...]
    """Standard deviation of each column; 1 where it is constant."""
    model: Logistic
    """Of the standardised columns, and the products of each two of them."""

    def chance(self, row: Vector) -> float:
        """Return the chance that a row is positive, 0 to 1."""
        return self.model.chance(_with_products(_standard(row, self.mean, self.scale)))


def fit(rows: Sequence[Vector], positive: Sequence[bool], *, l2: float = 1.0) -> Logistic:
    """Return the model that fits best. `l2` is what a weight of one costs, in nats, times two. Raises `ValueError` without rows of both kinds."""
    if len(rows) != len(positive) or len(set(positive)) < 2:
        raise ValueError("a fit takes as many labels as rows, and rows of both kinds")
    mean, scale = _moments(rows)
    loss = _Loss([[*_standard(row, mean, scale), 1.0] for row in rows], positive, [l2] * len(mean) + [0.0])
    share = sum(positive) / len(positive)
    weights = [0.0] * len(mean) + [math.log(share / (1 - share))]
    value = loss.at(weights)
    for _ in range(_NEWTON):
        step = loss.step(weights)
        for _ in range(_HALVINGS):  # a full step may overshoot where the loss is far from a parabola
            tried = [w - s for w, s in zip(weights, step, strict=True)]
            now = loss.at(tried)
            if now <= value:
                break
            step = [s / 2 for s in step]
        else:
            break
        gained, weights, value = value - now, tried, now
        if gained <= _ENOUGH * max(1.0, abs(value)):
            break
    return Logistic(tuple(mean), tuple(scale), tuple(weights[:-1]), weights[-1])


def fit_quadratic(rows: Sequence[Vector], positive: Sequence[bool], *, l2: float = 100.0) -> Quadratic:
    """Return the model with products that fits best. There are many, so that a weight costs more than in `fit`. Raises `ValueError` as that does."""
    if not rows:
        raise ValueError("a fit takes as many labels as rows, and rows of both kinds")
    mean, scale = _moments(rows)
    wide = [_with_products(_standard(row, mean, scale)) for row in rows]
    return Quadratic(tuple(mean), tuple(scale), fit(wide, positive, l2=l2))


class _Loss:
    """The loss of standardised rows that end in a 1. `penalty` of each weight."""

    def __init__(self, rows: Sequence[Vector], positive: Sequence[bool], penalty: Vector) -> None:
        self.rows, self.positive, self.penalty = rows, positive, penalty
        self.columns = list(zip(*rows, strict=True))

    def at(self, weights: Vector) -> float:
        """The loss."""
        total = sum(p * w * w for p, w in zip(self.penalty, weights, strict=True)) / 2
        for odds, yes in zip(self._odds(weights), self.positive, strict=True):
            margin = odds if yes else -odds
            total += math.log1p(math.exp(-margin)) if margin > -_FAR else -margin
        return total

    def step(self, weights: Vector) -> list[float]:
        """What a Newton step takes away."""
        chances = [_sigmoid(odds) for odds in self._odds(weights)]
        curves = [chance * (1 - chance) for chance in chances]
        off = [chance - yes for chance, yes in zip(chances, self.positive, strict=True)]
        left = self._weighed(off, weights)
        found = [0.0] * len(left)
        along, size = left, _dot(left, left)
        enough = _NEAR * size
        for _ in range(2 * len(left)):
            if size <= enough:
                break
            bent = self._weighed(list(map(mul, curves, self._odds(along))), along)
            curvature = _dot(along, bent)
            if curvature <= 0:  # flat to the last digit: there is nowhere to go along here
                break
            part = size / curvature
            found = [f + part * a for f, a in zip(found, along, strict=True)]
            left = [v - part * b for v, b in zip(left, bent, strict=True)]
            before, size = size, _dot(left, left)
            along = [v + size / before * a for v, a in zip(left, along, strict=True)]
        return found

    def _odds(self, weights: Vector) -> list[float]:
        return [_dot(row, weights) for row in self.rows]

    def _weighed(self, amounts: Vector, weights: Vector) -> list[float]:
        """Each column times `amounts`, and what the penalty adds."""
        return [_dot(column, amounts) + p * w for column, p, w in zip(self.columns, self.penalty, weights, strict=True)]


def _dot(left: Vector, right: Vector) -> float:
    return sum(map(mul, left, right), 0.0)


def _standard(row: Vector, mean: Vector, scale: Vector) -> list[float]:
    return [(v - m) / s for v, m, s in zip(row, mean, scale, strict=True)]


def _with_products(row: Vector) -> list[float]:
    return [*row, *starmap(mul, combinations_with_replacement(row, 2))]


def _moments(rows: Sequence[Vector]) -> tuple[list[float], list[float]]:
    count = len(rows)
    columns = list(zip(*rows, strict=True))
    means = [math.fsum(column) / count for column in columns]
    spreads = [
        math.sqrt(math.fsum((v - m) ** 2 for v in column) / count) for column, m in zip(columns, means, strict=True)
    ]
    return means, [spread or 1.0 for spread in spreads]


def _sigmoid(odds: float) -> float:
    if odds >= 0:
        return 1 / (1 + math.exp(-odds))
    grown = math.exp(max(odds, -700.0))
    return grown / (1 + grown)
