"""What an episode plays, shows and says."""

import subprocess
import sys
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.recordings import long_session
from support.stories import EARLY, LATE, MOVES, cut, drawn_session, setup_for, small_task
from trimtab.context.actions import Action
from trimtab.context.policies.peer_table import PEERS
from trimtab.context.policies.registry import find_policy
from trimtab.lab.env.episode import Episode, opened, play
from trimtab.lab.env.story import recorded_story, task_story
from trimtab.sessions.replay.report import figures_of
from trimtab.sessions.replay.run import Plan, prepare, replay
from trimtab.types.models import add_costs, cost_usd

sessions = st.lists(st.sampled_from(MOVES), min_size=1, max_size=24).map(drawn_session)
ALL = ["none", "rules", "mask", "truncate", "summary", *sorted(row.name for row in PEERS)]


def assert_parity(session, name, *, window):
    """An episode that does what a policy says is the replay with that policy."""
    policy = find_policy(name)
    setup = setup_for(session, opened(policy), window=window)
    made = replay(prepare(session), Plan(policy, setup.model))
    episode = Episode(recorded_story(session), setup)
    facts = play(episode, policy)
    figures = figures_of(made)
    bills = [usage for step in facts for usage in (step.request, *step.summaries, *step.reloads)]
    again = [usage for step in facts for usage in step.repeated]
    prices = setup.model.prices
    assert add_costs(*(cost_usd(usage, prices) for usage in bills)) == pytest.approx(figures.cost_usd)
    assert add_costs(*(cost_usd(usage, prices) for usage in (*bills, *again))) == pytest.approx(
        figures.cost_usd_pessimistic
    )
    assert [(s.prompt, s.cached, s.output) for s in facts] == [(s.prompt, s.cached, s.output) for s in made.steps]
    assert [tuple(n.reach for n in s.needs) for s in facts] == [s.states for s in made.steps]
    assert [(s.overflow, s.invalid) for s in facts] == [(s.overflow, s.invalid) for s in made.steps]
    assert tuple(episode.player.edits) == made.edits
    assert sum(len(step.edits) for step in facts) == figures.edits
    assert sum(len(step.forced) for step in facts) == figures.ladder_edits
    assert len({edit.batch for step in facts for edit in step.edits}) == figures.edit_batches


@pytest.mark.parametrize("name", ALL)
def test_an_episode_that_does_what_a_policy_says_is_the_replay_with_it(name):
    assert_parity(long_session(20), name, window=14_000)


@settings(max_examples=6)
@given(sessions, st.sampled_from(ALL), st.sampled_from([9_000, 15_000]))
def test_so_it_is_whatever_happens_in_the_session(session, name, window):
    assert_parity(session, name, window=window)


def observations(episode, actions=()):
    seen = []
    while (observation := episode.advance()) is not None:
        seen.append(msgspec.json.encode(observation))
        episode.act(actions)
    return seen


@settings(max_examples=10)
@given(sessions, st.integers(1, 24), st.sampled_from([9_000, 40_000]))
def test_what_comes_later_changes_nothing_of_what_is_seen(session, answers, window):
    setup = setup_for(session, EARLY, window=window)
    whole, short = (
        Episode(recorded_story(s), setup) for s in (session, cut(session, min(answers, session_steps(session))))
    )
    seen, before = observations(whole), observations(short)
    assert seen[: len(before)] == before
    assert whole.facts[: len(short.facts)] == short.facts


def session_steps(session):
    return len(prepare(session).steps)


def test_nothing_is_to_be_decided_below_the_soft_threshold_unless_the_policy_asks_for_it():
    session = long_session(3)
    assert len(observations(Episode(recorded_story(session), setup_for(session, LATE)))) == 0
    assert len(observations(Episode(recorded_story(session), setup_for(session, EARLY)))) == session_steps(session)


def test_an_action_is_done_in_front_of_the_request_that_it_was_decided_for():
    session = long_session(6)
    episode = Episode(recorded_story(session), setup_for(session, EARLY))
    while (observation := episode.advance()) is not None and len(observation.items) < 6:
        episode.act(())
    target = next(item for item in observation.items if item.kind == "result")
    facts = episode.act([Action("elide", (target.id,))])
    (edit,) = facts.edits
    assert (edit.kind, edit.author, edit.targets, edit.forced) == ("elide", "policy:open", (target.id,), False)
    assert edit.gained == edit.before - edit.after > 0
    assert facts.prompt < observation.used
    assert facts.actions == (Action("elide", (target.id,)),)


