"""What a network sees at a decision, and what it may choose."""

import pytest

pytest.importorskip("numpy")

import random

import numpy as np

from support.stories import LATE, drawn_session, setup_for
from trimtab.context.policies.learned.features import item_row, whole_row
from trimtab.context.policies.learned.grammar import actions_of, choices
from trimtab.lab.env.episode import Episode
from trimtab.lab.env.story import recorded_story
from trimtab.lab.train.seeing import Eye, batch_of, choice_at

MOVES = ("read", "grep", "log", "read", "blob", "write") * 9
EYE = Eye(items=12, full=6)


def episode() -> Episode:
    """A session that must be managed."""
    session = drawn_session(MOVES)
    return Episode(recorded_story(session), setup_for(session, LATE, window=12_000))


def test_the_mask_of_an_open_batch_is_what_the_grammar_allows() -> None:
    dice, played, looked = random.Random(5), episode(), 0
    while (observation := played.advance()) is not None:
        sight, offered = EYE.seen(observation, accepts=played.accepts)
        places: list[int] = []
        while not places or places[-1] != 0:
            open_now = [int(n) for n in np.flatnonzero(sight.open(places))]
            if len(places) < EYE.full:
                allowed = choices(observation, batch=batch_of(places, offered), accepts=played.accepts, items=offered)
                assert {choice_at(n, offered) for n in open_now} == set(allowed)
            else:
                assert open_now == [0], "a full batch can only be committed"
            looked += 1
            places.append(dice.choice(open_now))
        played.act(actions_of(batch_of(places, offered), observation))
    assert looked > 20


def test_rows_are_the_features_with_what_is_chosen_marked() -> None:
    played = episode()
    observation = played.advance()
    assert observation is not None
    sight, offered = EYE.seen(observation)
    place = next(int(n) for n in np.flatnonzero(sight.valid) if n >= 3)
    chosen = choice_at(place, offered).item
    items, whole = sight.rows([place])
    assert items.tolist() == [list(item_row(i, observation, chosen=i.id == chosen)) for i in offered]
    assert whole.tolist() == list(whole_row(observation, batch=1 / EYE.full))
    assert sight.rows([])[0] is sight.items, "nothing is changed in place"


def test_the_largest_items_are_offered_in_the_order_of_the_context() -> None:
    played = episode()
    observation = played.advance()
    assert observation is not None
    all_of, few = Eye(items=99).seen(observation)[1], Eye(items=2).seen(observation)[1]
    assert len(all_of) > 2
    assert sorted(i.full_tokens + i.arguments for i in few) == sorted(i.full_tokens + i.arguments for i in all_of)[-2:]
    assert [i.position for i in few] == sorted(i.position for i in few)
