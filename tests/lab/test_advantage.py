"""Advantages: worked out by hand, held against brute force, and what leaves them unchanged."""

import math
import statistics
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.rollout_trees import Grown, below, grow, grown_trees, rollout
from trimtab.lab.credit.advantage import CONTEXTPILOT, Credit, CreditRule, credit, moments
from trimtab.lab.credit.tree import Leaf, Row, Tree, UnknownNode

SNAPSHOT, TRAJ, PARENT = (CreditRule(variant) for variant in ("snapshot", "traj", "parent"))


def advantages(found: Credit) -> dict[str, float]:
    return {name: row.advantage for name, row in found.rows.items()}


def weights(found: Credit) -> dict[str, float]:
    return {name: row.weight for name, row in found.rows.items()}


def near(expected: dict[str, float]):
    return pytest.approx(expected, rel=1e-9, abs=1e-12)


def branched() -> Tree[str]:
    """a: x y (1), b: z (0), c branched in front of the row to y: w (0)."""
    return grow(rollout("a", "xy", 1.0), rollout("b", "z", 0.0), rollout("c", "w", 0.0, start="x"))


def test_snapshot_credit_by_hand():
    # values: x (1+0)/2 = .5, y 1, z 0, w 0; mean 1.5/4 = .375
    # squares: .125² + .625² + .375² + .375² = .015625 + .390625 + .28125 = .6875; std = √(.6875/3) = .478714
    std = math.sqrt(0.6875 / 3) + 1e-6
    found = credit(branched(), SNAPSHOT)
    assert advantages(found) == near({"x": 0.125 / std, "y": 0.625 / std, "z": -0.375 / std, "w": -0.375 / std})
    assert {name: (row.value, row.votes) for name, row in found.rows.items()} == {
        "x": (0.5, 2), "y": (1.0, 1), "z": (0.0, 1), "w": (0.0, 1),
    }  # fmt: skip


def test_trajectory_credit_by_hand():
    # ends 1, 0, 0: mean 1/3, std √((4/9 + 1/9 + 1/9)/2) = √(1/3). x was sampled by a, so it has a's end and nothing of c's
    std = math.sqrt(1 / 3) + 1e-6
    high, low = 2 / 3 / std, -1 / 3 / std
    assert advantages(credit(branched(), TRAJ)) == near({"x": high, "y": high, "z": low, "w": low})


def test_trajectory_credit_over_rows_lets_long_rollouts_count_more():
    # values 1, 1, 0, 0: mean .5, std √(4·.25/3)
    std = math.sqrt(1 / 3) + 1e-6
    found = credit(branched(), replace(TRAJ, over="rows"))
    assert advantages(found) == near({"x": 0.5 / std, "y": 0.5 / std, "z": -0.5 / std, "w": -0.5 / std})


def test_parent_credit_by_hand():
    # V(root) = 1/3, V(x) = 1/2: x 1/6, z −1/3, y 1/2, w −1/2
    assert advantages(credit(branched(), PARENT)) == near({"x": 1 / 6, "z": -1 / 3, "y": 0.5, "w": -0.5})


def test_scaled_parent_credit_is_divided_by_the_spread_of_the_rewards():
    std = math.sqrt(1 / 3) + 1e-6
    found = credit(branched(), replace(PARENT, scaled=True))
    assert advantages(found) == near({"x": 1 / 6 / std, "z": -1 / 3 / std, "y": 0.5 / std, "w": -0.5 / std})


def test_branches_of_branches_vote_for_all_that_stands_in_front_of_them():
    # c branches behind x, d behind c's first row: u has the ends of c and d, x those of a, c and d
    tree = grow(
        rollout("a", "xy", 1.0), rollout("b", "z", 0.0), rollout("c", "uv", 0.0, start="x"), rollout("d", "w", 0.5, start="u")
    )  # fmt: skip
    found = credit(tree, SNAPSHOT).rows
    assert {name: found[name].value for name in "xyuvwz"} == {
        "x": 0.5,
        "y": 1.0,
        "u": 0.25,
        "v": 0.0,
        "w": 0.5,
        "z": 0.0,
    }


