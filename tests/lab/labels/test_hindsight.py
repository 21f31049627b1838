"""Labels in hindsight, and that nothing known at a decision comes from later."""

from dataclasses import replace

import pytest

from support.recordings import long_session
from support.stories import LATE, setup_for, small_task
from trimtab.context.policies.learned.features import ITEM_FEATURES, WHOLE_FEATURES
from trimtab.lab.env.episode import Episode
from trimtab.lab.env.story import Story, recorded_story, task_story
from trimtab.lab.labels.hindsight import by_chance, by_rules, cut, keep, known_at, labelled, leaks


@pytest.fixture(scope="module")
def story() -> Story:
    """A task whose two key points stand in the third message, and are needed in the steps 28 and 29."""
    return task_story(small_task())


def setup(story: Story, *, window: int = 60_000):
    """A window that holds most of it."""
    return setup_for(story.recording, LATE, window=window)


def test_a_result_is_needed_until_the_last_step_that_uses_it(story: Story):
    shown = first_read(story)
    every = list(labelled(story, setup(story)))
    rows = [row for row in every if row.item == shown]
    assert {(row.needed, row.after) for row in rows if row.step < 28} == {(True, 28 - n) for n in steps(rows) if n < 28}
    assert {row.needed for row in rows if row.step == 28} == {True}
    assert {row.needed for row in rows if row.step > 28} <= {False}
    assert all(not row.needed for row in every if row.item != shown)


def first_read(story: Story) -> str:
    """The log's id of the result that shows the key points: the message of that number."""

    episode = Episode(story, setup(story))
    while episode.advance() is not None:
        episode.act(())
    return episode.player.messages[4][0]


def steps(rows) -> set[int]:
    """Requests answered at the decisions of rows."""
    return {row.step for row in rows}


def test_what_a_stub_still_shows_is_needed_and_not_missed(story: Story):
    needed = [row for row in labelled(story, setup(story)) if row.needed]
    assert needed
    # The key points are words, which no stub keeps; a name that it keeps wouldn't be missed.
    assert all(row.missed for row in needed)
    names = {
        step: tuple(replace(need, strings=("handler_1_30",)) for need in needs)
        for step, needs in story.prepared.needs.items()
    }
    named = replace(story, prepared=replace(story.prepared, needs=names))
    assert not all(row.missed for row in labelled(named, setup(story)) if row.needed)


def test_a_row_is_that_of_the_item_and_the_whole_behind_it(story: Story):
    row = next(iter(labelled(story, setup(story), group="family")))
    assert len(row.known) == len(ITEM_FEATURES) + len(WHOLE_FEATURES)
    assert (row.tier, row.group, row.story) == ("T0", "family", story.name)


def test_every_nth_decision_is_labelled(story: Story):
    every = steps(labelled(story, setup(story)))
    some = steps(labelled(story, setup(story), every=4, first=2))
    assert some < every
    assert all(b - a == 4 for a, b in zip(sorted(some), sorted(some)[1:], strict=False))


def test_labels_are_the_same_every_time(story: Story):
    def once():
        return list(labelled(story, setup(story, window=12_000), by_chance(3)))

    assert once() == once()


@pytest.mark.parametrize("driver", [keep, by_rules])
def test_nothing_known_at_a_decision_comes_from_later(story: Story, driver):
    assert list(leaks(story, setup(story, window=16_000), driver, every=6)) == []


def test_nothing_known_at_a_decision_of_a_recording_comes_from_later():
    recorded = recorded_story(long_session(24))
    assert list(leaks(recorded, setup(recorded, window=16_000), by_rules, every=6)) == []


def test_a_feature_that_uses_the_future_is_found(story: Story):
    def cheating(played: Story, seen):
        left = len(played.prepared.steps) - seen.step
        return {item: (*row, float(left)) for item, row in known_at(seen).items()}

    assert list(leaks(story, setup(story), known=cheating, every=6))


def test_a_story_that_is_cut_ends_with_a_blank_answer(story: Story):
    short = cut(story, 5)
    assert len(short.prepared.steps) == 5
    assert short.prepared.steps[-1].answer.message.parts == ()
    assert short.prepared.steps[:-1] == story.prepared.steps[:4]
