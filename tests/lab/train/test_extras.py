"""What supervised weights add to an item's row."""

import math
import random

import pytest

pytest.importorskip("torch")

from msgspec.structs import replace

from support.stories import drawn_session, setup_for
from trimtab.context.policies.learned.choosing import EXTRA, Chooser, input_of
from trimtab.context.policies.learned.choosing import extra_of as figures_of
from trimtab.context.policies.learned.features import ITEM_FEATURES, SCHEMA, WHOLE_FEATURES
from trimtab.context.policies.learned.grammar import actions_of, choices
from trimtab.context.policies.learned.network import Dense, Network
from trimtab.context.policies.learned.weights import Weights, read_weights, write_weights
from trimtab.lab.env.episode import Episode
from trimtab.lab.env.story import recorded_story
from trimtab.lab.train.acting import decided
from trimtab.lab.train.config import Shape
from trimtab.lab.train.extras import extra_of
from trimtab.lab.train.network import export, fresh_network, log_probs_of
from trimtab.lab.train.seeing import Eye, batch_of, place_of
from trimtab.types.errors import UsageError

INPUTS = len(ITEM_FEATURES) + len(WHOLE_FEATURES)


def needed_if_young() -> Weights:
    """Log-odds of 2 less the logarithm of an item's age."""
    row = tuple(-1.0 if name == "log_age" else 0.0 for name in (*ITEM_FEATURES, *WHOLE_FEATURES))
    network = Network((Dense((row,), (2.0,)),), (0.0,) * INPUTS, (1.0,) * INPUTS)
    return Weights(schema=SCHEMA, kind="needed", item=network)


def test_rows_end_with_the_figures_of_the_run_time() -> None:
    session = drawn_session(("read", "log", "write") * 9)
    episode = Episode(recorded_story(session), setup_for(session))
    observation = episode.advance()
    assert observation is not None
    needed = needed_if_young()
    sight, offered = Eye(extra_of(needed)).seen(observation)
    plain, _ = Eye().seen(observation)
    assert (sight.items[:, : len(ITEM_FEATURES)] == plain.items).all()
    figures = figures_of(replace(needed, needed=needed.item, extra=EXTRA), observation, offered)
    assert sight.items[:, len(ITEM_FEATURES) :].tolist() == [list(figures[item.id]) for item in offered]
    for item, (chance, _) in zip(offered, sight.items[:, len(ITEM_FEATURES) :].tolist(), strict=True):
        assert chance == pytest.approx(1 / (1 + math.exp(-(2.0 - math.log1p(item.age)))))


@pytest.mark.parametrize("needed", [None, needed_if_young()])
def test_what_runs_in_the_agent_chooses_what_training_would_with_the_same_chances(needed: Weights | None) -> None:
    eye = Eye(extra_of(needed))
    network = fresh_network(Shape(item=(9,), gate=(5,)), eye.widths, seed=2)
    session = drawn_session(("read", "log", "write", "grep") * 9)
    episode = Episode(recorded_story(session), setup_for(session))
    dice, looked, acted = random.Random(3), 0, 0
    chooser: Chooser | None = None
    while (observation := episode.advance()) is not None:
        sight, offered = eye.seen(observation)
        if chooser is None:
            network.scale_to([sight])
            made = export(network, needed=needed, extra=eye.names, record={})
            chooser = Chooser(read_weights(write_weights(made), source="here"))
        extra = figures_of(chooser.weights, observation, offered)
        places = decided(network, sight, dice).places
        for number in range(len(places)):
            batch = batch_of(places[:number], offered)
            valid = choices(observation, batch=batch, items=offered)
            logits = chooser.logits(input_of(observation, batch, offered, extra), valid)
            whole = math.log(sum(map(math.exp, logits)))
            trained = log_probs_of(network, sight, places[:number])
            first = {item.id: 3 + 8 * row for row, item in enumerate(offered)}
            for choice, logit in zip(valid, logits, strict=True):
                assert abs(trained[place_of(choice, first)] - (logit - whole)) < 1e-6
                looked += 1
        greedy, _ = chooser.choose(observation)
        assert greedy == batch_of(decided(network, sight, None).places, offered)
        acted += bool(greedy)
        episode.act(actions_of(greedy, observation))
    assert looked > 100
    assert acted > 0


def test_weights_that_choose_say_nothing_about_need() -> None:
    chooses = export(fresh_network(Shape(), (len(ITEM_FEATURES), len(WHOLE_FEATURES)), seed=0), record={})
    with pytest.raises(UsageError, match="choices"):
        extra_of(chooses)
