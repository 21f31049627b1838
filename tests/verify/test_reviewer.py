"""What a reviewing model gets and says."""

import pytest

from trimtab.coding.verify.reviewer import Work, head_of, request_text, verdict


@pytest.mark.parametrize(
    ("said", "passed"),
    [
        ("PASS", True),
        ("pass: all of it is done", True),
        ("**PASS**\nfine", True),
        ("\n\nFAIL\n- src/a.py: not done", False),
        ("Fail, the test was deleted", False),
        ("I think it would PASS", None),
        ("PASSED", None),
        ("", None),
    ],
)
def test_the_first_line_decides(said: str, passed: bool | None) -> None:
    assert verdict(said).passed is passed


@pytest.mark.parametrize(
    ("said", "head"),
    [
        ("FAIL\n- a.py: not done", "a.py: not done"),
        ("**FAIL**: the test is gone", "the test is gone"),
        ("FAIL", "FAIL, without a word why"),
    ],
)
def test_the_first_point_of_a_review_stands_for_it(said: str, head: str) -> None:
    assert head_of(said) == head


def test_no_verdict_is_said_in_words() -> None:
    assert verdict("Looks good to me.").said == "the reviewing model gave no verdict: Looks good to me."
    assert verdict(" \n").said == "the reviewing model gave no verdict: it said nothing"


def test_each_file_gets_its_share_of_what_fits() -> None:
    text = request_text(Work("task", "answer", (), (("a", "x" * 100_000), ("b", "y" * 10))))
    assert "[cut: 70,000 characters more]" in text
    assert text.endswith("<diff file='b'>\nyyyyyyyyyy\n</diff>")
