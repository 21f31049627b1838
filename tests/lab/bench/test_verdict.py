"""Verdicts: the table in words."""

import pytest

from trimtab.lab.bench.verdict import verdict
from trimtab.lab.corpora.intervals import Interval

BELOW, EQUAL, ABOVE = Interval(-0.3, -0.5, -0.1), Interval(-0.1, -0.3, 0.1), Interval(0.2, 0.1, 0.3)


@pytest.mark.parametrize(
    ("success", "tokens", "said"),
    [
        (BELOW, 0.5, "over-compressed"),
        (EQUAL, 0.5, "good"),
        (ABOVE, 0.5, "good"),
        (BELOW, 1.0, "worse"),
        (EQUAL, 1.0, "not managing"),
        (ABOVE, 1.0, "good"),
        (BELOW, 1.2, "worse"),
        (EQUAL, 1.2, "worse"),
        (ABOVE, 1.2, "good"),
    ],
)
def test_success_and_tokens_say_what_an_arm_made_of_the_context(success, tokens, said):
    assert verdict(success, tokens) == said


@pytest.mark.parametrize(
    ("tokens", "said"), [(0.949, "good"), (0.951, "not managing"), (1.049, "not managing"), (1.051, "worse")]
)
def test_within_five_percent_tokens_are_the_same(tokens, said):
    assert verdict(EQUAL, tokens) == said


def test_an_interval_that_touches_keeping_everything_is_not_below_it():
    assert verdict(Interval(-0.2, -0.4, 0.0), 0.5) == "good"
