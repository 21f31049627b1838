"""Where partial rollouts branch: sensitivities by hand, budgets, the repairs, and the same answer every time."""

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.lab.credit.branching import (
    CODE,
    FIXED,
    PAPER,
    BadTurn,
    BranchRule,
    Turn,
    branch_points,
    continuations,
    merge,
    sensitivities,
    spread,
    thin,
)
from trimtab.lab.credit.uncertainty import decision_uncertainties, entropy, mean_entropy, top_token_uncertainty

# One rollout of four decisions. Lengths 100 → 150 → 150 → 30 → 40, uncertainties .2 .5 .1 .4, the last one answers.
ROLLOUTS = {
    "a": (
        Turn("a1", 100, 150, 0.2),
        Turn("a2", 150, 150, 0.5),
        Turn("a3", 150, 30, 0.1),
        Turn("a4", 30, 40, 0.4, may_branch=False),
    ),
}


def ranked(rule, rollouts=ROLLOUTS):
    return {s.row: s.score for s in sensitivities(rollouts, rule)}


def test_sensitivity_as_the_paper_has_it():
    # ΔC: 50/100, 0/150, 120/150. ΔH against the first decision's .2: .5 − .2, .1 − .2, .4 − .2
    assert ranked(PAPER) == pytest.approx({"a3": 0.8 + 0.2, "a1": 0.5 + 0.3, "a2": 0.0 - 0.1})
    assert list(ranked(PAPER)) == ["a3", "a1", "a2"]


def test_a_rise_of_entropy_counts_and_a_fall_counts_against():
    assert {s.row: s.entropy for s in sensitivities(ROLLOUTS, PAPER)} == pytest.approx(
        {"a1": 0.3, "a2": -0.1, "a3": 0.2}
    )


def test_sensitivity_with_the_entropy_of_the_action_itself():
    # .2 − .2, .5 − .2, .1 − .2
    rule = replace(PAPER, entropy="before")
    assert ranked(rule) == pytest.approx({"a1": 0.5, "a2": 0.3, "a3": 0.8 - 0.1})


def test_scaled_sensitivity_adds_z_scores():
    # ΔC .5 0 .8: mean 1.3/3, squares .25 + .64 = .89, variance .89/3 − (1.3/3)² = .108889, std .329983
    # ΔH .3 −.1 .2: mean .4/3, variance .14/3 − (.4/3)² = .028889, std .169967
    expected = {
        "a1": (0.5 - 1.3 / 3) / 0.3299832 + (0.3 - 0.4 / 3) / 0.1699673,
        "a2": (0.0 - 1.3 / 3) / 0.3299832 + (-0.1 - 0.4 / 3) / 0.1699673,
        "a3": (0.8 - 1.3 / 3) / 0.3299832 + (0.2 - 0.4 / 3) / 0.1699673,
    }
    assert ranked(replace(PAPER, scaled=True)) == pytest.approx(expected, abs=1e-5)


def test_weights_choose_between_the_two_variations():
    only_context, only_entropy = replace(PAPER, beta=0.0), replace(PAPER, alpha=0.0)
    assert (list(ranked(only_context)), list(ranked(only_entropy))) == (["a3", "a1", "a2"], ["a1", "a3", "a2"])


def test_scaling_lets_the_smaller_statistic_speak():
    # lengths vary by whole prompts, entropies by hundredths: unscaled the entropies decide nothing
    rollouts = {"a": (Turn("a1", 10, 40, 0.0), Turn("a2", 40, 130, 0.0), Turn("a3", 130, 390, 0.05), Turn("a4", 9, 9, 0.0, may_branch=False))}  # fmt: skip
    assert next(iter(ranked(PAPER, rollouts))) == "a1"
    assert next(iter(ranked(replace(PAPER, scaled=True), rollouts))) == "a2"


def test_a_decision_that_none_follows_has_no_entropy_behind_it():
    rollouts = {"a": (Turn("a1", 10, 10, 0.4), Turn("a2", 10, 10, 0.9))}
    assert ranked(PAPER, rollouts) == pytest.approx({"a1": 0.5, "a2": 0.0})


def test_statistics_without_spread_rank_by_step_and_name():
    rollouts = {name: tuple(Turn(f"{name}{step}", 100, 110, 0.3) for step in range(3)) for name in "ba"}
    for rule in (PAPER, replace(PAPER, scaled=True)):
        assert list(ranked(rule, rollouts)) == ["a0", "b0", "a1", "b1", "a2", "b2"]


@pytest.mark.parametrize("turn", [Turn("x", 0, 10, 0.1), Turn("x", 10, -1, 0.1), Turn("x", 10, 10, math.nan)])
def test_figures_that_cannot_be_ranked_are_refused(turn):
    with pytest.raises(BadTurn, match="'x'"):
        sensitivities({"a": (turn,)}, PAPER)


