"""What whoever knows the story does, and how far it gets."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.stories import EARLY, MOVES, drawn_session, setup_for, small_task
from trimtab.context.seeing.observation import Observation
from trimtab.lab.arms.foresight import Foresight, due
from trimtab.lab.arms.playing import Conditions, Played, Table
from trimtab.lab.arms.registry import find_arm
from trimtab.lab.env.episode import Episode
from trimtab.lab.env.story import Story, recorded_story, task_story
from trimtab.lab.rewards.prices import REGIMES
from trimtab.lab.tasks.registry import make_task
from trimtab.lab.tasks.task import Level, chain


@pytest.fixture(scope="module")
def story() -> Story:
    """A chain of calls whose results don't fit a window of 12,000."""
    return task_story(make_task("tool-chain", 3, Level(steps=30, lag=10, distractors=2, tokens=1_500)))


def observed(story: Story) -> Iterator[Observation]:
    episode = Episode(story, setup_for(story.recording, EARLY, window=200_000))
    while (observation := episode.advance()) is not None:
        yield observation
        episode.act(())


def test_every_item_is_known_by_its_number_in_the_story(story: Story) -> None:
    foresight = Foresight(story)
    for request, observation in enumerate(observed(story), 1):
        numbers = foresight.numbers(observation)
        assert [numbers[item.id] for item in observation.items] == list(range(len(observation.items)))
        assert foresight.request(numbers.values()) == request


def test_a_chat_is_known_by_its_turns() -> None:
    task = make_task("misleading-turn", 1, Level(steps=12, lag=4))
    for observation in observed(task_story(task)):
        numbers = Foresight(task_story(task)).numbers(observation)
        assert [numbers[item.id] for item in observation.items] == list(range(len(observation.items)))


@settings(max_examples=8)
@given(st.lists(st.sampled_from(MOVES), min_size=1, max_size=12))
def test_so_it_is_in_any_recording(moves: list[str]) -> None:
    story = recorded_story(drawn_session(moves))
    foresight = Foresight(story)
    for request, observation in enumerate(observed(story), 1):
        numbers = foresight.numbers(observation)
        fetched = [item for item in observation.items if (item.call_id or "").startswith("reload")]
        known = [numbers[item.id] for item in observation.items if item.id in numbers]
        assert known == list(range(len(known)))
        assert len(observation.items) - len(known) == 2 * len(fetched)
        assert foresight.request(numbers.values()) == request


def test_what_a_later_request_uses_stays_until_something_else_shows_it() -> None:
    task = small_task(reads=12, needed=(7,))
    foresight = Foresight(task_story(task))
    shown = dict.fromkeys(range(len(list(chain(task.recording)))), 1)
    stay, back = due(foresight, 6, shown, {})
    assert (stay, back) == ({4: 7}, {})
    assert due(foresight, 6, {n: 1 for n in shown if n != 4}, {4: 1}) == ({}, {4: 7})
    assert due(foresight, 8, shown, {}) == ({}, {})


@pytest.mark.parametrize("regime", REGIMES, ids=lambda regime: regime.name)
def test_the_clairvoyant_misses_nothing_and_pays_less_than_rules(story: Story, regime: object) -> None:
    table = Table(Conditions(12_000, regime))
    bound, inner, rules = (
        table.play(story, find_arm(spec)) for spec in ("clairvoyant(drop=True)", "clairvoyant", "rules")
    )
    for played in (bound, inner):
        assert played.reward().success == 1.0
        assert played.reward().total > rules.reward().total + 0.1
        assert not any(step.overflow or step.forced or step.refused for step in played.facts)
    kinds = {edit.kind for step in inner.facts for edit in step.edits}
    assert kinds <= {"elide", "restore"}, "without drop it does what policies of the grammar do"


def test_what_does_not_fit_until_it_is_used_comes_back_in_time() -> None:
    story = task_story(make_task("root-cause-last", 0, Level(steps=47, lag=15, distractors=3, tokens=2_068)))
    played = Table(Conditions(12_000, REGIMES[0])).play(story, find_arm("clairvoyant"))
    assert brought_back(played)
    assert played.reward().success == 1.0


def brought_back(played: Played) -> list[str]:
    return [edit.kind for step in played.facts for edit in step.edits if edit.kind == "restore"]


def test_what_is_used_far_away_is_hidden_until_then_where_reading_it_is_dear() -> None:
    task = small_task(reads=60, needed=(60,))
    story = task_story(task)
    dear, cheap = (
        Table(Conditions(200_000, regime)).play(story, find_arm("clairvoyant")) for regime in (REGIMES[0], REGIMES[2])
    )
    assert dear.reward().success == cheap.reward().success == 1.0
    assert not brought_back(cheap)


def test_a_story_that_nobody_looks_ahead_in_is_not_read() -> None:
    assert find_arm("clairvoyant").kind == "bound"
