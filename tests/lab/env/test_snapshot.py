"""Snapshots of episodes, and what goes on from them."""

import dataclasses
import types
from functools import partial
from random import Random
from re import Pattern

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.recordings import long_session
from support.stories import EARLY, LATE, MOVES, drawn_session, setup_for
from trimtab.context.counting.counter import Counter
from trimtab.context.cycle.account import _Shaped
from trimtab.context.policies.base import Manners
from trimtab.context.policies.learned.grammar import COMMIT, actions_of, choices
from trimtab.context.policies.registry import find_policy
from trimtab.context.seeing.observing import _Lasting
from trimtab.context.window.layers import Layers
from trimtab.context.window.reverts import Reverted
from trimtab.context.window.vector import Vector
from trimtab.context.window.view import View, _Index
from trimtab.lab.env.episode import Episode, Open, play
from trimtab.lab.env.snapshot import CHANGING, _bound, _clock, _each, _own, _rungs, _uses, fork
from trimtab.lab.env.story import recorded_story
from trimtab.sessions.replay.sizes import Sizes
from trimtab.types.codec import Entry

GUARDED = Open(manners=Manners(guarded=True, early=True))
sessions = st.lists(st.sampled_from(MOVES), min_size=4, max_size=20).map(drawn_session)
policies = st.sampled_from([EARLY, LATE, GUARDED])
windows = st.sampled_from([9_000, 14_000])


def drawn_actions(observation, rng):
    """A batch of up to three choices."""
    batch = []
    for _ in range(rng.randint(0, 3)):
        choice = rng.choice(choices(observation, batch=batch))
        if choice == COMMIT:
            break
        batch.append(choice)
    return actions_of(batch, observation)


def played_on(episode, seed, *, actions=()):
    """Go on to the end: first with `actions`, one for each decision, then drawn ones. Returns what was wanted and each request that came of it."""
    rng, wanted, requests = Random(seed), [], []
    given = list(actions)
    observation = episode.observation or episode.advance()
    while observation is not None:
        wish = given.pop(0) if given else drawn_actions(observation, rng)
        wanted.append(wish)
        episode.act(wish)
        requests.append(msgspec.json.encode(episode.player.sent))
        observation = episode.advance()
    return wanted, requests


def told(episode):
    """All that an episode came to."""
    return episode.facts, episode.player.log.lines()


@settings(max_examples=10)
@given(sessions, policies, windows, st.integers(0, 2**16), st.data())
def test_the_same_actions_from_a_snapshot_give_the_same_bytes(session, policy, window, seed, data):
    story, setup = recorded_story(session), setup_for(session, policy, window=window)
    plain = Episode(story, setup)
    wanted, requests = played_on(plain, seed)
    if not wanted:
        return
    at = data.draw(st.integers(0, len(wanted) - 1), label="decision")
    behind = data.draw(st.booleans(), label="behind the action")
    original = Episode(story, setup, branching=True)
    original.advance()
    for wish in wanted[:at]:
        original.act(wish)
        original.advance()
    if behind:
        original.act(wanted[at])
    snapshot, left = original.snapshot(), wanted[at + behind :]
    branch, other = (Episode.of(snapshot, story, setup) for _ in range(2))
    # Whoever goes on otherwise is heard by nobody: not by the episode that the snapshot is of, and not by one that begins there later.
    played_on(other, seed + 1)
    assert played_on(branch, 0, actions=left) == (left, requests[at + behind :])
    assert told(branch) == told(plain)
    late = Episode.of(snapshot, story, setup)
    played_on(other if not other.done else late, 0, actions=left)
    played_on(original, 0, actions=left)
    assert told(original) == told(plain)
    if late.done:
        assert told(late) == told(plain)


@settings(max_examples=4)
@given(sessions, policies, windows, st.integers(0, 2**16))
def test_branches_that_go_on_in_turns_do_not_hear_each_other(session, policy, window, seed):
    story, setup = recorded_story(session), setup_for(session, policy, window=window)
    alone = [Episode(story, setup) for _ in range(3)]
    for number, episode in enumerate(alone):
        played_on(episode, seed + number)
    snapshot = Episode(story, setup).snapshot()
    together = [Episode.of(snapshot, story, setup) for _ in alone]
    rngs = [Random(seed + number) for number in range(len(together))]
    while any(not episode.done for episode in together):
        for episode, rng in zip(together, rngs, strict=True):
            if not episode.done and (observation := episode.advance()) is not None:
                episode.act(drawn_actions(observation, rng))
    assert [told(episode) for episode in together] == [told(episode) for episode in alone]