def test_the_budget_leaves_room_for_what_the_first_rollouts_did_not_give():
    assert [continuations(PAPER, kept) for kept in (64, 40, 128, 200)] == [64, 88, 0, 0]
    assert [continuations(CODE, kept) for kept in (64, 40, 126, 123)] == [12, 17, 0, 1]


def rows_of(points):
    return [(point.row, point.where, point.chosen) for point in points]


def long_rollouts(count: int = 4, steps: int = 10):
    """Each decision a little more sensitive than the one before, the later rollouts more than the earlier."""
    return {
        f"r{number}": tuple(Turn(f"r{number}.{step}", 1_000, 1_000 + 10 * number + step, 0.5) for step in range(steps))
        for number in range(count)
    }


def test_the_most_sensitive_decisions_become_branch_points():
    points = branch_points(ROLLOUTS, 126, PAPER)
    assert rows_of(points) == [("a3", "before", "ranked"), ("a1", "before", "ranked")]


def test_there_are_no_more_branch_points_than_decisions_to_branch_at():
    assert len(branch_points(ROLLOUTS, 0, PAPER)) == 3


def test_branching_on_both_sides_takes_two_continuations_of_the_budget():
    rule = replace(PAPER, where="both")
    assert rows_of(branch_points(ROLLOUTS, 125, rule)) == [
        ("a3", "before", "ranked"), ("a3", "after", "ranked"), ("a1", "before", "ranked"),
    ]  # fmt: skip


def test_behind_the_last_decision_there_is_nothing_to_branch():
    rollouts = {"a": (Turn("a1", 10, 20, 0.4),)}
    assert rows_of(branch_points(rollouts, 0, replace(PAPER, where="both"))) == [("a1", "before", "ranked")]
    assert branch_points(rollouts, 0, replace(PAPER, where="after")) == ()


def test_a_rollout_gives_at_most_its_share_of_branch_points():
    points = branch_points(long_rollouts(), 120, replace(PAPER, per_rollout=2))
    assert [point.row for point in points] == ["r3.9", "r3.8", "r2.9", "r2.8", "r1.9", "r1.8", "r0.9", "r0.8"]


def test_a_fixed_share_of_the_branch_points_is_drawn_from_the_rest():
    points = branch_points(long_rollouts(), 120, replace(PAPER, random_share=0.25), seed="1")
    best, drawn = points[:6], points[6:]
    assert [point.row for point in best] == ["r3.9", "r3.8", "r3.7", "r3.6", "r3.5", "r3.4"]
    assert [point.chosen for point in drawn] == ["random", "random"]
    assert not {point.row for point in drawn} & {point.row for point in best}


def test_the_random_arm_draws_all_of_them():
    rule = replace(PAPER, random_share=1.0)
    points = branch_points(long_rollouts(), 108, rule, seed="1")
    assert {point.chosen for point in points} == {"random"}
    assert len({point.row for point in points}) == 20
    assert {point.row for point in points} != {point.row for point in branch_points(long_rollouts(), 108, PAPER)}


def test_another_seed_draws_others():
    rule = replace(PAPER, random_share=1.0)
    draws = {tuple(p.row for p in branch_points(long_rollouts(), 124, rule, seed=str(seed))) for seed in range(5)}
    assert len(draws) > 1


turns = st.lists(
    st.tuples(st.integers(1, 5), st.integers(0, 5), st.sampled_from([0.0, 0.25, 0.5]), st.booleans()), max_size=6
)
rules = st.builds(
    BranchRule,
    budget=st.integers(0, 40),
    rows_per_branch=st.sampled_from([1, 5]),
    scaled=st.booleans(),
    entropy=st.sampled_from(["after", "before"]),
    random_share=st.sampled_from([0.0, 0.25, 1.0]),
    where=st.sampled_from(["before", "after", "both"]),
    per_rollout=st.sampled_from([None, 1, 3]),
)


@given(drawn=st.lists(turns, max_size=4), rule=rules, kept=st.integers(0, 20), data=st.data())
def test_branch_points_keep_to_the_budget_and_do_not_depend_on_the_order_of_rollouts(drawn, rule, kept, data):
    rollouts = {
        f"r{number}": tuple(Turn(f"r{number}.{step}", *figures) for step, figures in enumerate(steps))
        for number, steps in enumerate(drawn)
    }
    points = branch_points(rollouts, kept, rule, seed="s")
    shuffled = dict(data.draw(st.permutations(list(rollouts.items()))))
    assert branch_points(shuffled, kept, rule, seed="s") == points
    assert len(points) <= continuations(rule, kept)
    assert len({(p.row, p.where) for p in points}) == len(points)
    for point in points:
        assert rollouts[point.rollout][point.step].row == point.row
        assert rollouts[point.rollout][point.step].may_branch
        assert rule.where in (point.where, "both")
    if rule.per_rollout is not None:
        for name in rollouts:
            assert len({p.row for p in points if p.rollout == name}) <= rule.per_rollout


