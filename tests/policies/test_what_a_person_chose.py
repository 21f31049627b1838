"""Where somebody says from when on and down to where, `rules` keep to it; where nobody does, to what was measured."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from support.engine_session import model
from support.observations import answer, observations, prompt, seen, work
from trimtab.context.budget import Thresholds, budget_for
from trimtab.context.engine import Engine
from trimtab.context.policies.rules import Rules
from trimtab.context.policies.weighing import weigh
from trimtab.context.seeing.observation import Observation
from trimtab.context.settings import EngineSettings
from trimtab.context.window.view import View
from trimtab.types.models import ModelRequest

MILLION = model(1_000_000, max_output=32_000)


@pytest.mark.parametrize(
    ("thresholds", "soft", "target"),
    [
        (Thresholds(), False, False),
        (Thresholds(soft=0.70, target=0.50, hard=0.9), False, False),
        (Thresholds(soft=0.6), True, False),
        (Thresholds(soft_tokens=200_000), True, False),
        (Thresholds(target=0.3), False, True),
        (Thresholds(target_tokens=0), False, True),
    ],
)
def test_a_budget_knows_what_somebody_chose(thresholds: Thresholds, soft: bool, target: bool) -> None:
    budget = budget_for(MILLION, thresholds)
    assert (budget.soft_given, budget.target_given) == (soft, target)


def test_an_observation_knows_it_too() -> None:
    settings = EngineSettings(Thresholds(soft_tokens=200_000, target_tokens=90_000))
    engine = Engine(MILLION, session_id="s", settings=settings)
    observation = engine.observe(engine.look(View(), ModelRequest(MILLION, ())))
    assert (observation.soft_given, observation.target_given) == (True, True)
    assert (observation.soft, observation.target) == (200_000, 90_000)


def test_rules_act_at_the_soft_threshold_that_was_chosen() -> None:
    below, at = (seen(work(9), used=used, soft=7_000, soft_given=True) for used in (6_999, 7_000))
    assert Rules().decide(below) == ()
    assert Rules().decide(at)


def test_a_soft_threshold_above_the_usual_place_is_waited_for() -> None:
    observation = seen(work(12), used=13_600, soft=13_900, soft_given=True)
    assert Rules().decide(observation) == ()
    assert Rules().decide(replace(observation, soft=10_000, soft_given=False))


def test_rules_aim_at_the_target_that_was_chosen() -> None:
    observation = seen(work(13), used=13_500, target=9_000, target_given=True)
    assert Rules().aim(observation) == 9_000
    left = observation.used - weigh(Rules(along=False).decide(observation), observation).gain
    assert 9_000 - 1_200 < left <= 9_000


def test_with_only_soft_chosen_the_aim_lies_as_far_below_it_as_usual() -> None:
    usual, chosen = seen(work(3)), seen(work(3), soft=6_000, soft_given=True)
    rules = Rules()
    share = (rules.aim(usual) - 500) / (rules.acts_from(usual) - 500)
    assert rules.aim(chosen) == 500 + int(share * (6_000 - 500))


def test_talk_without_results_is_compacted_by_what_was_chosen() -> None:
    talk = [item for n in range(30) for item in (prompt(n, 300, age=30 - n), answer(n, 300, age=30 - n))]
    (action,) = Rules().decide(seen(talk, window=1_000_000, room=900_000, hard=800_000, soft=18_000, soft_given=True))
    assert action.action == "compact"
    assert action.params["keep_tokens"] < 18_000


def test_thresholds_below_what_is_fixed_count_as_none() -> None:
    chosen = seen(work(4), fixed=10_000, soft=9_000, target=8_000, soft_given=True, target_given=True)
    usual = replace(chosen, soft_given=False, target_given=False)
    rules = Rules()
    assert (rules.acts_from(chosen), rules.aim(chosen)) == (rules.acts_from(usual), rules.aim(usual))


@given(observations())
def test_without_a_choice_the_measured_shares_hold(observation: Observation) -> None:
    rules = Rules()
    space = max(0, observation.hard - observation.fixed)
    assert rules.acts_from(observation) == max(observation.soft, observation.fixed + 0.9 * space)
    assert rules.aim(observation) == observation.fixed + int(rules.left * space)


@given(observations(), st.booleans(), st.booleans())
def test_nothing_is_done_below_a_chosen_threshold_and_the_aim_lies_below_it(
    observation: Observation, soft: bool, target: bool
) -> None:
    observation = replace(observation, soft_given=soft, target_given=target)
    rules = Rules()
    assert rules.acts_from(observation) >= observation.soft
    assert rules.aim(observation) <= max(rules.acts_from(observation), observation.fixed)
    if observation.used < observation.soft:
        assert rules.decide(observation) == ()
