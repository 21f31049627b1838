"""Ids of calls: each once, whatever a server gives."""

from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.vendor.call_ids import CallIds

IDS = st.sampled_from(["a", "a_2", "a_3", "b"])
ANSWERS = st.lists(st.lists(IDS, max_size=4), max_size=8)


def named(answers):
    """The names of the calls and of their results, given in order right behind them; saved and loaded in between."""
    taken, calls, results, ids = [], [], [], CallIds()
    for answer in answers:
        names = ids.of_calls(answer, taken)
        taken += names
        calls.append(names)
        again = CallIds()
        again.load(ids.dump())
        ids = again
        results.append([ids.of_result(call_id) for call_id in answer])
    return calls, results


@given(ANSWERS)
def test_every_call_has_a_name_of_its_own_and_each_result_finds_its_call(answers):
    calls, results = named(answers)
    flat = [name for names in calls for name in names]
    assert len(set(flat)) == len(flat)
    assert [len(names) for names in calls] == [len(answer) for answer in answers]
    assert results == calls


@given(st.lists(IDS, unique=True))
def test_ids_that_are_unique_stay_as_they_are(ids):
    assert named([ids]) == ([ids], [ids])


def test_a_result_that_comes_when_every_call_has_one_goes_to_the_newest():
    ids = CallIds()
    ids.of_calls(["a"], [])
    ids.of_calls(["a"], ["a"])
    assert [ids.of_result("a") for _ in range(3)] == ["a_2", "a", "a_2"]
