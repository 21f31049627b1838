"""Success against cost over the weight of cost."""

import pytest

from trimtab.lab.rewards.outcome import NeedMet, Outcome, Spent, StepOutcome, Tier, Yardstick
from trimtab.lab.rewards.pareto import ParetoPoint, best_arms, front, sweep
from trimtab.lab.rewards.reward import BadOutcome, Weights

UNIT = Yardstick("t", 1, "r", 1.0)


def episode(success: float, usd: float, tier: Tier = "T0"):
    return Outcome("t", 1, "r", tier, (StepOutcome(1, needs=(NeedMet("p", success),), spent=(Spent(usd),)),)), UNIT


ARMS = {
    "keep": [episode(1.0, 1.0), episode(0.8, 1.0)],
    "thrifty": [episode(0.7, 0.2), episode(0.7, 0.4)],
    "worse": [episode(0.7, 0.9)],
}


def test_an_arm_is_the_mean_of_its_episodes_under_each_weight():
    points = sweep(ARMS, (0.0, 0.5), Weights())
    assert points[1] == ParetoPoint("thrifty", "T0", 0.0, pytest.approx(0.7), pytest.approx(0.7), pytest.approx(0.3), 2)
    # .7 − .5·.3
    assert points[4].reward == pytest.approx(0.55)


def test_who_pays_more_for_cost_prefers_the_thrifty_arm():
    # keep .9 − λ, thrifty .7 − .3·λ: equal at λ = 2/7
    assert best_arms(sweep(ARMS, (0.0, 0.28, 0.29))) == {0.0: "keep", 0.28: "keep", 0.29: "thrifty"}


def test_of_equals_the_first_by_name_is_best():
    arms = {name: [episode(0.5, 0.5)] for name in ("b", "a")}
    assert best_arms(sweep(arms, (0.1,))) == {0.1: "a"}


def test_the_front_leaves_out_what_another_arm_beats():
    assert [point.arm for point in front(sweep(ARMS, (0.0,)))] == ["thrifty", "keep"]


def test_equal_arms_are_both_on_the_front():
    arms = {name: [episode(0.5, 0.5)] for name in ("a", "b")}
    assert [point.arm for point in front(sweep(arms, (0.0,)))] == ["a", "b"]


@pytest.mark.parametrize("episodes", [[], [episode(1.0, 1.0), episode(1.0, 1.0, "T1")]], ids=["none", "two tiers"])
def test_a_mean_is_over_episodes_of_one_tier(episodes):
    with pytest.raises(BadOutcome, match="tiers"):
        sweep({"arm": episodes})