def test_a_branch_of_a_branch_is_as_good():
    session = drawn_session(["read", "again", "log", "read", "write", "grep", "read"])
    story, setup = recorded_story(session), setup_for(session, EARLY, window=9_000)
    plain = Episode(story, setup)
    wanted, _ = played_on(plain, 3)
    episode = Episode(story, setup, branching=True)
    episode.advance()
    for wish in wanted:
        episode = Episode.of(episode.snapshot(), story, setup, branching=True)
        episode.act(wish)
        episode.advance()
    assert told(episode) == told(plain)


def test_a_snapshot_in_front_of_a_decision_shows_what_was_seen_there():
    session = long_session(20)
    story, setup = recorded_story(session), setup_for(session, LATE)
    episode = Episode(story, setup, branching=True)
    seen = episode.advance()
    branch = Episode.of(episode.snapshot(), story, setup)
    assert seen is not None
    assert branch.observation == seen


# A walk through all that a player keeps: whatever changes has to be in the table of what is copied.

REMEMBERS = (Sizes, Counter, _Lasting, _Index)
"""These change, and only remember what can be worked out."""
REFERRED = {"Account._keys", "References._known", "Player.needs"}
"""Tables that all copies share: two that remember, and one that the story has."""
VALUES = (View, Vector, Reverted, Layers, msgspec.Struct, Entry, str, int, float, bytes, type, types.NoneType, Pattern)
FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, partial)


def changing_parts(thing):
    """Yield where something changes of which a copy of `thing` would have none of its own."""
    seen, waiting = set(), [("", thing, True)]
    while waiting:
        where, now, copied = waiting.pop()
        name = type(now).__name__
        if type(now) in CHANGING and not copied:
            yield f"{where}: {name}"
        if id(now) in seen or isinstance(now, (*VALUES, *REMEMBERS, *FUNCTIONS)) or type(now) is object:
            continue
        seen.add(id(now))
        if isinstance(now, tuple | frozenset):
            waiting += [(where, part, False) for part in now]
        elif type(now) in CHANGING:
            for attribute in attributes(now):
                part, inside = getattr(now, attribute), f"{name}.{attribute}"
                way = CHANGING[type(now)].get(attribute)
                if way is not None:
                    waiting += [(inside, row, way in (_own, _clock)) for row in rows_of(part, way)]
                elif inside not in REFERRED:
                    waiting.append((inside, part, False))
        elif dataclasses.is_dataclass(now) and (type(now).__dataclass_params__.frozen or now.__class__ is _Shaped):
            fields = [getattr(now, field.name) for field in dataclasses.fields(now)]
            # A table in a frozen value is a part of the value: whoever makes it hands it over.
            waiting += [(f"{name} in {where}", p, False) for p in fields if not isinstance(p, list | dict | set)]
        else:
            yield f"{where}: {name}"


def rows_of(part, way):
    """What is left to look at in something that is copied in that way."""
    if way in (_each, _uses, _rungs, _bound):
        return ()
    return part.values() if isinstance(part, dict) else part if isinstance(part, list | set) else (part,)


def attributes(thing):
    return list(vars(thing)) if hasattr(thing, "__dict__") else [field.name for field in dataclasses.fields(thing)]


@pytest.mark.parametrize("name", ["rules", "summary", "mask"])
def test_everything_that_a_player_keeps_is_copied_or_never_changes(name):
    session = drawn_session([*MOVES * 4])
    setup = setup_for(session, Open(manners=Manners(guarded=True, early=True)), window=9_000)
    episode = Episode(recorded_story(session), setup)
    play(episode, find_policy(name))
    assert list(changing_parts(episode.player)) == []


def test_the_walk_misses_nothing_that_the_table_names(monkeypatch):
    session = drawn_session([*MOVES * 4])
    setup = setup_for(session, Open(manners=Manners(guarded=True, early=True)), window=9_000)
    episode = Episode(recorded_story(session), setup)
    play(episode, find_policy("rules"))
    assert episode.player.engine.epochs is not None  # made when it is first asked for, as this is
    assert episode.player.log.archive.children(None)
    for kind, ways in CHANGING.items():
        for attribute in list(ways):
            with monkeypatch.context() as patched:
                patched.delitem(ways, attribute)
                assert list(changing_parts(episode.player)), f"{kind.__name__}.{attribute}"


def test_a_copy_shares_nothing_that_changes_with_what_it_was_made_of():
    session = drawn_session([*MOVES * 2])
    episode = Episode(recorded_story(session), setup_for(session, EARLY, window=9_000))
    play(episode, find_policy("rules"))
    copied = fork(episode.player)
    mine, its = episode.player.engine, copied.engine
    assert its is not mine
    assert its.manager.engine is its
    assert its.faults._has_way.__self__ is its
    assert its._now is copied.clock
    assert {rung.manager for rung in its.manager.rungs} == {its.manager}
    assert its.manager.decider._fallback is not mine.manager.decider._fallback
    assert copied.log.archive is copied.log._conversation.archive
