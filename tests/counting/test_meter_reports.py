"""Reports that can't be true are not believed: a request that was accepted fits its window, and is about as large as we count."""

import pytest

from trimtab.context.counting.anchor import Meter
from trimtab.context.counting.counter import Counter
from trimtab.types.messages import Assistant, Text, user
from trimtab.types.models import ModelInfo
from trimtab.types.usage import Usage

MODEL = ModelInfo("p", "m", "openai-chat", context_window=100_000)


def answered(reported: int, *, complete: bool = True) -> tuple[bool, int]:
    meter = Meter(Counter(MODEL), complete=complete)
    meter.sync([user("word " * 2_000)])
    believed = meter.observe(Assistant((Text("ok"),), "stop", usage=Usage(input=reported, output=1)))
    return believed, meter.estimate().tokens


@pytest.mark.parametrize("reported", [100_001, 2_000_000, 10**15])
def test_a_report_above_the_window_of_a_request_that_was_accepted_is_not_believed(reported):
    believed, tokens = answered(reported, complete=False)
    assert (believed, tokens < 4_000) == (False, True)


def test_a_report_far_above_what_we_count_is_not_believed_when_nothing_is_hidden_from_us():
    assert answered(60_000) == (False, answered(0)[1])


@pytest.mark.parametrize(("reported", "complete"), [(2_300, True), (5_000, True), (60_000, False)])
def test_a_report_with_what_a_provider_adds_is_believed(reported, complete):
    assert answered(reported, complete=complete) == (True, reported)
