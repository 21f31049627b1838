"""How many calls a session still has."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.economics import expected_remaining, remaining
from trimtab.context.economics.survival import QUANTILES, calibration, fit


@given(st.integers(-5, 5_000))
def test_at_every_point_at_least_one_call_is_left_and_the_weights_are_a_distribution(calls: int) -> None:
    likely = remaining(calls)
    assert sum(weight for _, weight in likely.points) == pytest.approx(1.0)
    assert min(count for count, _ in likely.points) >= 1
    assert expected_remaining(calls) == likely.mean


def test_a_session_that_lasted_long_is_expected_to_last_longer() -> None:
    assert 60 < expected_remaining(4) < expected_remaining(32) < expected_remaining(200) < 100


def test_a_table_is_fitted_on_lengths_and_conditions_on_what_has_passed() -> None:
    table = fit([10] * 50 + [100] * 50)
    assert [start for start, _ in table] == [0, 1, 2, 4, 8, 16, 32, 64]
    assert [remaining(n, table=table).mean for n in (0, 20)] == pytest.approx([55.0, 84.0])


@given(st.lists(st.integers(1, 600), min_size=1, max_size=200))
def test_on_its_own_sessions_a_table_is_calibrated(lengths: list[int]) -> None:
    for q, share in calibration(lengths, 0, table=fit(lengths)):
        assert share >= q - 1e-9


def test_calibration_of_nothing_is_nothing() -> None:
    assert calibration([3], 5) == ()


def test_sessions_that_the_table_never_saw_end_when_it_says() -> None:
    folder = os.environ.get("TRIMTAB_DATA")
    index = Path(folder or "", "sessions", "index.jsonl")
    if not folder or not index.is_file():
        pytest.skip("TRIMTAB_DATA names no folder with recorded sessions")
    longest: dict[object, int] = {}
    for line in index.read_text().splitlines():
        row = json.loads(line)
        if row["split"] == "eval" and row["with_usage"]:
            longest[row["family"]] = max(row["with_usage"], longest.get(row["family"], 0))
    for calls, bound in ((0, 0.05), (8, 0.1), (32, 0.15)):
        measured = calibration(list(longest.values()), calls)
        assert [q for q, _ in measured] == list(QUANTILES)
        assert max(abs(share - q) for q, share in measured) <= bound
