"""Learning what is needed again from rows made by hand. Needs torch."""

import math
import random

import pytest

from trimtab.context.policies.learned.features import ITEM_FEATURES, SCHEMA, WHOLE_FEATURES
from trimtab.context.policies.learned.weights import read_weights, write_weights
from trimtab.lab.labels.hindsight import Labelled
from trimtab.lab.train.supervised import UNSEEN, Config, figures, fit_needed, reliability, target, weights_of

pytest.importorskip("torch")

NAMES = (*ITEM_FEATURES, *WHOLE_FEATURES)
AGE, READ = NAMES.index("log_age"), NAMES.index("read_price")


def made(seed: int, count: int, *, group: str = "a", tier: str = "T0") -> list[Labelled]:
    """Rows of which the young ones are needed, mostly; prices are drawn and mean nothing."""
    dice = random.Random(seed)
    rows = []
    for n in range(count):
        known = [0.0] * len(NAMES)
        known[AGE], known[READ] = dice.uniform(0, 4), dice.random()
        needed = dice.random() < 1 / (1 + math.exp(4 * (known[AGE] - 1.5)))
        rows.append(
            Labelled(tier, f"{group}{n // 20}", group, n, f"t{n}", 500, tuple(known), needed, int(needed), needed)
        )
    return rows


@pytest.fixture(scope="module")
def fitted():
    """A fit on one family, stopped by another."""
    return fit_needed(made(1, 600), made(2, 300, group="b"), Config(hidden=(4,), epochs=20, decay=0.0, rate=0.02))


def test_it_finds_what_tells_them_apart(fitted):
    assert figures(fitted.weights.item, made(3, 400, group="c"))["auc"] > 0.9


def test_its_chances_come_true(fitted):
    for row in figures(fitted.weights.item, made(4, 4_000, group="c"))["reliability"]:
        assert row[1] == pytest.approx(row[2], abs=0.15)


def test_the_same_rows_and_seed_give_the_same_file():
    def once(seed: int) -> bytes:
        return write_weights(fit_needed(made(1, 200), made(2, 100, group="b"), Config(seed=seed, epochs=2)).weights)

    assert once(0) == once(0)
    assert once(0) != once(1)


def test_the_weights_go_through_their_file_and_say_where_they_come_from(fitted):
    again = read_weights(write_weights(fitted.weights), source="a file")
    assert again == fitted.weights
    assert again.schema == SCHEMA
    assert again.record["rows"]["groups"] == {"a": 600}
    assert again.record["validation"]["groups"] == {"b": 300}
    assert len(again.record["curve"]) == 20


def test_prices_and_thresholds_are_not_shown_to_it_and_may_be_any(fitted):
    rows = made(5, 1)[0].known
    other = [0.9 if name in UNSEEN else value for name, value in zip(NAMES, rows, strict=True)]
    assert fitted.weights.item(rows) == fitted.weights.item(other)
    assert (fitted.weights.low[READ], fitted.weights.high[READ]) == (0.0, 16.0)


def test_no_hidden_layer_is_a_logistic_regression():
    fit = fit_needed(made(1, 200), made(2, 100, group="b"), Config(hidden=(), epochs=2))
    assert len(fit.weights.item.layers) == 1


def test_a_generated_story_teaches_what_would_be_missed_and_a_recording_what_was_needed():
    shown = Labelled("T0", "s", "g", 1, "t1", 500, (0.0,), needed=True, after=3, missed=False)
    assert (target(shown), target(Labelled("T1", "s", "g", 1, "t1", 500, (0.0,), True, 3, False))) == (False, True)


def test_families_count_alike_and_so_do_their_stories():
    rows = [*made(1, 20, group="a"), *made(2, 60, group="b")]
    weights = weights_of(rows)
    assert sum(weights[:20]) == pytest.approx(sum(weights[20:]))
    assert sum(weights) == pytest.approx(len(rows))


def test_a_reliability_table_says_what_was_said_and_what_came():
    assert reliability([0.1, 0.12, 0.9, 1.0], [False, True, True, True], [1.0, 3.0, 1.0, 1.0]) == [
        (2, 0.115, 0.75),
        (2, 0.95, 1.0),
    ]


def test_rows_of_one_kind_teach_nothing():
    alike = [row for row in made(1, 100) if not row.needed]
    with pytest.raises(ValueError, match="training has no rows"):
        fit_needed(alike, made(2, 100))
