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


@given(SIZES, st.data())
def test_many_values_are_replaced_as_one_after_the_other(size, data):
    changes = data.draw(
        st.dictionaries(st.integers(0, max(0, size - 1)), st.integers(-99, -1), max_size=40 * bool(size))
    )
    one_by_one = vector = Vector(range(size))
    for index, value in changes.items():
        one_by_one = one_by_one.replace(index, value)
    assert list(vector.replace_all(changes)) == list(one_by_one)
    assert list(vector) == list(range(size))


@given(SIZES, SIZES, st.data())
def test_what_changed_is_where_a_list_holds_another_value_or_a_new_one(size, grown, data):
    before = Vector(range(size))
    now = before if data.draw(st.booleans()) else Vector(range(data.draw(SIZES)))
    for index in data.draw(st.lists(st.integers(0, len(now) - 1), max_size=20)) if len(now) else ():
        now = now.replace(index, -1 - index)
    for number in range(grown if data.draw(st.booleans()) else 3):
        now = now.append(10_000 + number)
    old, new = list(before), list(now)
    expected = [i for i, value in enumerate(new) if i >= len(old) or value is not old[i]]
    assert list(now.changed(before)) == expected


def test_what_two_vectors_share_is_not_looked_at():
    class Watched(Vector):
        looks = 0

        def __getitem__(self, index):
            Watched.looks += 1
            return super().__getitem__(index)

    before = Vector(range(10_000))
    now = before.append(0)
    watched = Watched.__new__(Watched)
    for name in Vector.__slots__:
        setattr(watched, name, getattr(now, name))
    assert list(watched.changed(before)) == [10_000]
    assert Watched.looks <= 32


@given(SIZES, st.integers(-5, 2200), st.integers(-5, 2200))
def test_a_range_is_a_slice(size, start, end):
    assert list(Vector(range(size)).range(start, end)) == list(range(size))[max(0, start) : max(0, end)]


@pytest.mark.parametrize("index", [3, -4])
def test_an_index_outside_says_so(index):
    with pytest.raises(IndexError, match="vector of 3"):
        Vector("abc")[index]
