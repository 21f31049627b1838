"""What may be chosen at a decision, and that the engine agrees."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.recordings import long_session
from support.stories import EARLY, MOVES, drawn_session, setup_for
from trimtab.context.actions import Action
from trimtab.context.policies.learned.grammar import COMMIT, ITEM_OPS, Choice, action_for, actions_of, choices
from trimtab.context.seeing.observation import ItemFacts, Observation
from trimtab.lab.env.acceptance import would_do
from trimtab.lab.env.episode import Episode
from trimtab.lab.env.story import recorded_story

sessions = st.lists(st.sampled_from(MOVES), min_size=4, max_size=20).map(drawn_session)
KINDS = {
    "elide": "elide",
    "fold": "fold",
    "truncate": "fold",
    "summarize_half": "summarize",
    "summarize_fifth": "summarize",
    "expire": "expire",
    "offload": "offload",
    "reload": "restore",
    "compact": "compact",
    "restate": "restate",
}


def decisions(session, *, window=12_000):
    """Yield an episode of the session at each of its decisions; whoever gets it acts."""
    episode = Episode(recorded_story(session), setup_for(session, EARLY, window=window))
    while episode.advance() is not None:
        yield episode


def drawn_batch(episode, rng, *, most=4):
    batch = []
    for _ in range(rng.randint(0, most)):
        choice = rng.choice(choices(episode.observation, batch=batch, accepts=episode.accepts))
        if choice == COMMIT:
            break
        batch.append(choice)
    return batch


@settings(max_examples=8)
@given(sessions, st.integers(0, 2**16), st.sampled_from([9_000, 12_000, 40_000]))
def test_the_engine_takes_whatever_may_be_chosen(session, seed, window):
    rng = Random(seed)
    for episode in decisions(session, window=window):
        seen = episode.observation
        for choice in choices(seen, accepts=episode.accepts)[1:]:
            (action,) = actions_of([choice], seen)
            assert would_do(episode.player, action), (choice, action)
        batch = drawn_batch(episode, rng)
        facts = episode.act(actions_of(batch, seen))
        assert facts.refused == ()
        mine = [edit for edit in facts.edits if edit.author == "policy:open"]
        done = {(edit.kind, target.partition("#")[0]) for edit in mine for target in edit.targets}
        assert {(KINDS[choice.op], choice.item) for choice in batch if choice.item} <= done
        assert {choice.op for choice in batch if not choice.item} <= {edit.kind for edit in mine}


REFUSED = [
    ("elide", lambda item: item.state == "stub"),
    ("elide", lambda item: item.kind == "result" and item.tokens < 30),
    ("fold", lambda item: item.kind == "result" and item.tokens < 100),
    ("truncate", lambda item: item.kind == "result" and item.tokens < 100),
    ("summarize_half", lambda item: item.kind == "result" and item.tokens < 40),
    ("offload", lambda item: item.kind == "assistant" and item.arguments < 100),
    ("elide", lambda item: item.kind == "user" and item.position == 0),
]


@pytest.mark.parametrize(("op", "is_one"), REFUSED)
def test_what_may_not_be_chosen_is_what_the_engine_refuses(op, is_one):
    looked_at = 0
    for episode in decisions(drawn_session(["fail", "grep", "read", "again", "log", "grep", "read"])):
        seen = episode.observation
        valid = choices(seen, accepts=episode.accepts)
        for item in filter(is_one, seen.items):
            looked_at += 1
            assert Choice(op, item.id) not in valid
            assert not would_do(episode.player, action_for(op, item))
        elidable = [choice for choice in valid if choice.op == "elide"][:1]
        episode.act(actions_of(elidable, seen))
    assert looked_at


def test_what_only_a_text_tells_is_let_through_where_nobody_can_be_asked():
    for episode in decisions(drawn_session(["log", "write", "read", "grep"])):
        asked = set(choices(episode.observation, accepts=episode.accepts))
        unasked = set(choices(episode.observation))
        assert asked <= unasked
        assert {choice.op for choice in unasked - asked} <= {
            "fold",
            "truncate",
            "offload",
            "summarize_half",
            "summarize_fifth",
        }
        episode.act(())


def item(number=1, **facts):
    shape = {"kind": "result", "state": "full", "tokens": 2_000, "full_tokens": 2_000, "age": 5, "offset": 0}
    return ItemFacts(id=f"e{number}", position=number, **{**shape, **facts})


def seen(*items, **facts):
    shape = {"step": 9, "used": 10_000, "fixed": 100, "window": 20_000, "room": 18_000, "soft": 9_000, "target": 6_000}
    return Observation(items=items, hard=16_000, **{**shape, **facts})


def ops(observation, **given):
    return {choice.op for choice in choices(observation, **given)}


def test_keeping_everything_is_always_a_choice():
    assert choices(seen()) == (COMMIT,)
    assert actions_of([COMMIT], seen()) == ()


@pytest.mark.parametrize("facts", [{"pinned": True}, {"restored": 1}, {"age": 0}])
def test_what_is_pinned_was_just_brought_back_or_is_new_is_left_alone(facts):
    assert ops(seen(item(**facts))) == {"commit"}


def test_a_full_result_may_be_shortened_in_every_way_and_a_hidden_one_may_come_back():
    assert ops(seen(item())) == {"commit", *ITEM_OPS} - {"offload", "reload"}
    assert ops(seen(item(state="stub", tokens=40))) == {"commit", "reload"}
    assert ops(seen(item(state="folded", tokens=900))) == {"commit", "elide", "reload"}


def test_nothing_comes_back_that_would_not_fit():
    assert ops(seen(item(state="stub", tokens=40, full_tokens=7_000))) == {"commit"}


def test_an_item_takes_part_in_a_batch_once():
    observation = seen(item(1), item(2))
    left = choices(observation, batch=[Choice("elide", "e1")])
    assert {choice.item for choice in left if choice.item} == {"e2"}


def test_a_compaction_is_a_batch_of_its_own():
    many = [item(n, offset=2_000 * n) for n in range(1, 8)]
    observation = seen(*many, used=15_000)
    assert "compact" in ops(observation)
    assert "compact" not in ops(observation, batch=[Choice("elide", "e1")])
    assert ops(observation, batch=[Choice("compact")]) == {"commit"}


def test_the_goal_may_be_said_again_once_in_a_batch():
    observation = seen(goal="mend the parser")
    assert ops(observation) == {"commit", "restate"}
    assert ops(observation, batch=[Choice("restate")]) == {"commit"}
    (action,) = actions_of([Choice("restate")], observation)
    assert action == Action("restate", (), {"text": "mend the parser", "label": "goal"})


def test_equal_wishes_about_several_items_are_one_action():
    observation = seen(item(1), item(2), item(3))
    batch = [Choice("elide", "e1"), Choice("fold", "e2"), Choice("elide", "e3")]
    assert [(a.action, a.targets) for a in actions_of(batch, observation)] == [
        ("elide", ("e1", "e3")),
        ("fold", ("e2",)),
    ]


def test_asking_whether_something_may_be_done_does_nothing():
    session = long_session(12)
    asked, unasked = (Episode(recorded_story(session), setup_for(session, EARLY)) for _ in range(2))
    while (observation := asked.advance()) is not None:
        assert unasked.advance() == observation
        for choice in choices(observation, accepts=asked.accepts):
            for action in actions_of([choice], observation):
                would_do(asked.player, action)
        wish = actions_of(choices(observation)[1:2], observation)
        assert asked.act(wish) == unasked.act(wish)
    assert asked.player.log.lines() == unasked.player.log.lines()
