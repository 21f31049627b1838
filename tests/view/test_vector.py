"""The persistent vector: a list that never changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.window.vector import Vector

SIZES = st.sampled_from([0, 1, 31, 32, 33, 64, 1023, 1024, 1025, 1056, 1057, 1088, 2100])


@given(SIZES, st.data())
def test_it_holds_what_a_list_holds_and_older_ones_stay(size, data):
    vector, values = Vector(range(size)), list(range(size))
    kept = [(vector, list(values))]
    for number in range(data.draw(st.integers(0, 40))):
        if values and data.draw(st.booleans()):
            index = data.draw(st.integers(-len(values), len(values) - 1))
            vector, values[index] = vector.replace(index, -number), -number
        else:
            vector = vector.append(-number)
            values.append(-number)
        kept.append((vector, list(values)))
    for old, expected in kept:
        assert (list(old), len(old)) == (expected, len(expected))


@given(SIZES, st.integers(-5, 2200), st.integers(-5, 2200))
def test_a_range_is_a_slice(size, start, end):
    assert list(Vector(range(size)).range(start, end)) == list(range(size))[max(0, start) : max(0, end)]


@pytest.mark.parametrize("index", [3, -4])
def test_an_index_outside_says_so(index):
    with pytest.raises(IndexError, match="vector of 3"):
        Vector("abc")[index]
