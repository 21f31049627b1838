"""Rewards: arithmetic by hand, parts that sum to the total, forced edits, budgets, and what is refused."""

import math
from fractions import Fraction

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.lab.rewards.outcome import ActionTaken, Excess, NeedMet, Outcome, Spent, StepOutcome, Yardstick
from trimtab.lab.rewards.plays import play, tidy, yardstick
from trimtab.lab.rewards.reward import BadOutcome, MixedGroup, Part, Weights, action_lines, reward

UNIT = Yardstick("t", 1, "r", 2.0)
WEIGHTS = Weights(cost=0.5, reload=0.1, overflow=0.3, invalid=0.05, management=0.01)


def outcome(*steps: StepOutcome, passed: float | None = None) -> Outcome:
    return Outcome("t", 1, "r", "T0", steps, passed)


EPISODE = outcome(
    StepOutcome(1, (ActionTaken("a", "elide"),), spent=(Spent(0.4), Spent(0.1, "summary", "a"))),
    StepOutcome(
        2, (ActionTaken("b", "elide", forced=True), ActionTaken("c", "fold", refused=True)), spent=(Spent(0.3),)
    ),
    StepOutcome(
        3,
        (ActionTaken("d", "reload"), ActionTaken("e", "keep")),
        needs=(NeedMet("p", 1.0), NeedMet("q", 0.8, "a", reloads=0.8), NeedMet("s", 0.5, "b")),
        spent=(Spent(0.2), Spent(0.1, "reload", "a")),
        invalid=1,
    ),
)


def test_a_reward_by_hand():
    # success .8 · .5 = .4; cost 1.1 of 2 → .55 · .5 = .275; reloads .8 + 1 → .18; invalid c and one more → .1; a, b, d → .03
    found = reward(EPISODE, UNIT, WEIGHTS)
    assert found.by_term() == pytest.approx(
        {"success": 0.4, "cost": -0.275, "reload": -0.18, "invalid": -0.1, "management": -0.03}
    )
    assert found.total == pytest.approx(0.4 - 0.275 - 0.18 - 0.1 - 0.03)


def test_each_action_has_its_share():
    # a: success −.2, cost .1/2·.5 twice, reload .8·.1, itself. b: success .8·(−.5), itself. c: refused. d: reload and itself
    assert reward(EPISODE, UNIT, WEIGHTS).by_action() == pytest.approx(
        {
            "a": -0.2 - 0.025 - 0.025 - 0.08 - 0.01,
            "b": -0.4 - 0.01,
            "c": -0.05,
            "d": -0.1 - 0.01,
            "": 1.0 - 0.1 - 0.075 - 0.05 - 0.05,
        }
    )


def test_each_step_has_its_share():
    assert reward(EPISODE, UNIT, WEIGHTS).by_step() == pytest.approx(
        {0: 1.0, 1: -0.125 - 0.01, 2: -0.075 - 0.01 - 0.05, 3: -0.6 - 0.075 - 0.18 - 0.05 - 0.01}
    )


def test_forced_edits_are_charged_and_their_share_is_told():
    found = reward(EPISODE, UNIT, WEIGHTS)
    assert {part.action for part in found.parts if part.forced} == {"b"}
    # charged to actions: a .34, b .41, c .05, d .11
    assert found.forced_share == pytest.approx(0.41 / 0.91)
    # done: a, b, d; c was refused, and e kept
    assert EPISODE.forced_share == pytest.approx(1 / 3)


def test_a_forced_edit_costs_what_the_same_edit_costs_when_it_is_chosen():
    def episode(forced: bool) -> Outcome:
        return outcome(
            StepOutcome(1, (ActionTaken("a", "elide", forced=forced),)), StepOutcome(2, needs=(NeedMet("p", 0.5, "a"),))
        )

    assert reward(episode(True), UNIT).total == reward(episode(False), UNIT).total


