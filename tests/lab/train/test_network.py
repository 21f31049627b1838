"""The network in torch, and what it comes to in plain Python."""

import math

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402

from support.training import drawn_places, drawn_sight  # noqa: E402
from trimtab.context.policies.learned.features import ITEM_FEATURES, MOST, WHOLE_FEATURES  # noqa: E402
from trimtab.context.policies.learned.weights import Weights, read_weights, write_weights  # noqa: E402
from trimtab.lab.train.batches import lines_of, padded  # noqa: E402
from trimtab.lab.train.config import Shape  # noqa: E402
from trimtab.lab.train.network import NotExported, export, fresh_network, log_probs_of, network_of  # noqa: E402
from trimtab.lab.train.seeing import Sight  # noqa: E402

WIDTHS = len(ITEM_FEATURES), len(WHOLE_FEATURES)


def in_plain_python(weights: Weights, sight: Sight, chosen: tuple[int, ...]) -> list[float]:
    """The log-probabilities as the file says that they are made."""
    items, whole = (rows.tolist() for rows in sight.rows(chosen))
    plain = len(ITEM_FEATURES)
    assert weights.gate is not None
    columns = list(zip(*items, strict=True))[:plain]
    mean = [sum(column) / len(items) for column in columns] if items else [0.0] * plain
    scores = list(weights.gate([*whole, *mean]))
    for row in items:
        scores += weights.item([*row[:plain], *whole, *row[plain:]])
    kept = [s if valid else -math.inf for s, valid in zip(scores, sight.open(chosen), strict=True)]
    whole_sum = math.log(sum(math.exp(score) for score in kept if score > -math.inf))
    return [score - whole_sum for score in kept]


@pytest.mark.parametrize("extra", [0, 2])
def test_what_runs_in_the_agent_comes_to_the_same_log_probabilities(extra: int) -> None:
    widths = (WIDTHS[0] + extra, WIDTHS[1])
    sights = [drawn_sight(seed, items=seed % 6, extra=extra) for seed in range(12)]
    network = fresh_network(Shape(item=(7, 5), gate=(4,)), widths, seed=3)
    network.scale_to(sights)
    network.saw(sights)
    names = tuple(f"extra_{n}" for n in range(extra))
    weights = read_weights(write_weights(export(network, extra=names, record={})), source="here")
    assert (weights.extra, weights.item.inputs, len(weights.low)) == (names, sum(widths), sum(widths))
    for number, sight in enumerate(sights):
        for line in lines_of(sight, drawn_places(sight, number)):
            trained = log_probs_of(network, sight, line.chosen)
            run = in_plain_python(weights, sight, line.chosen)
            open_places = sight.open(line.chosen)
            assert np.abs(trained[open_places] - np.array(run)[open_places]).max() < 1e-6
            assert set(np.isfinite(trained)[~open_places].tolist()) <= {False}


def test_what_hardly_moves_in_training_changes_nothing_and_may_be_anything() -> None:
    sights = [drawn_sight(seed, items=4) for seed in range(6)]
    network = fresh_network(Shape(item=(7, 5), gate=(4,)), WIDTHS, seed=3)
    network.scale_to(sights)
    network.saw(sights)
    places = [WHOLE_FEATURES.index(name) for name in ("soft", "hard", "fixed", "log_remaining")]
    other = sights[0].whole.copy()
    other[places] += 7.0
    moved = Sight(sights[0].items, other, sights[0].valid, sights[0].full)
    assert np.array_equal(log_probs_of(network, moved, ()), log_probs_of(network, sights[0], ()))
    weights = export(network, record={})
    assert in_plain_python(weights, moved, ()) == pytest.approx(in_plain_python(weights, sights[0], ()), abs=1e-12)
    ranges = {(weights.low[len(ITEM_FEATURES) + n], weights.high[len(ITEM_FEATURES) + n]) for n in places}
    assert ranges == {(0.0, MOST)}


@pytest.mark.parametrize("attention", [False, True])
def test_padding_changes_nothing(attention: bool) -> None:
    network = fresh_network(Shape(item=(6, 5), gate=(4,), attention=attention), WIDTHS, seed=1)
    sights = [drawn_sight(seed, items=count) for seed, count in enumerate((0, 1, 7, 3))]
    lines = [line for n, sight in enumerate(sights) for line in lines_of(sight, drawn_places(sight, n))]
    together = padded(lines).log_probs(network).detach().numpy()
    for row, line in zip(together, lines, strict=True):
        alone = log_probs_of(network, line.sight, line.chosen)
        finite = np.isfinite(alone)
        assert np.allclose(row[: len(alone)][finite], alone[finite], atol=1e-12)
        assert not np.isfinite(row[len(alone) :]).any()


def test_attention_lets_items_see_each_other_and_is_no_file() -> None:
    network = fresh_network(Shape(item=(6, 5), gate=(4,), attention=True), WIDTHS, seed=1)
    sight = drawn_sight(2, items=3)
    changed = Sight(sight.items.copy(), sight.whole, np.ones_like(sight.valid), sight.full)
    plain = Sight(sight.items, sight.whole, np.ones_like(sight.valid), sight.full)
    changed.items[2] += 1.0
    first = [log_probs_of(network, one, ())[3:11] for one in (plain, changed)]
    # Differences between one item's own operations: they don't depend on what all share.
    assert not np.allclose(first[0] - first[0][0], first[1] - first[1][0])
    with pytest.raises(NotExported):
        export(network, record={})


def test_a_network_is_the_same_after_it_was_sent() -> None:
    shape = Shape(item=(6,), gate=(4,))
    network = fresh_network(shape, WIDTHS, seed=7)
    sight = drawn_sight(1)
    again = network_of(shape, WIDTHS, network.arrays())
    assert log_probs_of(again, sight, ()).tolist() == log_probs_of(network, sight, ()).tolist()
    assert not np.array_equal(
        log_probs_of(fresh_network(shape, WIDTHS, seed=8), sight, ()), log_probs_of(network, sight, ())
    )


def test_the_network_of_a_run_has_a_few_thousand_parameters() -> None:
    assert 2_000 < fresh_network(Shape(), WIDTHS, seed=0).size < 9_000
