"""Intervals: against brute force and what is known without any drawing."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.lab.bench.paired import Paired, counts_of

TREE = [("a", "1"), ("a", "2"), ("b", "1"), ("b", "2"), ("b", "3")]
VALUES = [1.0, 2.0, 4.0, 8.0, 16.0]


def ones(values):
    return [(value, 1.0) for value in values]


def every_mean() -> list[float]:
    """The mean in every way in which two families, and within each as many stories as it has, can be drawn from TREE: with how likely it is."""
    stories = {"a": [0, 1], "b": [2, 3, 4]}
    found: list[tuple[float, float]] = []
    for first, second in product("ab", repeat=2):
        for one in product(stories[first], repeat=len(stories[first])):
            for two in product(stories[second], repeat=len(stories[second])):
                drawn = [VALUES[place] for place in (*one, *two)]
                weight = (
                    0.25 / len(stories[first]) ** len(stories[first]) / len(stories[second]) ** len(stories[second])
                )
                found.append((sum(drawn) / len(drawn), weight))
    return sorted(found)


def test_draws_are_those_of_a_brute_force_over_all_that_can_be_drawn():
    counts = counts_of(TREE, draws=40_000)
    drawn = counts @ np.array(VALUES) / counts.sum(axis=1)
    exact = every_mean()
    assert sum(weight for _, weight in exact) == pytest.approx(1.0)
    for at in (1.5, 2.0, 4.0, 6.2, 8.0, 11.0, 15.0):
        assert np.mean(drawn <= at) == pytest.approx(sum(w for mean, w in exact if mean <= at), abs=0.01), at


def test_the_interval_of_plain_stories_is_that_of_a_mean():
    """One story a family: 1.96 standard errors to each side, where there are many."""
    values = list(np.random.default_rng(5).normal(size=400))
    found = Paired([(str(n),) for n in range(400)], draws=8_000).share(ones(values))
    error = np.std(values) / 20
    assert found.value == pytest.approx(np.mean(values))
    assert (found.low, found.high) == (
        pytest.approx(found.value - 1.96 * error, abs=0.006),
        pytest.approx(found.value + 1.96 * error, abs=0.006),
    )


def test_the_spread_is_that_of_families_and_that_of_their_stories_together():
    """f families of s stories: the variance of a drawn mean is that of the families' means over f, and that within them over f·s."""
    table = np.random.default_rng(3).normal(size=(8, 6)) + np.arange(8)[:, None]
    counts = counts_of([(str(f), str(s)) for f in range(8) for s in range(6)], draws=40_000)
    drawn = counts @ table.ravel() / counts.sum(axis=1)
    expected = table.mean(axis=1).var() / 8 + table.var(axis=1).mean() / 48
    assert drawn.var() == pytest.approx(expected, rel=0.03)


def test_families_that_are_taken_as_they_are_count_the_same_in_every_draw():
    counts = counts_of(TREE, draws=200, fixed=1)
    assert set(counts[:, :2].sum(axis=1)) == {2.0}
    assert set(counts[:, 2:].sum(axis=1)) == {3.0}
    assert len({tuple(row) for row in counts}) > 1


def test_what_is_as_hard_for_both_doesnt_widen_a_difference():
    hard = [10.0, 20.0, 40.0, 80.0, 160.0]
    paired = Paired(TREE)
    gain = paired.gain(ones(value + 1 for value in hard), ones(hard))
    assert (gain.value, gain.low, gain.high) == (1.0, pytest.approx(1.0), pytest.approx(1.0))
    assert paired.share(ones(hard)).high - paired.share(ones(hard)).low > 50


def test_a_share_is_of_sums_so_a_long_story_counts_as_what_it_is():
    found = Paired([("a",), ("b",)]).share([(1.0, 10.0), (9.0, 90.0)])
    assert (found.value, found.low, found.high) == (0.1, 0.1, 0.1)
    assert Paired([("a",), ("b",)]).share([(0.0, 10.0), (9.0, 90.0)]).value == 0.09


def test_a_ratio_is_how_many_times_the_other_it_is():
    found = Paired(TREE).ratio([(2 * v, 5.0) for v in VALUES], [(v, 5.0) for v in VALUES])
    assert (found.value, found.low, found.high) == (2.0, pytest.approx(2.0), pytest.approx(2.0))


def test_nothing_below_the_line_is_no_number_and_no_warning():
    found = Paired(TREE).share([(0.0, 0.0)] * 5)
    assert np.isnan([found.value, found.low, found.high]).all()


def test_draws_without_anything_below_the_line_are_left_out():
    found = Paired([("a",), ("b",)]).share([(1.0, 2.0), (0.0, 0.0)])
    assert (found.value, found.low, found.high) == (0.5, 0.5, 0.5)


def test_the_same_stories_always_have_the_same_interval():
    assert Paired(TREE).share(ones(VALUES)) == Paired(TREE).share(ones(VALUES))
    assert not np.array_equal(counts_of(TREE), counts_of(TREE, seed=1))


def test_parts_of_other_stories_are_refused():
    with pytest.raises(ValueError, match="4 parts for 5 stories"):
        Paired(TREE).share(ones(VALUES[:4]))


@given(
    paths=st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.sampled_from("12")), min_size=1, max_size=9
    ),
    value=st.floats(-5, 5),
    fixed=st.integers(0, 2),
)
def test_what_is_the_same_in_all_stories_is_certain(paths, value, fixed):
    found = Paired(paths, draws=50, fixed=fixed).share([(value, 1.0)] * len(paths))
    assert (found.value, found.low, found.high) == (pytest.approx(value), pytest.approx(value), pytest.approx(value))


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=8))
def test_an_interval_lies_between_the_worst_and_the_best_story(values):
    found = Paired([(str(n),) for n in range(len(values))], draws=50).share(ones(values))
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9