def test_the_actions_are_printed_with_what_they_come_to():
    assert action_lines(EPISODE, reward(EPISODE, UNIT, WEIGHTS)) == (
        "   1  a elide: -0.3400 (success -0.2000, cost -0.0500, management -0.0100, reload -0.0800)",
        "   2  b elide (forced): -0.4100 (success -0.4000, management -0.0100)",
        "   2  c fold: -0.0500 (invalid -0.0500)",
        "   3  d reload: -0.1100 (management -0.0100, reload -0.1000)",
        "   3  e keep: +0.0000",
        "      without an action: +0.7250 (success +1.0000, cost -0.2250, invalid -0.0500)",
        "      total -0.1850",
    )


def test_the_first_miss_takes_the_most():
    found = reward(outcome(StepOutcome(1, needs=(NeedMet("p", 0.5, "a"), NeedMet("q", 0.5, "b")))), UNIT)
    assert found.by_action() == {"": 1.0, "a": -0.5, "b": -0.25}


def test_measured_success_stands_in_place_of_the_expected_one():
    missed = StepOutcome(1, needs=(NeedMet("p", 0.0, "a"),))
    assert reward(outcome(missed, passed=1.0), UNIT).parts == (Part(1, "success", 1.0),)
    assert reward(outcome(missed, passed=0.0), UNIT).parts == ()


def test_an_episode_without_requests_succeeds_for_nothing():
    assert reward(outcome(), UNIT).total == 1.0


OVER = {"the window": StepOutcome(2, overflow=True), "a share of it": StepOutcome(2, excess=(Excess("history", 9, 8),))}


@pytest.mark.parametrize("what", OVER)
def test_a_request_over_the_budget_ends_success(what):
    # .8 was left when request 2 couldn't be made; what request 3 needs is asked by nobody
    steps = (StepOutcome(1, needs=(NeedMet("p", 0.8),)), OVER[what], StepOutcome(3, needs=(NeedMet("q", 0.1),)))
    found = reward(outcome(*steps), UNIT, WEIGHTS)
    assert found.by_term() == pytest.approx({"success": 0.0, "overflow": -0.3})
    soft = reward(outcome(*steps), UNIT, msgspec.structs.replace(WEIGHTS, hard=False))
    assert soft.by_term() == pytest.approx({"success": 0.08, "overflow": -0.3})


def test_after_the_first_overflow_others_count_only_where_it_ends_nothing():
    steps = [StepOutcome(step, spent=(Spent(0.2),), overflow=step > 1) for step in (1, 2, 3)]
    # all three are paid: .6 of 2, half
    hard = reward(outcome(*steps), UNIT, WEIGHTS)
    assert hard.by_term() == pytest.approx({"success": 0.0, "overflow": -0.3, "cost": -0.15})
    soft = reward(outcome(*steps), UNIT, msgspec.structs.replace(WEIGHTS, hard=False))
    assert soft.by_term() == pytest.approx({"success": 1.0, "overflow": -0.6, "cost": -0.15})


@pytest.mark.parametrize("other", [("u", 1, "r"), ("t", 2, "r"), ("t", 1, "s")])
def test_an_episode_is_measured_with_the_yardstick_of_its_own_group(other):
    with pytest.raises(MixedGroup):
        reward(outcome(), Yardstick(*other, 2.0))


BAD = {
    "a chance above one": (outcome(StepOutcome(4, needs=(NeedMet("p", 1.5),))), UNIT),
    "no chance at all": (outcome(StepOutcome(4, needs=(NeedMet("p", math.nan),))), UNIT),
    "a negative price": (outcome(StepOutcome(4, spent=(Spent(-1.0),))), UNIT),
    "success above one": (outcome(StepOutcome(4), passed=2.0), UNIT),
    "a unit of nothing": (outcome(), Yardstick("t", 1, "r", 0.0)),
    "an unknown unit": (outcome(), Yardstick("t", 1, "r", math.nan)),
}


@pytest.mark.parametrize("case", BAD)
def test_figures_that_cannot_be_are_refused(case):
    with pytest.raises(BadOutcome):
        reward(*BAD[case])


