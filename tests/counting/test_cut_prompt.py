"""A server that drops the front of a long prompt is noticed by its own report."""

import pytest

from trimtab.context.counting.cut_prompt import CutWatch


def test_a_report_far_below_the_count_is_told_with_both_numbers() -> None:
    said = CutWatch().observe(counted=10_000, reported=4_096, edits=0)

    assert "4,096" in said
    assert "10,000" in said
    assert "num_ctx" in said


def test_it_is_told_once() -> None:
    watch = CutWatch()
    watch.observe(counted=10_000, reported=4_096, edits=0)

    assert watch.observe(counted=12_000, reported=4_096, edits=0) == ""


def test_a_report_that_stays_while_the_request_grows_is_told() -> None:
    watch = CutWatch()
    assert watch.observe(counted=4_000, reported=4_096, edits=0) == ""

    assert watch.observe(counted=5_200, reported=4_096, edits=0) != ""


@pytest.mark.parametrize(
    ("counted", "reported", "edits"),
    [
        pytest.param(5_200, 4_900, 0, id="the report grew with it"),
        pytest.param(5_200, 4_000, 1, id="an edit took something out in between"),
        pytest.param(4_100, 4_000, 0, id="hardly anything came"),
        pytest.param(5_200, 0, 0, id="nothing is reported"),
    ],
)
def test_an_ordinary_report_says_nothing(counted: int, reported: int, edits: int) -> None:
    watch = CutWatch()
    watch.observe(counted=4_000, reported=4_000, edits=0)

    assert watch.observe(counted=counted, reported=reported, edits=edits) == ""


def test_a_small_request_is_never_suspected() -> None:
    assert CutWatch().observe(counted=900, reported=300, edits=0) == ""


def test_another_tokenizer_is_no_cut() -> None:
    assert CutWatch().observe(counted=10_000, reported=7_500, edits=0) == ""
