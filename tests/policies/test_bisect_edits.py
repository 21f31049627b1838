"""Bisecting: which edits broke a run."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.telling.bisect_edits import Found, Search, Trial, begin, judged, next_trial

EDITS = tuple(f"e{n}" for n in range(16))


def searched(edits: tuple[str, ...], guilty: set[str], *, unknown: set[int] = frozenset()) -> Found:  # type: ignore[assignment]
    """Run a search in which the check passes when all of `guilty` are taken back."""
    search = begin(edits)
    for number in range(1_000):
        step = next_trial(search)
        if isinstance(step, Found):
            return step
        # A driver may stop and go on later.
        search = msgspec.json.decode(msgspec.json.encode(search), type=Search)
        verdict = "unknown" if number in unknown else "pass" if guilty <= set(step.revert) else "fail"
        search = judged(search, verdict)
    raise AssertionError("the search has no end")


@pytest.mark.parametrize("guilty", EDITS)
def test_one_guilty_edit_among_sixteen_is_found_in_few_trials(guilty: str):
    found = searched(EDITS, {guilty})
    assert found.guilty == (guilty,)
    assert found.trials <= 2 + 2 * 4


@given(st.integers(1, 12), st.data())
def test_the_guilty_set_is_found_and_no_smaller_one_would_do(size: int, data: st.DataObject):
    edits = EDITS[:size]
    guilty = set(data.draw(st.lists(st.sampled_from(edits), min_size=1, max_size=4)))
    found = searched(edits, guilty)
    assert found.proved
    assert set(found.guilty) == guilty
    assert list(found.guilty) == [edit for edit in edits if edit in guilty]


def test_a_check_that_passes_anyway_or_never_blames_no_edit():
    assert searched(EDITS, set()).reason == "the check passes with all edits in place"
    found = searched(EDITS, {"something else"})
    assert (found.guilty, found.trials, found.reason) == ((), 2, "the check fails without any edit too")
    assert begin(()) == Search((), phase="done", reason="there are no edits")


def test_a_check_that_could_not_be_run_proves_nothing():
    found = searched(EDITS[:4], {"e1"}, unknown={2})
    assert "e1" in found.guilty


def test_the_first_trial_takes_nothing_back():
    assert next_trial(begin(EDITS)) == Trial(())
