"""What was trained to choose chooses the same where it runs. Needs torch."""

from random import Random

import pytest

from support.stories import setup_for, small_task

pytest.importorskip("torch")

from msgspec import structs

from trimtab.context.policies.learned.choosing import Chooser, extra_of, input_of
from trimtab.context.policies.learned.features import ITEM_FEATURES, WHOLE_FEATURES
from trimtab.context.policies.learned.grammar import choices, largest
from trimtab.context.policies.learned.policy import decided
from trimtab.context.policies.learned.shipped import shipped
from trimtab.context.policies.learned.weights import Weights
from trimtab.lab.env.episode import Episode
from trimtab.lab.env.story import task_story
from trimtab.lab.train.acting import Chooser as Trained
from trimtab.lab.train.config import Shape
from trimtab.lab.train.extras import Needed
from trimtab.lab.train.network import export, fresh_network, log_probs_of
from trimtab.lab.train.seeing import Eye, place_of


def first() -> Weights:
    """The supervised network that the shipped weights see through, as weights by itself."""
    known = shipped()
    assert known.needed is not None
    return Weights(schema=known.schema, kind="needed", item=known.needed)


@pytest.mark.parametrize("extra", [None, Needed(first())], ids=["plain", "with extra figures"])
def test_the_policy_that_runs_is_the_policy_that_was_trained(extra: Needed | None) -> None:
    eye = Eye(extra)
    network = fresh_network(Shape(), eye.widths, seed=3)
    weights = export(network, extra=eye.names, needed=extra.weights if extra else None, record={})
    weights = structs.replace(weights, low=(), high=())
    runs, dice, compared = Chooser(weights), Random(1), 0
    story = task_story(small_task(reads=16, needed=(14,)))
    episode = Episode(story, setup_for(story.recording, window=12_000))
    while (seen := episode.advance()) is not None:
        sight, items = eye.seen(seen)
        assert items == largest(seen)
        figures, batch, places = extra_of(weights, seen, items), [], []
        rows = {item.id: 3 + 8 * row for row, item in enumerate(items)}
        for _ in range(4):
            valid = choices(seen, batch=batch, items=items)
            logits = runs.logits(input_of(seen, batch, items, figures), valid)
            trained = log_probs_of(network, sight, places)
            shift = logits[0] - trained[0]
            for choice, logit in zip(valid, logits, strict=True):
                assert logit - shift == pytest.approx(trained[place_of(choice, rows)], abs=1e-6)
                compared += 1
            if len(valid) == 1:
                break
            batch.append(dice.choice(valid[1:]))
            places.append(place_of(batch[-1], rows))
        wanted = [(a.action, a.targets, a.params) for a in Trained(network, eye).decide(seen)]
        assert [
            (a.action, a.targets, {k: v for k, v in a.params.items() if k != "chances"}) for a in decided(weights, seen)
        ] == wanted
        episode.act(())
    assert compared > 50
    assert len(ITEM_FEATURES) + len(WHOLE_FEATURES) <= weights.item.inputs
