"""Token counts of any vendor become counts that don't overlap."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.vendor.usage import usage_of
from trimtab.types.errors import UsageError
from trimtab.types.usage import Usage


@pytest.mark.parametrize(
    ("reported", "ours"),
    [
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "total_tokens": 120,
                "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
                "completion_tokens_details": {"reasoning_tokens": 5},
            },
            Usage(input=10, output=20, cache_read=60, cache_write=30, reasoning=5),
        ),
        ({"prompt_tokens": 10, "prompt_cache_hit_tokens": 4}, Usage(input=6, cache_read=4)),
        (
            {
                "prompt_tokens": 1,
                "completion_tokens": 2,
                "total_tokens": 6,
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            Usage(input=1, output=5, reasoning=3),
        ),
        (
            {"input_tokens": 100, "output_tokens": 9, "input_tokens_details": {"cached_tokens": 60}},
            Usage(input=40, output=9, cache_read=60),
        ),
        (
            {
                "input_tokens": 10,
                "output_tokens": 20,
                "cache_read_input_tokens": 60,
                "cache_creation_input_tokens": 30,
                "cache_creation": {"ephemeral_1h_input_tokens": 12, "ephemeral_5m_input_tokens": 18},
                "output_tokens_details": {"thinking_tokens": 5},
            },
            Usage(10, 20, 60, 30, 12, 5),
        ),
        ({"input": 1, "output": 2, "cache_read": 3}, Usage(1, 2, 3)),
        (Usage(1, 2), Usage(1, 2)),
        (None, None),
    ],
)
def test_counts_stand_side_by_side_whoever_reports_them(reported, ours):
    assert usage_of(reported) == ours


@pytest.mark.parametrize("odd", [{}, {"tokens": 3}, {"input": 1, "tokens": 3}, 7, "12"])
def test_what_is_no_usage_is_refused_with_the_next_step(odd: Any):
    with pytest.raises(UsageError) as caught:
        usage_of(odd)
    assert "prompt_tokens" in caught.value.hint


counts = st.one_of(st.none(), st.booleans(), st.integers(-5, 2**65), st.floats(), st.text(max_size=2))
details = counts | st.dictionaries(st.sampled_from(["cached_tokens", "cache_write_tokens", "reasoning_tokens"]), counts)


@given(
    prompt=counts,
    more=st.dictionaries(
        st.sampled_from(["completion_tokens", "total_tokens", "prompt_tokens_details", "completion_tokens_details"]),
        details,
    ),
)
def test_odd_numbers_never_make_more_than_the_prompt(prompt, more):
    usage = usage_of({"prompt_tokens": prompt, **more})
    assert usage is not None
    assert usage.prompt == usage_of({"prompt_tokens": prompt}).input
    assert min(usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning) >= 0
    assert usage.reasoning <= usage.output
