"""The scheme that scores steps, by hand; and that it pays those who deceive it, while the reward doesn't."""

import pytest

from trimtab.lab.rewards.collapse import log_of, loop_alarm
from trimtab.lab.rewards.outcome import ActionTaken, NeedMet, Outcome, StepOutcome
from trimtab.lab.rewards.plays import keep, loop, loop_with_summaries, play, spam, tidy, yardstick
from trimtab.lab.rewards.prices import REGIMES
from trimtab.lab.rewards.reward import reward
from trimtab.lab.rewards.step_variant import SIMPLE, StepScheme, step_reward


def points(*steps: StepOutcome, scheme: StepScheme = SIMPLE):
    found = step_reward(Outcome("t", 0, "r", "T0", steps), scheme)
    return {action: pytest.approx(value) for action, value in found.by_action().items()}


def one(name: str, before: int, after: int, **more) -> StepOutcome:
    return StepOutcome(1, (ActionTaken("a", name, before=before, after=after, **more),))


def test_less_than_half_the_tokens_with_everything_findable_is_a_point():
    assert points(one("elide", 100, 49)) == {"a": 1.0}


def test_half_the_tokens_is_not_less_than_half():
    assert points(one("elide", 100, 50)) == {}


def test_what_cannot_be_found_any_more_is_no_point():
    assert points(one("drop", 100, 0, findable=False)) == {}


def test_a_summary_with_three_fields_while_succeeding():
    # 1 + .2 + 3·.05
    assert points(one("summarize", 100, 10, fields=("number", "name", "error"))) == {"a": 1.35}


def test_a_summary_after_the_work_went_wrong_earns_no_bonus():
    missed = StepOutcome(1, needs=(NeedMet("p", 0.4),))
    late = StepOutcome(2, (ActionTaken("a", "summarize", before=100, after=60),))
    assert points(missed, late) == {}
    assert points(late, missed) == {"a": 0.2}


def test_a_needed_reload_is_charged_to_the_action_that_hid_it():
    needed = StepOutcome(2, needs=(NeedMet("p", 0.85, "a", reloads=0.85),))
    assert points(one("elide", 100, 10), needed) == {"a": 1.0 - 0.85}


def test_a_reload_that_nothing_needed_is_charged_only_on_request():
    back = StepOutcome(2, (ActionTaken("b", "reload", before=10, after=100),))
    assert points(back) == {}
    assert points(back, scheme=StepScheme(all_reloads=True)) == {"b": -1.0}


def test_a_refused_action_and_keeping_earn_nothing():
    assert points(one("elide", 100, 10, refused=True)) == {}
    assert points(one("keep", 100, 10)) == {}


def test_decent_behaviour_is_worth_more_than_keeping_everything():
    unit = yardstick()
    assert reward(play(tidy), unit).total > reward(play(keep), unit).total
    assert step_reward(play(tidy)).total > step_reward(play(keep)).total == 0.0


@pytest.mark.parametrize("regime", REGIMES, ids=lambda regime: regime.name)
@pytest.mark.parametrize("hack", [loop, loop_with_summaries, spam], ids=lambda hack: hack.__name__)
def test_a_hack_earns_more_than_decent_behaviour_by_steps_and_less_than_doing_nothing_by_the_reward(hack, regime):
    unit = yardstick(regime=regime)
    hacked, tidied, kept = (play(player, regime=regime) for player in (hack, tidy, keep))
    assert step_reward(hacked).total > 2 * step_reward(tidied).total
    assert reward(hacked, unit).total < reward(kept, unit).total < reward(tidied, unit).total


def test_charging_every_reload_does_not_close_the_loop():
    # each round: +1 +.2 +2·.05 for the summary, −1 for the reload
    strict = StepScheme(all_reloads=True)
    assert step_reward(play(loop_with_summaries), strict).total == pytest.approx(23 * 1.3 - 22)
    assert step_reward(play(loop_with_summaries), strict).total > step_reward(play(tidy), strict).total


def test_the_loop_is_what_the_alarm_for_loops_hears():
    assert loop_alarm([log_of(play(loop), "loop")]) is not None
    assert loop_alarm([log_of(play(tidy), "tidy")]) is None
