"""What is learned from reports."""

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counting.kit import GPT, OPUS
from trimtab.context.counting.families import FAMILIES, family_of
from trimtab.context.counting.ratio import Calibration, CalibrationState
from trimtab.context.counting.size import KINDS, Size

sizes = st.builds(Size, *[st.floats(0, 50_000) for _ in KINDS], st.floats(0, 50_000))
reports = st.lists(st.tuples(sizes, st.floats(-1_000, 500_000)), max_size=12)


def fresh(model=OPUS) -> Calibration:
    return Calibration(family_of(model))


def taught(truth: dict[str, float], n: int, *, noise: float = 0.0) -> Calibration:
    """A calibration that saw `n` reports of a model whose kinds are off by `truth`."""
    chance = random.Random(3)
    found = fresh()
    for _ in range(n):
        size = Size(
            read=chance.uniform(0, 400),
            result=chance.expovariate(1 / 900),
            written=chance.expovariate(1 / 300),
            added=70,
        )
        tokens = sum(x * truth.get(kind, 1.0) for kind, x in zip(KINDS, size.vector, strict=True))
        found.learn(size, tokens * (1 + chance.gauss(0, noise)))
    return found


def test_before_any_report_sizes_are_taken_as_they_are():
    assert fresh().tokens(Size(1, 2, 3, 4, 5, 6, 7)) == 28


def test_kinds_that_are_off_by_different_amounts_are_told_apart():
    """One ratio could not fit both."""
    factors = taught({"result": 1.25, "written": 0.85}, 80, noise=0.03).factors
    assert factors["result"] == pytest.approx(1.25, abs=0.05)
    assert factors["written"] == pytest.approx(0.85, abs=0.08)


def test_a_few_reports_move_what_they_did_not_show_too():
    found = fresh()
    for _ in range(3):
        found.learn(Size(result=2_000), 2_400)
    assert 1.01 < found.factors["written"] < 1.15


def test_a_report_of_something_never_shown_teaches_next_to_nothing():
    found = taught({}, 40)
    before = found.factors["result"]
    found.learn(Size(result=1_000), 30_000)
    assert found.factors["result"] == pytest.approx(before, abs=0.03)


def test_reported_tokens_are_not_corrected():
    found = taught({"written": 1.4}, 50)
    assert found.tokens(Size(reported=500)) == 500


@given(reports)
def test_no_report_takes_a_factor_out_of_bounds(seen):
    found = fresh()
    for size, tokens in seen:
        found.learn(size, tokens)
    assert all(0.4 <= f <= 2.5 for f in found.factors.values())


@given(reports, sizes)
def test_the_band_contains_the_estimate(seen, size):
    found = fresh()
    for shown, tokens in seen:
        found.learn(shown, tokens)
    assert found.upper(size) >= found.tokens(size)


@given(reports, sizes)
def test_a_state_that_was_saved_and_loaded_predicts_the_same(seen, size):
    found = fresh()
    for shown, tokens in seen:
        found.learn(shown, tokens)
    state = msgspec.json.decode(msgspec.json.encode(found.state), type=CalibrationState)
    again = Calibration(family_of(OPUS), state)
    assert (again.state, again.tokens(size), again.upper(size)) == (state, found.tokens(size), found.upper(size))


def test_the_state_of_another_family_is_not_used():
    state = taught({"result": 1.5}, 30).state
    assert Calibration(family_of(GPT), state).factors == dict.fromkeys(KINDS, 1.0)


def test_a_state_of_another_version_is_not_used():
    state = CalibrationState("claude-4.7", (2.0,), (1.0,))
    assert fresh().factors == Calibration(FAMILIES["claude-4.7"], state).factors


def test_the_band_narrows_as_reports_agree():
    size = Size(result=5_000)
    assert taught({}, 60, noise=0.01).deviation(size) < fresh().deviation(size) / 2


def test_the_band_of_an_unknown_model_is_wider_than_that_of_an_exact_vocabulary():
    size = Size(read=5_000)
    assert Calibration(FAMILIES["other"]).deviation(size) > 2 * Calibration(FAMILIES["o200k"]).deviation(size)


def test_reports_above_the_band_widen_it_and_its_width_is_bounded():
    found = fresh()
    start = found.band
    found.learn_band(above=True)
    widened = found.band
    for _ in range(200):
        found.learn_band(above=True)
    widest = found.band
    for _ in range(5_000):
        found.learn_band(above=False)
    assert start < widened < widest == 12.0
    assert found.band == 1.5


def test_what_every_request_hides_is_believed_at_once_and_then_followed_slowly():
    found = fresh()
    found.learn_hidden(10_000)
    found.learn_hidden(11_000)
    assert found.hidden == 10_200