def test_a_critical_action_has_one_vote_unless_something_branches_behind_it():
    before = grow(rollout("a", "xy", 1.0), rollout("b", "w", 0.0, start="x"))
    behind = grow(rollout("a", "xy", 1.0), rollout("b", "w", 0.0, start="y"))
    assert (credit(before, SNAPSHOT).rows["y"].votes, credit(behind, SNAPSHOT).rows["y"].votes) == (1, 2)


def test_forced_rows_are_left_out_of_the_loss_while_their_ends_vote():
    # the only row behind x was forced: x still has its end
    tree = grow(rollout("a", "xy", 1.0, forced="y"), rollout("b", "z", 0.0))
    found = credit(tree, SNAPSHOT)
    assert {name: row.value for name, row in found.rows.items()} == {"x": 1.0, "z": 0.0}
    assert found.forced == ("y",)
    # mean of 1 and 0, and no third row
    assert found.mean == 0.5


def test_an_end_that_only_forced_rows_lead_to_moves_the_mean_of_trajectories():
    tree = grow(rollout("a", "x", 1.0), rollout("b", "y", 0.0, forced="y"))
    assert advantages(credit(tree, TRAJ)) == near({"x": 0.5 / (math.sqrt(0.5) + 1e-6)})


def test_forced_rows_are_trained_on_as_contextpilot_does_it():
    tree = grow(rollout("a", "xy", 1.0, forced="y"), rollout("b", "z", 0.0))
    found = credit(tree, CONTEXTPILOT)
    assert (set(found.rows), found.forced) == ({"x", "y", "z"}, ())


def test_a_single_value_is_taken_with_mean_nought_and_spread_one():
    found = credit(grow(rollout("a", "x", 0.7)), replace(SNAPSHOT, skip_flat=True))
    assert advantages(found) == near({"x": 0.7 / (1 + 1e-6)})
    assert (found.mean, found.std, found.flat) == (0.0, 1.0, False)


@pytest.mark.parametrize("rule", [SNAPSHOT, TRAJ, PARENT], ids=lambda rule: rule.variant)
def test_a_query_whose_rewards_are_all_the_same_teaches_nothing(rule):
    tree = grow(*(rollout(name, name, 0.1 + 0.2) for name in "abc"), rollout("d", "d", 0.3, start="a"))
    found = credit(tree, rule)
    assert found.flat
    assert advantages(found) == pytest.approx(dict.fromkeys("abcd", 0.0), abs=1e-9)
    assert credit(tree, replace(rule, skip_flat=True)).rows == {}


def test_rows_without_an_end_are_dropped():
    tree = grow(rollout("a", "xy", None), rollout("b", "z", 1.0), rollout("c", "w", 0.0))
    found = credit(tree, SNAPSHOT)
    assert (set(found.rows), found.dropped) == ({"z", "w"}, ("x", "y"))


def test_a_broken_off_rollout_has_value_where_a_branch_of_it_ended():
    tree = grow(rollout("a", "xy", None), rollout("b", "z", 1.0, start="x"))
    assert credit(tree, SNAPSHOT).dropped == ("y",)
    # by trajectories a has no end, whatever its branches did
    assert credit(tree, TRAJ).dropped == ("x", "y")


def test_only_retained_rows_count_while_all_ends_vote():
    found = credit(branched(), SNAPSHOT, retained=["x", "z"])
    assert {name: row.value for name, row in found.rows.items()} == {"x": 0.5, "z": 0.0}
    assert found.mean == 0.25


def test_a_retained_row_that_does_not_exist_is_an_error():
    with pytest.raises(UnknownNode, match="'gone'"):
        credit(branched(), SNAPSHOT, retained=["x", "gone"])


