"""Work during which no cycles are collected leaves the collector as it was."""

import gc

import pytest

from trimtab.context.uncollected import uncollected


def test_the_collector_waits_and_goes_on_even_when_the_work_fails():
    seen: dict[str, bool] = {}

    def fail() -> None:
        with uncollected():
            seen["during"] = gc.isenabled()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert (seen, gc.isenabled()) == ({"during": False}, True)


def test_a_collector_that_somebody_switched_off_stays_off():
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
