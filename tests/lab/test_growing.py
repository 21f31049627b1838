"""Growing: rollouts of something that can be played on from any state, and the tree that they make."""

import random
from dataclasses import replace
from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.lab.credit.branching import BranchPoint, BranchRule, Turn, continuations
from trimtab.lab.credit.growing import Grown, Move, Start, leaving, points, tree_of
from trimtab.lab.credit.tree import Tree, UnknownNode

rules = st.builds(
    BranchRule,
    budget=st.integers(0, 60),
    rows_per_branch=st.integers(1, 5),
    scaled=st.booleans(),
    entropy=st.sampled_from(["before", "after"]),
    random_share=st.sampled_from([0.0, 0.25, 1.0]),
    where=st.sampled_from(["before", "after", "both"]),
    per_rollout=st.none() | st.integers(1, 4),
)


def spelt(start: Start[str], seed: int) -> Grown[str, str]:
    """A word that is spelt on from `start`, letter by letter as its own dice say. Its state is the word so far; some words break off and have no end."""
    dice = random.Random(f"{seed} {start.name}")
    word, moves = start.before or "", []
    while dice.random() < 0.8:
        node = f"{start.name}.{len(moves)}"
        turn = Turn(node, dice.randint(1, 50), dice.randint(0, 50), dice.random(), dice.random() < 0.8)
        moves.append(Move(word, turn, dice.choice("abc"), -dice.random(), dice.random() < 0.2))
        word += moves[-1].decided
    return Grown(start.name, start.node, tuple(moves), float(word.count("a")) if dice.random() < 0.9 else None)


def grown(
    first: int, rule: BranchRule, seed: int
) -> tuple[list[Grown[str, str]], list[tuple[BranchPoint, Start[str]]]]:
    """All rollouts, and where those that aren't first ones start."""
    rollouts = [spelt(Start(f"r{n}"), seed) for n in range(first)]
    where = points(rollouts, rule, seed=str(seed))
    starts = [(point, leaving(rollouts, point, n)) for n, point in enumerate(where)]
    return [*rollouts, *(spelt(start, seed) for _, start in starts)], starts


def plain(tree: Tree[str]) -> tuple[object, ...]:
    return tree.rows, tree.leaves


cases = given(first=st.integers(1, 4), rule=rules, seed=st.integers(0, 10**6))


@cases
def test_a_tree_is_the_lines_of_its_rollouts_laid_over_each_other(first, rule, seed):
    rollouts, _ = grown(first, rule, seed)
    lines: dict[str, list[str]] = {}
    words: dict[str, str] = {"root": ""}
    for one in rollouts:
        parent = lines.get(one.start.partition(".")[0], ["root"])
        lines[one.name] = [*parent[: parent.index(one.start) + 1], *(move.turn.row for move in one.moves)]
        words |= {move.turn.row: move.before + move.decided for move in one.moves}
    tree = tree_of("q", rollouts)
    assert [row.after for row in tree.rows] == list(words)[1:]
    for one in rollouts:
        path = tree.prefix(lines[one.name][-1])
        assert list(path) == lines[one.name]
        assert [words[node] for node in path] == [words[path[-1]][:length] for length in range(len(path))]
        assert [tree.row_to(node).action for node in path[1:]] == list(words[path[-1]])
    for node in words:
        ends = [one for one in rollouts if node in lines[one.name] and one.reward is not None]
        assert [leaf.rollout for leaf in tree.ends(node)] == [one.name for one in ends]
        assert tree.value(node) == (fsum(one.reward for one in ends) / len(ends) if ends else None)
    for one in rollouts:
        rows = [row for row in tree.rows if row.rollout == one.name]
        assert [(row.log_prob, row.forced) for row in rows] == [(move.log_prob, move.forced) for move in one.moves]


@cases
def test_the_same_seed_grows_the_same_tree(first, rule, seed):
    one, other = (tree_of("q", grown(first, rule, seed)[0]) for _ in range(2))
    assert plain(one) == plain(other)


@cases
def test_each_branch_starts_at_a_decision_of_a_first_rollout_in_the_state_that_it_found(first, rule, seed):
    rollouts, starts = grown(first, rule, seed)
    for number, (point, start) in enumerate(starts):
        parent = next(one for one in rollouts[:first] if one.name == point.rollout)
        (at,) = [at for at, move in enumerate(parent.moves) if move.turn.row == point.row]
        assert parent.moves[at].turn.may_branch
        there = at if point.where == "before" else at + 1
        assert start == Start(f"b{number}", parent.node(there), parent.moves[there].before)


@cases
def test_rollouts_keep_to_the_budget_and_what_is_kept_counts_against_it(first, rule, seed):
    rollouts, starts = grown(first, rule, seed)
    kept = sum(len(one.moves) for one in rollouts[:first])
    assert len(starts) <= continuations(rule, kept)
    assert len(points(rollouts[:first], rule, seed="", kept=0)) <= continuations(rule, 0)
    assert points(rollouts[:first], replace(rule, budget=kept), seed="") == ()


def test_a_rollout_whose_start_is_in_no_other_is_refused():
    with pytest.raises(UnknownNode):
        tree_of("q", [Grown("b0", "r0.0", (), 1.0)])