def test_weights_by_siblings_share_a_resampled_decision():
    # y and w answer the same question. x and z leave the root, where every rollout starts
    assert weights(credit(branched(), replace(SNAPSHOT, weighting="siblings"))) == {
        "x": 1.0,
        "z": 1.0,
        "y": 0.5,
        "w": 0.5,
    }


def test_weights_by_mass_take_a_branch_back_to_its_share_of_the_sample():
    # root: x and z, 1/2 each; below x: y and w share its half, and c's second row v goes with w
    tree = grow(rollout("a", "xy", 1.0), rollout("b", "z", 0.0), rollout("c", "wv", 0.0, start="x"))
    assert weights(credit(tree, replace(SNAPSHOT, weighting="mass"))) == {
        "x": 0.5,
        "z": 0.5,
        "y": 0.25,
        "w": 0.25,
        "v": 0.25,
    }


def test_weights_of_rollouts_without_branches_are_all_the_same():
    tree = grow(rollout("a", "xyz", 1.0), rollout("b", "uv", 0.0))
    for weighting in ("uniform", "siblings", "mass"):
        assert len(set(weights(credit(tree, replace(SNAPSHOT, weighting=weighting))).values())) == 1


def test_siblings_without_an_end_are_no_siblings():
    tree = grow(rollout("a", "xy", 1.0), rollout("b", "w", None, start="x"))
    assert weights(credit(tree, replace(SNAPSHOT, weighting="siblings"))) == {"x": 1.0, "y": 1.0}


def test_an_empty_tree_has_no_credit():
    assert credit(Tree("q"), SNAPSHOT) == Credit({}, 0.0, 1.0, flat=False)


# --- against brute force ------------------------------------------------------------------------------------------------------


def brute(grown: Grown, variant: str, retained: set[str]) -> dict[str, float]:
    """The definitions, word for word: every descendant looked up anew, `statistics` for mean and spread."""

    def mean_below(node: str) -> float | None:
        ends = [leaf.reward for leaf in grown.leaves if leaf.node in below(grown.rows, node)]
        return statistics.fmean(ends) if ends else None

    rows = [row for row in grown.rows if row.after in retained and not row.forced]
    if variant == "parent":
        pairs = {row.after: (mean_below(row.after), mean_below(row.before)) for row in rows}
        return {name: here - above for name, (here, above) in pairs.items() if here is not None and above is not None}
    if variant == "snapshot":
        values = {row.after: mean_below(row.after) for row in rows}
        population = [value for value in values.values() if value is not None]
    else:
        ends = {leaf.rollout: leaf.reward for leaf in grown.leaves}
        values = {row.after: ends.get(row.rollout) for row in rows}
        population = list(ends.values())
    mean, std = (0.0, 1.0) if len(population) < 2 else (statistics.fmean(population), statistics.stdev(population))
    return {name: (value - mean) / (std + 1e-6) for name, value in values.items() if value is not None}


@pytest.mark.parametrize("variant", ["snapshot", "traj", "parent"])
@given(grown=grown_trees(), data=st.data())
def test_advantages_are_those_of_brute_force(variant, grown, data):
    names = [row.after for row in grown.rows]
    retained = set(data.draw(st.lists(st.sampled_from(names), unique=True))) if names else set()
    found = credit(grown.tree, CreditRule(variant), retained=retained)
    assert advantages(found) == pytest.approx(brute(grown, variant, retained), rel=1e-6, abs=1e-6)
    assert set(found.rows) | set(found.dropped) | set(found.forced) == retained


@pytest.mark.parametrize("variant", ["snapshot", "traj", "parent"])
@given(grown=grown_trees(), data=st.data())
def test_the_order_of_insertion_changes_no_advantage(variant, grown, data):
    shuffled = Tree.of("q", data.draw(st.permutations(grown.rows)), data.draw(st.permutations(grown.leaves)))
    rule = CreditRule(variant, weighting="mass")
    assert credit(shuffled, rule).rows == credit(grown.tree, rule).rows


