"""Advantages: what a tree of rollouts says about each of its decisions.

    T ranges over ends, S over nodes, R(T) is the reward of an end, and

    snapshot   V(row) = mean of R(T) over all T at or below the node behind the row           ContextPilot (arXiv 2608.28476), credit by snapshot
    traj       V(row) = R(T) of the end of the rollout that sampled the row                   GRPO (DeepSeekMath, arXiv 2402.03300, 4.1)
               A = (V − mean) / (std + 1e-6) over the query; a single value is taken with mean 0 and std 1
    parent     A = V(node behind the row) − V(node in front of it), both as in `snapshot`      the difference of two tree values

The standard deviation is that of a sample (n − 1), and 1e-6 and the rule for one value are those of verl's `compute_grpo_outcome_advantage`, on which
ContextPilot's code stands.

What to know before choosing:

- Branches leave from the state before an action, so under `snapshot` it is the ancestors of a branch point whose value has several votes; the critical action
  and its resampled siblings keep one each, unless something also branches behind them.
- Under `parent` a node with one row leaving says nothing about it: its value is the parent's. Only branch points teach. The parent's mean has the row's
  own ends in it, which shrinks the difference by the share of the other ends.
- `snapshot` and `traj` don't change when a constant is added to all rewards, except for a single value; `parent` never does.

The one rule: forced decisions may be left out of the loss, but the ends that they lead to vote in any case.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from trimtab.lab.credit.tree import Row, Tree, UnknownNode

A = TypeVar("A")
"""The trees' actions, which nothing here looks at."""
Variant = Literal["traj", "snapshot", "parent"]
Weighting = Literal["uniform", "siblings", "mass"]

EPSILON = 1e-6
FLAT = 1e-9
"""Values that differ by less are equal: expected rewards are sums of floats."""


@dataclass(frozen=True, slots=True)
class CreditRule:
    """How advantages are made.

    `weighting`, of rows in the loss: `uniform`, 1 each; `siblings`, one over the rows that leave the same node, so that resampling a decision doesn't make
    it count more (the root counts as one: its rows are the sample itself); `mass`, the product of one over the siblings from the root down, which also
    takes what follows a branch point back to the share of the rollouts that came by. `skip_flat`: a query whose values are all the same gives no rows; a
    single value isn't flat. `forced_rows`: forced decisions are trained on too. `over`, for `traj`: mean and std over rollouts, as GRPO has it, or over
    rows, so that long rollouts count more, as in `snapshot`. `scaled`, for `parent`: divided by the std of the query's rewards + 1e-6, which
    makes queries with large and small rewards teach equally.
    """

    variant: Variant = "snapshot"
    weighting: Weighting = "uniform"
    skip_flat: bool = False
    forced_rows: bool = False
    over: Literal["rollouts", "rows"] = "rollouts"
    scaled: bool = False


CONTEXTPILOT = CreditRule("snapshot", forced_rows=True)
"""As released: the harness's own deletions are trained on, flat queries stay in, every row counts once."""
FIXED = CreditRule("snapshot", weighting="siblings", skip_flat=True)
"""The same credit without the weak points that are about credit."""


@dataclass(frozen=True, slots=True)
class RowCredit:
    """What a row gets. `value` is V(row), `votes` the number of ends behind it, `advantage` the factor of its log-probability, `weight` that of its loss."""

    value: float
    votes: int
    advantage: float
    weight: float


@dataclass(frozen=True, slots=True)
class Credit:
    """The advantages of one query, by the node behind each row.

    `mean` and `std` are those that were taken off and divided by. `flat`: all values were the same. `dropped`: rows without a value, because no end
    (for `traj`: no end of their own rollout) is known. `forced`: rows that were left out of the loss because they were forced.
    """

    rows: Mapping[str, RowCredit]
    mean: float
    std: float
    flat: bool
    dropped: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()