def test_the_repaired_rule_branches_on_both_sides_and_partly_at_random():
    points = branch_points(long_rollouts(8, 12), 64, FIXED, seed="1")
    assert len(points) == continuations(FIXED, 64) == 12
    assert {(p.where, p.chosen) for p in points} == {(w, c) for w in ("before", "after") for c in ("ranked", "random")}


# --- which rows are trained on ------------------------------------------------------------------------------------------------


def test_a_long_rollout_keeps_its_last_row_and_evenly_spaced_others():
    rows = [str(n) for n in range(22)]
    # 7 of the first 21: 0, 20/6 → 3, 6, 10, 13, 16, 20
    assert thin(rows) == ("0", "3", "6", "10", "13", "16", "20", "21")


def test_a_short_rollout_keeps_all_rows():
    assert thin(["x", "y"]) == ("x", "y")
    assert thin([]) == ()


def test_one_row_is_the_last_one():
    assert thin(["x", "y", "z"], most=1) == ("z",)


@given(count=st.integers(0, 60), most=st.integers(0, 20))
def test_thinning_keeps_order_number_and_the_last_row(count, most):
    kept = thin([str(n) for n in range(count)], most=most)
    places = [int(row) for row in kept]
    assert places == sorted(set(places))
    assert len(places) == min(count, most)
    assert not places or most == 0 or places[-1] == count - 1


@given(count=st.integers(0, 60), many=st.integers(0, 60))
def test_evenly_spaced_indexes_differ_by_a_step_or_one_more(count, many):
    found = spread(count, many)
    assert len(set(found)) == len(found) == min(count, many)
    if len(found) > 1:
        assert (found[0], found[-1]) == (0, count - 1)
        gaps = {b - a for a, b in itertools.pairwise(found)}
        assert max(gaps) - min(gaps) <= 1


BRANCHES = [["a1", "a2", "a3"], ["b1"], [], ["c1", "c2", "c3", "c4"]]


def test_first_rows_of_branches_come_first_in_rank_order():
    assert merge(BRANCHES, 2) == ("a1", "b1")
    assert merge(BRANCHES, 5, even=False) == ("a1", "b1", "c1", "a2", "a3")


def test_the_other_rows_are_evenly_spaced_over_all_branches():
    # others: a2 a3 c2 c3 c4; two of five: the first and the last
    assert merge(BRANCHES, 5) == ("a1", "b1", "c1", "a2", "c4")


def test_a_branch_gives_at_most_its_share():
    assert merge(BRANCHES, 20, per_branch=1) == ("a1", "b1", "c1")
    assert merge(BRANCHES, 20, per_branch=2) == ("a1", "b1", "c1", "a2", "c2")


@given(sizes=st.lists(st.integers(0, 5), max_size=6), room=st.integers(0, 30), even=st.booleans())
def test_merged_rows_fill_the_room_and_no_more(sizes, room, even):
    branches = [[f"{b}.{row}" for row in range(size)] for b, size in enumerate(sizes)]
    rows = merge(branches, room, even=even)
    assert len(set(rows)) == len(rows) == min(room, sum(sizes))


# --- uncertainty --------------------------------------------------------------------------------------------------------------


def test_the_entropy_of_a_fair_choice_is_the_log_of_its_size():
    assert entropy([0.25] * 4) == pytest.approx(math.log(4))
    assert entropy([1.0, 0.0]) == 0.0


def test_the_papers_uncertainty_is_a_mean_over_the_first_tokens():
    assert mean_entropy([0.2, 0.4, 9.0], first=2) == pytest.approx(0.3)
    assert mean_entropy([]) == 0.0


def test_the_codes_uncertainty_sums_top_tokens_and_divides_by_the_vocabulary():
    # two tokens, each half and half among its two likeliest: 2·ln 2 / ln 4 = 1
    halves = [math.log(0.5), math.log(0.5), math.log(1e-9)]
    assert top_token_uncertainty([halves, halves], 4, top=2) == pytest.approx(1.0)
    assert top_token_uncertainty([halves] * 30, 4, first=20, top=2) == pytest.approx(10.0)


def test_the_uncertainty_of_a_decision_looks_a_few_decisions_ahead():
    assert decision_uncertainties([0.0, 0.4, 0.2], ahead=2) == pytest.approx((0.2, 0.3, 0.2))
