"""Trees of rollouts: what they know of each node, and what they refuse."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.rollout_trees import below, grow, grown_trees, rollout
from trimtab.lab.credit.tree import (
    BadNumber,
    BrokenRollout,
    Cycle,
    DuplicateNode,
    Leaf,
    MalformedTree,
    Row,
    Tree,
    UnknownNode,
)


def test_rollouts_share_the_root_and_branches_the_rows_in_front_of_them():
    # a: root-x-y-z, b branches behind the row to y, c in front of it
    tree = grow(rollout("a", "xyz", 1.0), rollout("b", "u", 0.0, start="y"), rollout("c", "vw", 0.5, start="x"))
    assert tree.prefix("u") == ("root", "x", "y", "u")
    assert [row.after for row in tree.leaving("x")] == ["y", "v"]
    assert {node: tree.votes(node) for node in ("root", "x", "y", "z", "u", "v")} == {
        "root": 3, "x": 3, "y": 2, "z": 1, "u": 1, "v": 1,
    }  # fmt: skip
    # root and x: (1 + 0 + 0.5) / 3; y: (1 + 0) / 2
    assert [tree.value(node) for node in ("root", "x", "y", "z", "v")] == [0.5, 0.5, 0.5, 1.0, 0.5]


def test_a_node_names_the_ends_that_vote_for_it():
    tree = grow(rollout("a", "xy", 1.0), rollout("b", "u", 0.0, start="x"), rollout("c", "z", 0.5))
    assert tree.ends("x") == (Leaf("a", "y", 1.0), Leaf("b", "u", 0.0))
    assert tree.ends("z") == (Leaf("c", "z", 0.5),)


def test_a_rollout_without_decisions_ends_where_it_starts():
    tree = grow(rollout("a", "x", 1.0), rollout("b", "", 0.0, start="x"), rollout("c", "", 0.5))
    assert (tree.value("x"), tree.value("root")) == (0.5, 0.5)


def test_a_state_in_which_one_rollout_ended_may_be_gone_on_from_by_another():
    tree = grow(rollout("a", "x", 1.0), rollout("b", "y", 0.0, start="x"))
    assert (tree.value("x"), tree.value("y")) == (0.5, 0.0)


def test_a_node_without_an_end_has_no_value():
    tree = grow(rollout("a", "xy", None))
    assert tree.value("x") is None
    assert tree.unfinished == ("a",)


REFUSED = {
    "a row that hangs on nothing": (UnknownNode, [Row("gone", "x", "a", "act")], []),
    "an end at no node": (UnknownNode, [], [Leaf("a", "gone", 1.0)]),
    "two rows to one node": (DuplicateNode, [Row("root", "x", "a", "act"), Row("root", "x", "b", "act")], []),
    "a row to the root": (DuplicateNode, [Row("root", "root", "a", "act")], []),
    "rows in a circle": (Cycle, [Row("x", "y", "a", "act"), Row("y", "x", "a", "act")], []),
    "a row from itself": (Cycle, [Row("x", "x", "a", "act")], []),
    "a rollout that forks": (BrokenRollout, [Row("root", "x", "a", "act"), Row("root", "y", "a", "act")], []),
    "a rollout that ends elsewhere": (BrokenRollout, [Row("root", "x", "a", "act")], [Leaf("a", "root", 1.0)]),
    "a rollout that ends twice": (BrokenRollout, [], [Leaf("a", "root", 1.0), Leaf("a", "root", 1.0)]),
    "a reward that is no number": (BadNumber, [], [Leaf("a", "root", math.nan)]),
    "an endless reward": (BadNumber, [], [Leaf("a", "root", math.inf)]),
    "a probability above one": (BadNumber, [Row("root", "x", "a", "act", 0.1)], []),
    "an impossible action": (BadNumber, [Row("root", "x", "a", "act", -math.inf)], []),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_malformed_tree_is_refused_by_its_kind(case):
    error, rows, leaves = REFUSED[case]
    with pytest.raises(error) as caught:
        Tree.of("q", rows, leaves)
    assert type(caught.value) is error
    assert caught.value.name


def test_a_rollout_that_has_ended_does_not_go_on():
    tree = grow(rollout("a", "x", 1.0))
    with pytest.raises(BrokenRollout):
        tree.grow(Row("x", "y", "a", "act"))


def test_what_is_refused_changes_nothing():
    tree = grow(rollout("a", "xy", 1.0), rollout("b", "u", None, start="x"))
    before = (tree.rows, tree.leaves, tree.value("root"), tree.votes("x"))
    for wrong in (Row("x", "y", "c", "act"), Row("gone", "z", "c", "act"), Row("x", "z", "b", "act")):
        with pytest.raises(MalformedTree):
            tree.grow(wrong)
    for leaf in (Leaf("b", "u", math.nan), Leaf("b", "x", 0.0), Leaf("a", "y", 0.0)):
        with pytest.raises(MalformedTree):
            tree.finish(leaf)
    assert (tree.rows, tree.leaves, tree.value("root"), tree.votes("x")) == before


@given(grown=grown_trees(), data=st.data())
def test_the_order_in_which_rows_and_ends_come_back_changes_no_value(grown, data):
    tree = grown.tree
    rows, leaves = data.draw(st.permutations(grown.rows)), data.draw(st.permutations(grown.leaves))
    other = Tree.of("q", rows, leaves)
    nodes = ["root", *(row.after for row in grown.rows)]
    assert [other.value(n) for n in nodes] == [tree.value(n) for n in nodes]
    assert [other.prefix(n) for n in nodes] == [tree.prefix(n) for n in nodes]


@given(grown=grown_trees())
def test_the_value_of_a_node_is_the_mean_of_all_ends_at_it_and_below(grown):
    tree = grown.tree
    for node in ["root", *(row.after for row in grown.rows)]:
        ends = [leaf.reward for leaf in grown.leaves if leaf.node in below(grown.rows, node)]
        assert tree.votes(node) == len(ends)
        assert tree.value(node) == (math.fsum(ends) / len(ends) if ends else None)


@given(grown=grown_trees())
def test_growing_step_by_step_is_the_same_as_all_at_once(grown):
    tree = Tree[str]("q")
    ended = {leaf.rollout: leaf for leaf in grown.leaves}
    for number, row in enumerate(grown.rows):
        tree.grow(row)
        if row.rollout in ended and all(later.rollout != row.rollout for later in grown.rows[number + 1 :]):
            tree.finish(ended.pop(row.rollout))
    for leaf in ended.values():
        tree.finish(leaf)
    whole = grown.tree
    assert [tree.value(row.after) for row in grown.rows] == [whole.value(row.after) for row in grown.rows]
