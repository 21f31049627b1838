"""A server that drops the front of a long prompt is noticed by its own report."""

import pytest

from trimtab.context.counting.cut_prompt import CutWatch, Suspicion


def test_a_report_far_below_the_count_is_told_with_both_numbers() -> None:
    said = CutWatch().observe(counted=10_000, reported=4_096, edits=0).said

    assert "4,096" in said
    assert "10,000" in said
    assert "num_ctx" in said


def test_it_is_told_once() -> None:
    watch = CutWatch()
    watch.observe(counted=10_000, reported=4_096, edits=0)

    assert watch.observe(counted=12_000, reported=4_096, edits=0).said == ""


def test_a_report_that_stays_while_the_request_grows_is_told() -> None:
    watch = CutWatch()
    assert watch.observe(counted=4_000, reported=4_096, edits=0) == Suspicion()

    assert watch.observe(counted=5_200, reported=4_096, edits=0).said != ""


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

    assert watch.observe(counted=counted, reported=reported, edits=edits) == Suspicion()


def test_a_small_request_is_never_suspected() -> None:
    assert CutWatch().observe(counted=900, reported=300, edits=0) == Suspicion()


def test_another_tokenizer_is_no_cut() -> None:
    assert CutWatch().observe(counted=10_000, reported=7_500, edits=0) == Suspicion()


def test_one_report_is_no_proof_and_a_second_tells_the_window() -> None:
    watch = CutWatch()
    watch.observe(counted=8_400, reported=4_010, edits=0)

    assert watch.observe(counted=9_900, reported=4_090, edits=0).window is None, "the first had nothing before it"
    assert watch.observe(counted=11_400, reported=3_960, edits=0).window == 4_090


def test_a_server_that_reports_only_what_is_new_keeps_its_window() -> None:
    watch = CutWatch()
    counts = [4_000, 5_500, 7_100, 8_400, 9_900, 11_500]
    seen = [
        watch.observe(counted=now, reported=now - before + 12, edits=0)
        for before, now in zip([0, *counts], counts, strict=False)
    ]
    assert [suspicion.window for suspicion in seen] == [None] * len(counts)


def test_an_honest_report_clears_the_suspicion() -> None:
    watch = CutWatch()
    watch.observe(counted=8_000, reported=4_000, edits=0)
    watch.observe(counted=8_500, reported=4_000, edits=0)
    watch.observe(counted=9_000, reported=9_000, edits=0)

    assert watch.observe(counted=30_000, reported=10_000, edits=0).window is None
