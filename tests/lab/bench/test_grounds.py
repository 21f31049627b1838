"""What a claim takes is said in one place, and everywhere in the same words."""

import math

import pytest

from support.pages import ROOT
from trimtab.lab.bench.grounds import TAKES, borne
from trimtab.lab.corpora.intervals import Interval
from trimtab.lab.report.page import GUIDE


@pytest.mark.parametrize("page", ["docs/bench.md", "docs/report.md"])
def test_pages_say_what_a_claim_takes_in_the_words_of_the_terminal(page: str) -> None:
    assert TAKES in (ROOT / page).read_text("utf-8")


def test_the_report_page_says_it_in_the_same_words() -> None:
    assert dict(GUIDE)["Claim"] == TAKES


def test_where_something_is_lacking_an_interval_keeps_its_value_and_no_ends() -> None:
    found = Interval(-0.221, -0.221, -0.221)
    assert borne(found, "") == found
    lacking = borne(found, "there are 3 stories")
    assert (lacking.value, math.isnan(lacking.low), math.isnan(lacking.high)) == (-0.221, True, True)