def test_what_the_ladder_has_to_do_is_told_apart():
    session = long_session(40)
    episode = Episode(recorded_story(session), setup_for(session))
    observations(episode)
    edits = [edit for step in episode.facts for edit in step.edits]
    assert edits
    assert {edit.author for edit in edits} == {"recovery"}
    assert all(edit.forced for edit in edits)


def test_a_wish_that_comes_to_nothing_is_told():
    session = long_session(6)
    episode = Episode(recorded_story(session), setup_for(session, EARLY))
    episode.advance()
    facts = episode.act([Action("elide", ("nowhere",))])
    assert facts.edits == ()
    assert "elide names nothing that is there" in facts.refused[0]


def test_every_fact_says_which_tier_it_is_of():
    session, task = long_session(6), small_task(reads=6, needed=(5,))
    recorded = Episode(recorded_story(session), setup_for(session))
    generated = Episode(task_story(task), setup_for(task.recording))
    for episode, tier in ((recorded, "T1"), (generated, "T0")):
        observations(episode)
        assert {facts.tier for facts in episode.facts} == {tier}


def test_a_key_point_in_sight_is_had_for_certain():
    task = small_task(reads=6, needed=(5,))
    episode = Episode(task_story(task), setup_for(task.recording, window=200_000))
    observations(episode)
    needs = [need for step in episode.facts for need in step.needs]
    assert [(n.point, n.reach, n.chance, n.message) for n in needs] == [(0, "visible", 1.0, 4), (1, "visible", 1.0, 4)]


def test_a_key_point_behind_a_stub_is_had_as_likely_as_stubs_are_noticed_and_fetched_once_for_both():
    task = small_task()
    episode = Episode(task_story(task), setup_for(task.recording, noticed=0.8))
    policy = find_policy("rules(names=0, keep_names=0.0)")
    play(episode, policy)
    first, second = (episode.facts[step - 1] for step in (28, 29))
    assert [(n.reach, n.chance) for n in first.needs] == [("stub", 0.8), ("stub", 0.8)]
    assert len(first.reloads) == 1
    assert first.noticed == 0.8
    assert [n.reach for n in second.needs] == ["visible", "visible"]
    assert second.reloads == ()


def test_a_key_point_that_nothing_leads_to_is_missed_and_stays_away():
    task = small_task()
    policy = find_policy("truncate")
    episode = Episode(task_story(task), setup_for(task.recording, opened(policy)))
    play(episode, policy)
    for step in (28, 29):
        facts = episode.facts[step - 1]
        assert [(n.reach, n.chance) for n in facts.needs] == [("lost", 0.0), ("lost", 0.0)]
        assert facts.reloads == ()


def test_a_key_point_has_to_stand_where_its_task_says():
    task = small_task(reads=6, needed=(5,))
    wrong = replace(task.points[0], message=2)
    with pytest.raises(ValueError, match="key point 0 doesn't stand in message 2"):
        task_story(replace(task, points=(wrong,)))


def test_all_but_the_gymnasium_module_is_loaded_without_the_extra():
    modules = ("episode", "facts", "snapshot", "story", "yardstick")
    named = ["trimtab.context.policies.learned.grammar", *(f"trimtab.lab.env.{name}" for name in modules)]
    program = f"import sys, {', '.join(named)}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "trimtab.lab.env.episode" in loaded
    assert {"gymnasium", "numpy"}.isdisjoint(loaded)


def test_an_episode_is_asked_for_in_turns():
    session = long_session(4)
    episode = Episode(recorded_story(session), setup_for(session, EARLY))
    with pytest.raises(RuntimeError, match=r"advance\(\) first"):
        episode.act(())
    episode.advance()
    with pytest.raises(RuntimeError, match=r"answer with act\(\)"):
        episode.advance()
    with pytest.raises(RuntimeError, match="branching=True"):
        episode.snapshot()