def credit(tree: Tree[A], rule: CreditRule = FIXED, *, retained: Collection[str] | None = None) -> Credit:
    """Return the advantages of the rows of one query.

    `retained` names the rows that may be trained on (by the node behind each); None: all of them. Rows that aren't retained count neither in the mean
    nor in the loss, but their ends vote. Raises `UnknownNode` for a name that no row has.
    """
    kept = _kept(tree, retained)
    forced = tuple(row.after for row in kept if row.forced and not rule.forced_rows)
    asked = [row for row in kept if rule.forced_rows or not row.forced]
    found = {row.after: value for row in asked if (value := _value(tree, row, rule)) is not None}
    dropped = tuple(row.after for row in asked if row.after not in found)
    rows = [row for row in asked if row.after in found]
    population = _population(tree, found.values(), rule)
    mean, std = moments(population)
    if rule.variant == "parent":
        mean, std = 0.0, std + EPSILON if rule.scaled else 1.0
        advantages = {row.after: _over_parent(tree, row) / std for row in rows}
        flat = bool(rows) and all(abs(gain) <= FLAT for gain in advantages.values())
    else:
        advantages = {name: (value - mean) / (std + EPSILON) for name, value in found.items()}
        flat = len(population) > 1 and max(population) - min(population) <= FLAT
    if flat and rule.skip_flat:
        return Credit({}, mean, std, flat, dropped, forced)
    weights = row_weights(tree, rows, rule.weighting)
    made = {
        row.after: RowCredit(found[row.after], tree.votes(row.after), advantages[row.after], weights[row.after])
        for row in rows
    }
    return Credit(made, mean, std, flat, dropped, forced)


def _kept(tree: Tree[A], retained: Collection[str] | None) -> tuple[Row[A], ...]:
    if retained is None:
        return tree.rows
    wanted = set(retained)
    rows = tuple(row for row in tree.rows if row.after in wanted)
    missing = wanted.difference(row.after for row in rows)
    if missing:
        name = min(missing)
        raise UnknownNode(f"no row leads to node {name!r}, which was to be retained", name=name)
    return rows


def _value(tree: Tree[A], row: Row[A], rule: CreditRule) -> float | None:
    if rule.variant != "traj":
        return tree.value(row.after)
    leaf = tree.leaf_of(row.rollout)
    return leaf.reward if leaf else None


def _over_parent(tree: Tree[A], row: Row[A]) -> float:
    return (tree.value(row.after) or 0.0) - (tree.value(row.before) or 0.0)


def _population(tree: Tree[A], values: Iterable[float], rule: CreditRule) -> list[float]:
    """The numbers whose mean and std the query has."""
    if rule.variant == "snapshot" or (rule.variant == "traj" and rule.over == "rows"):
        return list(values)
    return [leaf.reward for leaf in tree.leaves]


def moments(values: Sequence[float]) -> tuple[float, float]:
    """Return mean and sample standard deviation; (0, 1) for one value or none, which nothing can be compared with."""
    if len(values) < 2:
        return 0.0, 1.0
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def row_weights(tree: Tree[A], rows: Iterable[Row[A]], weighting: Weighting) -> dict[str, float]:
    """Return the weight of each row, by the node behind it. See `CreditRule`.

    Siblings are the rows of the tree that have an end below them, whether or not they are trained on; those without one aren't a sample of anything.
    """
    if weighting == "uniform":
        return {row.after: 1.0 for row in rows}
    if weighting == "siblings":
        return {row.after: 1.0 if row.before == tree.root else 1.0 / _siblings(tree, row.before) for row in rows}
    mass = {tree.root: 1.0}
    for row in tree.rows:  # what leads to a node was added before what leaves it
        mass[row.after] = mass[row.before] / _siblings(tree, row.before)
    return {row.after: mass[row.after] for row in rows}


def _siblings(tree: Tree[A], node: str) -> int:
    return max(1, sum(tree.votes(row.after) > 0 for row in tree.leaving(node)))
