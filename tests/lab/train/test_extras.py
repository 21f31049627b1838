"""What supervised weights add to an item's row."""

import math

import pytest

pytest.importorskip("torch")

from support.stories import drawn_session, setup_for
from trimtab.context.policies.learned.features import ITEM_FEATURES, SCHEMA, WHOLE_FEATURES
from trimtab.context.policies.learned.network import Dense, Network
from trimtab.context.policies.learned.weights import Weights
from trimtab.lab.env.episode import Episode
from trimtab.lab.env.story import recorded_story
from trimtab.lab.train.config import Shape
from trimtab.lab.train.extras import extra_of
from trimtab.lab.train.network import export, fresh_network
from trimtab.lab.train.seeing import Eye
from trimtab.types.errors import UsageError

INPUTS = len(ITEM_FEATURES) + len(WHOLE_FEATURES)


def needed_if_young() -> Weights:
    """Log-odds of 2 less the logarithm of an item's age."""
    row = tuple(-1.0 if name == "log_age" else 0.0 for name in (*ITEM_FEATURES, *WHOLE_FEATURES))
    network = Network((Dense((row,), (2.0,)),), (0.0,) * INPUTS, (1.0,) * INPUTS)
    return Weights(schema=SCHEMA, kind="needed", item=network)


def test_rows_end_with_the_chance_and_what_hiding_would_come_to() -> None:
    session = drawn_session(("read", "log", "write") * 9)
    episode = Episode(recorded_story(session), setup_for(session))
    observation = episode.advance()
    assert observation is not None
    assert observation.prices is not None
    sight, offered = Eye(extra_of(needed_if_young())).seen(observation)
    plain, _ = Eye().seen(observation)
    assert (sight.items[:, : len(ITEM_FEATURES)] == plain.items).all()
    read, write = (
        x / observation.prices.input for x in (observation.prices.cache_read, observation.prices.cache_write)
    )
    kinds = set()
    for item, (chance, worth) in zip(offered, sight.items[:, len(ITEM_FEATURES) :].tolist(), strict=True):
        kinds.add(item.kind)
        size = item.tokens if item.kind == "result" else item.arguments
        by_hand = 1 / (1 + math.exp(-(2.0 - math.log1p(item.age)))) if item.kind == "result" else 0.0
        assert chance == pytest.approx(by_hand)
        lost = by_hand * (size * write + observation.used * read)
        assert worth == pytest.approx((size * read * observation.remaining - lost) / observation.room)
    assert kinds == {"result", "assistant"}


def test_weights_that_choose_say_nothing_about_need() -> None:
    chooses = export(fresh_network(Shape(), (len(ITEM_FEATURES), len(WHOLE_FEATURES)), seed=0), record={})
    with pytest.raises(UsageError, match="choices"):
        extra_of(chooses)
