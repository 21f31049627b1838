"""What weights and tree values do to a gradient, by going through every way in which a small query can go.

Two decisions of two actions each, two first rollouts, and a branch in front of the second decision of the first one. All 2⁵ trees are
weighted with their probability, so expectations are exact.
"""

from collections.abc import Iterator
from itertools import product

import pytest

from support.rollout_trees import grow
from support.rollout_trees import rollout as grown
from trimtab.lab.credit.advantage import CreditRule, credit
from trimtab.lab.credit.tree import Leaf, Row, Tree

FIRST = 0.3
"""Chance of action 1 at the first decision; at the second it depends on the first."""
SECOND = (0.6, 0.2)
REWARDS = ((0.0, 1.0), (0.4, -0.5))
"""By first and second action."""


def chance(p: float, action: int) -> float:
    return p if action else 1 - p


def trees() -> Iterator[tuple[float, Tree[tuple[str, float]]]]:
    """Each tree with its probability. An action is what the gradient needs: whose logit it moves, and d log π / d logit = action − p."""
    for a, b, again, c, d in product((0, 1), repeat=5):
        likely = chance(FIRST, a) * chance(SECOND[a], b) * chance(SECOND[a], again)
        likely *= chance(FIRST, c) * chance(SECOND[c], d)
        tree = Tree[tuple[str, float]]("q")
        for name, first, second in (("one", a, b), ("two", c, d)):
            tree.grow(Row("root", f"{name}1", name, ("first", first - FIRST)))
            tree.grow(Row(f"{name}1", f"{name}2", name, (f"second {first}", second - SECOND[first])))
            tree.finish(Leaf(name, f"{name}2", REWARDS[first][second]))
        tree.grow(Row("one1", "again2", "again", (f"second {a}", again - SECOND[a])))
        tree.finish(Leaf("again", "again2", REWARDS[a][again]))
        yield likely, tree


def gradient(weighting: str) -> dict[str, float]:
    """The expectation of Σ weight · V(row) · d log π, with each tree's weights made to sum to 2, the number of decisions of an episode."""
    found = dict.fromkeys(("first", "second 0", "second 1"), 0.0)
    for likely, tree in trees():
        rows = credit(tree, CreditRule("snapshot", weighting=weighting)).rows
        whole = sum(row.weight for row in rows.values())
        for name, row in rows.items():
            logit, slope = tree.row_to(name).action
            found[logit] += likely * 2 * row.weight / whole * row.value * slope
    return found


def true_gradient() -> dict[str, float]:
    """dJ/dlogit of J = Σ π(a) π(b|a) R(a, b), for each of the three logits; d p / d logit = p(1 − p)."""
    values = [chance(p, 0) * low + p * high for p, (low, high) in zip(SECOND, REWARDS, strict=True)]
    return {
        "first": FIRST * (1 - FIRST) * (values[1] - values[0]),
        **{
            f"second {a}": chance(FIRST, a) * p * (1 - p) * (REWARDS[a][1] - REWARDS[a][0])
            for a, p in enumerate(SECOND)
        },
    }


@pytest.mark.parametrize("weighting", ["mass", "siblings"])
def test_weights_by_siblings_or_mass_give_the_gradient_of_the_expected_reward(weighting):
    assert gradient(weighting) == pytest.approx(true_gradient(), abs=1e-12)


def test_rows_that_all_count_once_pull_towards_decisions_that_were_branched_at():
    true, found = true_gradient(), gradient("uniform")
    # five rows, two of them first decisions: 4/5 and 6/5 of what they should have
    assert found == pytest.approx({name: true[name] * (0.8 if name == "first" else 1.2) for name in true}, abs=1e-12)


def test_what_follows_a_branch_at_length_is_brought_back_by_mass_only():
    tree = grow(grown("a", "xy", 1.0), grown("b", "uv", 0.0), grown("c", "wklm", 0.0, start="x"))

    def by_depth(weighting: str) -> list[float]:
        rows = credit(tree, CreditRule("snapshot", weighting=weighting)).rows
        depths = [0.0] * 5
        for name, row in rows.items():
            depths[len(tree.prefix(name)) - 2] += row.weight
        return depths

    # the branch's rows below its first: k, l, m
    assert by_depth("siblings") == [2.0, 2.0, 1.0, 1.0, 1.0]
    assert by_depth("mass") == [1.0, 1.0, 0.25, 0.25, 0.25]


def moments_of_first(variant: str) -> tuple[float, float]:
    """Mean and variance of the value of the first row of rollout one, where it took action 0."""
    seen = [
        (likely, credit(tree, CreditRule(variant)).rows["one1"].value)
        for likely, tree in trees()
        if tree.row_to("one1").action[1] == -FIRST
    ]
    whole = sum(likely for likely, _ in seen)
    mean = sum(likely * value for likely, value in seen) / whole
    return mean, sum(likely * (value - mean) ** 2 for likely, value in seen) / whole


def test_a_value_with_two_votes_has_the_same_mean_and_half_the_variance():
    # after action 0 the reward is 1 with chance .6: mean .6, variance .24
    assert moments_of_first("traj") == pytest.approx((0.6, 0.24))
    assert moments_of_first("snapshot") == pytest.approx((0.6, 0.12))
