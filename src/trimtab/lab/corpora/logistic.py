"""Logistic regression, small enough to read: thousands of rows, tens of columns, in plain Python.

    rows ──standardised──▶ Newton steps on  Σ log(1 + exp(-± z)) + l2/2 · Σ w²  ──▶ Logistic

Newton's method on a convex loss: each step solves one linear system of the size of a row; ten steps are plenty. The intercept isn't penalised, and with it the
mean of the fitted chances is the share of positives.
"""

import math
from collections.abc import Sequence
from operator import mul

import msgspec

Vector = Sequence[float]
_STEPS = 25
_ENOUGH = 1e-8
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
        total = self.bias
        for value, mean, scale, weight in zip(row, self.mean, self.scale, self.weights, strict=True):
            total += weight * (value - mean) / scale
        return _sigmoid(total)


def fit(rows: Sequence[Vector], positive: Sequence[bool], *, l2: float = 1.0) -> Logistic:
    """Return the model that fits best. `l2` is what a weight of one costs, in nats, times two. Raises `ValueError` without rows of both kinds."""
    if len(rows) != len(positive) or len(set(positive)) < 2:
        raise ValueError("a fit takes as many labels as rows, and rows of both kinds")
    mean, scale = _moments(rows)
    scaled = [[(v - m) / s for v, m, s in zip(row, mean, scale, strict=True)] + [1.0] for row in rows]
    width = len(mean) + 1
    penalty = [l2] * (width - 1) + [0.0]
    share = sum(positive) / len(positive)
    weights = [0.0] * (width - 1) + [math.log(share / (1 - share))]
    loss = _loss(scaled, positive, weights, penalty)
    for _ in range(_STEPS):
        gradient, hessian = _derivatives(scaled, positive, weights, penalty)
        step = solved(hessian, gradient)
        # A full step may overshoot where the loss is far from a parabola: halve it until it helps.
        for _ in range(_STEPS):
            tried = [w - s for w, s in zip(weights, step, strict=True)]
            now = _loss(scaled, positive, tried, penalty)
            if now <= loss:
                break
            step = [s / 2 for s in step]
        else:
            break
        gained, weights, loss = loss - now, tried, now
        if gained <= _ENOUGH * max(1.0, abs(loss)):
            break
    return Logistic(tuple(mean), tuple(scale), tuple(weights[:-1]), weights[-1])


def solved(matrix: Sequence[Vector], right: Vector) -> list[float]:
    """Return x of matrix · x = right for a symmetric positive definite matrix, by Cholesky. Raises `ValueError` for another one."""
    size = len(right)
    lower = [[0.0] * size for _ in range(size)]
    for row in range(size):
        for column in range(row + 1):
            left = matrix[row][column] - sum(map(mul, lower[row][:column], lower[column][:column]))
            if row == column and left <= 0:
                raise ValueError("the matrix isn't positive definite")
            lower[row][column] = math.sqrt(left) if row == column else left / lower[column][column]
    halfway: list[float] = []
    for row in range(size):
        halfway.append((right[row] - sum(map(mul, lower[row][:row], halfway))) / lower[row][row])
    found = [0.0] * size
    for row in reversed(range(size)):
        rest = sum(lower[below][row] * found[below] for below in range(row + 1, size))
        found[row] = (halfway[row] - rest) / lower[row][row]
    return found


def _moments(rows: Sequence[Vector]) -> tuple[list[float], list[float]]:
    count = len(rows)
    columns = list(zip(*rows, strict=True))
    means = [math.fsum(column) / count for column in columns]
    spreads = [
        math.sqrt(math.fsum((v - m) ** 2 for v in column) / count) for column, m in zip(columns, means, strict=True)
    ]
    return means, [spread or 1.0 for spread in spreads]


def _loss(rows: Sequence[Vector], positive: Sequence[bool], weights: Vector, penalty: Vector) -> float:
    total = sum(p * w * w for p, w in zip(penalty, weights, strict=True)) / 2
    for row, yes in zip(rows, positive, strict=True):
        odds = sum(map(mul, row, weights))
        margin = odds if yes else -odds
        total += math.log1p(math.exp(-margin)) if margin > -_FAR else -margin
    return total


def _derivatives(
    rows: Sequence[Vector], positive: Sequence[bool], weights: Vector, penalty: Vector
) -> tuple[list[float], list[list[float]]]:
    width = len(weights)
    gradient = [p * w for p, w in zip(penalty, weights, strict=True)]
    hessian = [[0.0] * width for _ in range(width)]
    for row, yes in zip(rows, positive, strict=True):
        chance = _sigmoid(sum(map(mul, row, weights)))
        off, curve = chance - yes, chance * (1 - chance)
        for place in range(width):
            value = row[place]
            gradient[place] += off * value
            bent, line = curve * value, hessian[place]
            for other in range(place + 1):
                line[other] += bent * row[other]
    for place in range(width):
        hessian[place][place] += penalty[place] + 1e-9
        for other in range(place):
            hessian[other][place] = hessian[place][other]
    return gradient, hessian


def _sigmoid(odds: float) -> float:
    if odds >= 0:
        return 1 / (1 + math.exp(-odds))
    grown = math.exp(max(odds, -700.0))
    return grown / (1 + grown)
