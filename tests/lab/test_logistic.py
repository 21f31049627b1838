"""Logistic regression."""

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.lab.corpora.logistic import Logistic, Quadratic, fit, fit_quadratic

values = st.floats(-3, 3)
rows = st.lists(st.tuples(values, values), min_size=4, max_size=20)


def loss(model: Logistic, table, positive, *, l2: float) -> float:
    """What a fit makes as small as it can."""
    missed = (
        -math.log(model.chance(row) if yes else 1 - model.chance(row)) for row, yes in zip(table, positive, strict=True)
    )
    return sum(missed) + l2 / 2 * sum(weight**2 for weight in model.weights)


@given(rows, st.data())
def test_no_model_nearby_fits_better(table, data):
    positive = [n % 2 == 0 for n in range(len(table))]
    model = fit(table, positive, l2=1.0)
    nudge = data.draw(st.sampled_from((-0.01, 0.01)))
    place = data.draw(st.integers(0, 2))
    weights = tuple(weight + nudge * (n == place) for n, weight in enumerate(model.weights))
    other = Logistic(model.mean, model.scale, weights, model.bias + nudge * (place == 2))
    assert loss(other, table, positive, l2=1.0) >= loss(model, table, positive, l2=1.0) - 1e-6


@given(rows)
def test_the_chances_of_the_fitted_rows_add_up_to_the_positives(table):
    positive = [n % 3 == 0 for n in range(len(table))]
    model = fit(table, positive)
    assert math.fsum(map(model.chance, table)) == pytest.approx(sum(positive), abs=1e-3)


def test_a_column_that_tells_rows_apart_gets_the_weight_and_a_constant_one_none():
    model = fit([(0.0, 7.0), (1.0, 7.0), (2.0, 7.0), (3.0, 7.0)] * 5, [False, False, True, True] * 5)
    assert model.weights[0] > 1
    assert model.weights[1] == pytest.approx(0)
    assert model.chance((3.0, 7.0)) > 0.9 > 0.1 > model.chance((0.0, 7.0))


def test_rows_that_a_line_parts_give_finite_weights():
    model = fit([(float(n),) for n in range(10)], [n > 4 for n in range(10)], l2=0.001)
    assert all(map(math.isfinite, (*model.weights, model.bias)))


def test_the_unit_of_a_column_does_not_matter():
    table, positive = [(1.0,), (2.0,), (4.0,), (3.0,)], [False, True, True, False]
    in_metres, in_millimetres = fit(table, positive), fit([(1_000 * v,) for (v,) in table], positive)
    assert in_metres.chance((2.5,)) == pytest.approx(in_millimetres.chance((2_500,)))


def test_far_rows_have_a_chance_of_almost_nothing_or_almost_one():
    model = Logistic((0.0,), (1.0,), (1.0,), 0.0)
    assert (model.chance((-1e6,)), model.chance((1e6,))) == (pytest.approx(0), pytest.approx(1))


@pytest.mark.parametrize(("table", "positive"), [([(1.0,)], [True]), ([(1.0,), (2.0,)], [True]), ([], [])])
def test_a_fit_takes_rows_of_both_kinds_and_a_label_for_each(table, positive):
    with pytest.raises(ValueError, match="rows of both kinds"):
        fit(table, positive)


def test_products_tell_apart_what_no_column_tells_alone():
    table = [(float(a), float(b)) for a in (0, 1) for b in (0, 1)] * 10
    differ = [a != b for a, b in table]
    plain, curved = fit(table, differ), fit_quadratic(table, differ, l2=0.1)
    assert [round(plain.chance(row), 3) for row in table[:4]] == [0.5] * 4
    assert [curved.chance(row) > 0.9 for row in table[:4]] == differ[:4]


def test_a_fit_with_products_takes_rows_of_both_kinds_too():
    with pytest.raises(ValueError, match="rows of both kinds"):
        fit_quadratic([], [])


def test_models_survive_being_written_down():
    model = fit_quadratic([(0.0, 1.0), (1.0, 0.0), (2.0, 2.0)], [True, False, True])
    assert msgspec.json.decode(msgspec.json.encode(model), type=Quadratic) == model