@pytest.mark.parametrize("variant", ["snapshot", "traj", "parent"])
@given(grown=grown_trees(finished=True), constant=st.floats(-5, 5))
def test_a_constant_added_to_all_rewards_changes_no_advantage(variant, grown, constant):
    moved = Tree.of("q", grown.rows, [Leaf(leaf.rollout, leaf.node, leaf.reward + constant) for leaf in grown.leaves])
    found = credit(grown.tree, CreditRule(variant))
    population = len(grown.leaves) if variant == "traj" else len(found.rows)
    if variant == "parent" or population > 1:
        # 1e-6 in the divisor makes rounding errors of 1e-16 visible at 1e-10 only
        assert advantages(credit(moved, CreditRule(variant))) == pytest.approx(advantages(found), abs=1e-7)


@given(grown=grown_trees(finished=True), factor=st.floats(0.5, 4))
def test_the_unit_of_the_rewards_hardly_matters(grown, factor):
    scaled = Tree.of("q", grown.rows, [Leaf(leaf.rollout, leaf.node, leaf.reward * factor) for leaf in grown.leaves])
    found, other = credit(grown.tree, SNAPSHOT), credit(scaled, SNAPSHOT)
    if len(found.rows) > 1 and found.std > 0.01:
        assert advantages(other) == pytest.approx(advantages(found), rel=1e-3, abs=1e-9)


@given(grown=grown_trees())
def test_advantages_of_a_query_sum_to_nought(grown):
    found = credit(grown.tree, SNAPSHOT)
    if len(found.rows) > 1:
        assert math.fsum(row.advantage for row in found.rows.values()) == pytest.approx(0.0, abs=1e-6)


@given(grown=grown_trees(finished=True))
def test_siblings_advantages_over_their_parent_cancel_out_by_votes(grown):
    # where no rollout ends at the node itself: Σ n_child·V(child) = n·V(parent)
    tree = grown.tree
    everything = credit(tree, CreditRule("parent", forced_rows=True)).rows
    for node in ["root", *(row.after for row in grown.rows)]:
        leaving = tree.leaving(node)
        if leaving and sum(tree.votes(row.after) for row in leaving) == tree.votes(node):
            moved = math.fsum(everything[row.after].advantage * tree.votes(row.after) for row in leaving)
            assert moved == pytest.approx(0.0, abs=1e-9)


@given(grown=grown_trees(finished=True))
def test_mass_is_shared_out_among_the_rows_that_leave_a_node(grown):
    tree = grown.tree
    found = weights(credit(tree, CreditRule("snapshot", weighting="mass", forced_rows=True)))
    for node in ["root", *(row.after for row in grown.rows)]:
        leaving = tree.leaving(node)
        if leaving:
            above = 1.0 if node == "root" else found[node]
            assert math.fsum(found[row.after] for row in leaving) == pytest.approx(above)


def test_snapshot_and_trajectory_credit_are_the_same_without_branches():
    tree = grow(rollout("a", "xyz", 1.0), rollout("b", "uv", 0.0), rollout("c", "w", 0.25))
    assert credit(tree, SNAPSHOT).rows == credit(tree, replace(TRAJ, over="rows")).rows


def test_moments_are_those_of_a_sample():
    assert moments([1.0, 2.0, 3.0]) == (2.0, 1.0)


def test_a_long_rollout_is_no_deeper_than_a_loop_can_walk():
    tree = Tree[str]("q")
    for rollout_name in "ab":
        at = "root"
        for step in range(3_000):
            tree.grow(Row(at, f"{rollout_name}{step}", rollout_name, "keep"))
            at = f"{rollout_name}{step}"
        tree.finish(Leaf(rollout_name, at, float(rollout_name == "a")))
    found = credit(tree, CreditRule("snapshot", weighting="mass"))
    assert (len(found.rows), {row.weight for row in found.rows.values()}) == (6_000, {0.5})