chances = st.floats(0, 1)
names = st.sampled_from(["", "a1", "a2", "gone"])
needs = st.builds(NeedMet, st.just("p"), chances, names, st.floats(0, 2))
spent = st.builds(Spent, st.floats(0, 5), st.sampled_from(["request", "summary", "reload"]), names)
actions = st.builds(
    ActionTaken,
    names.filter(bool),
    st.sampled_from(["keep", "elide", "summarize", "reload"]),
    forced=st.booleans(),
    refused=st.booleans(),
)
steps = st.builds(
    StepOutcome,
    st.integers(1, 9),
    st.lists(actions, max_size=3).map(tuple),
    st.lists(needs, max_size=3).map(tuple),
    st.lists(spent, max_size=3).map(tuple),
    overflow=st.booleans(),
    invalid=st.integers(0, 2),
)
outcomes = st.lists(steps, max_size=6).map(lambda made: outcome(*made))
weights = st.builds(Weights, *(st.floats(0, 2).map(lambda w: round(w, 3)) for _ in range(5)), hard=st.booleans())


@given(episode=outcomes, weights=weights)
def test_the_parts_sum_to_the_total_whoever_adds_them_up(episode, weights):
    found = reward(episode, UNIT, weights)
    assert float(sum(Fraction(part.value) for part in found.parts)) == found.total
    for shares in (found.by_term(), found.by_step(), found.by_action()):
        assert math.fsum(shares.values()) == pytest.approx(found.total, abs=1e-9)


@given(episode=outcomes, weights=weights)
def test_the_total_is_the_formula(episode, weights):
    survives = not (weights.hard and any(step.overflow for step in episode.steps))
    success = math.prod(need.chance for step in episode.steps for need in step.needs) if survives else 0.0
    done = [a for a in episode.actions if not a.refused and a.name != "keep"]
    overflows = sum(step.overflow for step in episode.steps)
    reloads = sum(need.reloads for step in episode.steps for need in step.needs) + sum(a.name == "reload" for a in done)
    invalid = sum(step.invalid for step in episode.steps) + sum(a.refused for a in episode.actions)
    expected = (
        success
        - weights.cost * episode.usd / UNIT.keep_all_usd
        - weights.reload * reloads
        - weights.overflow * (overflows if not weights.hard else min(overflows, 1))
        - weights.invalid * invalid
        - weights.management * len(done)
    )
    found = reward(episode, UNIT, weights)
    assert found.total == pytest.approx(expected, abs=1e-9)
    assert found.success == pytest.approx(success, abs=1e-12)


@given(episode=outcomes)
def test_who_is_charged_changes_nothing_of_the_total(episode):
    nobody = msgspec.structs.replace(
        episode,
        steps=tuple(
            msgspec.structs.replace(
                step,
                needs=tuple(msgspec.structs.replace(n, hidden_by="") for n in step.needs),
                spent=tuple(msgspec.structs.replace(s, action="") for s in step.spent),
            )
            for step in episode.steps
        ),
    )
    assert reward(nobody, UNIT).total == reward(episode, UNIT).total


@given(episode=outcomes)
def test_an_outcome_survives_being_written_down(episode):
    written = msgspec.json.encode(episode)
    assert msgspec.json.decode(written, type=Outcome) == episode


def test_the_efficiency_share_is_that_of_cost_among_the_terms():
    # success .4, cost .275, reload .18, invalid .1, management .03: .985 in all
    assert reward(EPISODE, UNIT, WEIGHTS).efficiency_share == pytest.approx(0.275 / 0.985)
    assert reward(outcome(passed=0.0), UNIT).efficiency_share == 0.0


def test_a_played_story_is_cheaper_than_its_yardstick_where_the_policy_tidies_up():
    found = reward(play(tidy), yardstick(), Weights(cost=1.0, management=0.0))
    assert found.success == 1.0
    assert -1.0 < found.by_term()["cost"] < -0.5
