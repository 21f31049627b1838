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


def test_rows_end_with_what_a_first_network_says_of_results() -> None:
    session = drawn_session(("read", "log", "write") * 9)
    episode = Episode(recorded_story(session), setup_for(session))
    observation = episode.advance()
    assert observation is not None
    needed = needed_if_young()
    sight, offered = Eye(extra_of(needed)).seen(observation)
    plain, _ = Eye().seen(observation)
    assert (sight.items[:, : len(ITEM_FEATURES)] == plain.items).all()
    assert {item.kind for item in offered} == {"result", "assistant"}
    for item, (chance, _) in zip(offered, sight.items[:, len(ITEM_FEATURES) :].tolist(), strict=True):
        young = 1 / (1 + math.exp(-(2.0 - math.log1p(item.age))))
        assert chance == pytest.approx(young if item.kind == "result" else 0.0)


def test_weights_that_choose_say_nothing_about_need() -> None:
    chooses = export(fresh_network(Shape(), (len(ITEM_FEATURES), len(WHOLE_FEATURES)), seed=0), record={})
    with pytest.raises(UsageError, match="choices"):
        extra_of(chooses)
