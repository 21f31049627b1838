"""What a story comes to under an arm."""

from dataclasses import replace
from itertools import pairwise

import pytest

from support.recordings import long_session
from support.stories import small_task
from trimtab.lab.arms.playing import Conditions, Table
from trimtab.lab.arms.registry import find_arm
from trimtab.lab.env.story import Story, recorded_story, task_story
from trimtab.lab.rewards.prices import REGIMES, Regime
from trimtab.lab.tasks.registry import make_task
from trimtab.lab.tasks.task import Level


@pytest.fixture(scope="module")
def story() -> Story:
    """A task of forty requests."""
    return task_story(make_task("tool-chain", 1, Level(steps=24, lag=10)))


def test_keeping_everything_in_a_window_that_holds_it_costs_one_yardstick(story: Story) -> None:
    for regime in REGIMES:
        played = Table(Conditions(1_000_000, regime)).play(story, find_arm("none"))
        assert played.judged().usd == pytest.approx(played.yardstick.keep_all_usd)
        assert played.reward().success == 1.0


@pytest.mark.parametrize("regime", REGIMES, ids=lambda regime: regime.name)
def test_a_cache_that_grows_cold_between_prompts_is_in_the_yardstick_too(regime: Regime) -> None:
    chat = task_story(make_task("misleading-turn", 0, Level(steps=24, lag=10)))
    asked = [step.asked_at or 0.0 for step in chat.prepared.steps]
    assert max(later - before for before, later in pairwise(asked)) > (regime.cache.ttl_s or 0)
    played = Table(Conditions(1_000_000, regime)).play(chat, find_arm("none"))
    assert played.judged().usd == pytest.approx(played.yardstick.keep_all_usd)


def test_the_prefix_that_a_recording_begins_with_is_cached_in_the_yardstick_too() -> None:
    story = recorded_story(replace(long_session(12), system="Work with care. " * 800))
    played = Table(Conditions(1_000_000, REGIMES[3])).play(story, find_arm("none"))
    assert played.facts[0].cached > 0
    assert played.judged("optimistic").usd == pytest.approx(played.yardstick.keep_all_usd)


def test_a_policy_that_hides_pays_less_per_request_and_is_asked_above_the_soft_threshold(story: Story) -> None:
    table = Table(Conditions(16_000, REGIMES[0]))
    kept, hidden = table.play(story, find_arm("none")), table.play(story, find_arm("rules"))
    assert sum(s.prompt for s in hidden.facts) < sum(s.prompt for s in kept.facts)
    assert (kept.decisions, hidden.decisions > 0) == (0, True)
    assert all(not step.overflow for step in hidden.facts)
    assert kept.reward().success == 0.0, "what doesn't fit can't be sent"


def test_an_arm_is_judged_anew_without_being_played_again() -> None:
    story = task_story(small_task())
    played = Table(Conditions(20_000, noticed=0.8)).play(story, find_arm("mask(keep=2, batch=1)"))
    stubs = [n for step in played.facts for n in step.needs if n.reach == "stub"]
    assert stubs
    blind, sharp = (played.judged(noticed=chance) for chance in (0.0, 1.0))
    chances = [[n.chance for step in judged.steps for n in step.needs] for judged in (blind, sharp)]
    assert min(chances[0]) == 0.0
    assert chances[1] == [1.0] * len(chances[1])
    assert blind.usd < played.judged().usd < sharp.usd


def test_the_yardstick_of_a_story_is_the_same_for_every_arm(story: Story) -> None:
    table = Table(Conditions(16_000))
    assert len({table.play(story, find_arm(spec)).yardstick for spec in ("none", "rules", "truncate")}) == 1
