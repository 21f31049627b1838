"""Whether and when to send again."""

from datetime import UTC, datetime
from email.utils import format_datetime, formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.providers.retry import RetryPolicy, given_up, next_wait, retry_after
from trimtab.types import ErrorInfo

POLICY = RetryPolicy(max_retries=3, max_wait_s=60.0, base_s=0.5)


def error(retry_after_s: float | None = None, *, retryable: bool = True) -> ErrorInfo:
    return ErrorInfo("server", "x", retryable=retryable, retry_after_s=retry_after_s)


def wait(info: ErrorInfo, attempt: int = 1, roll: float = 0.0) -> float | None:
    return next_wait(info, attempt, policy=POLICY, random=lambda: roll)


def test_waits_double_with_jitter_and_end():
    assert [wait(error(), n) for n in (1, 2, 3, 4)] == [0.25, 0.5, 1.0, None]
    assert [wait(error(), n, roll=0.5) for n in (1, 2, 3)] == [0.375, 0.75, 1.5]


def test_what_cannot_succeed_is_not_sent_again():
    assert wait(error(retryable=False)) is None
    assert wait(error(1.0, retryable=False)) is None
    assert given_up(error(retryable=False), 1, policy=POLICY, provider="acme") == error(retryable=False)


@pytest.mark.parametrize(
    ("kind", "step"),
    [
        ("rate_limit", "acme takes only so much in a time: try again later, or use another model."),
        ("server", "The trouble is at acme: try again later, or use another model."),
        ("network", "Try again; if it stays so, `trimtab doctor --online` says whether acme answers."),
    ],
)
def test_what_is_given_up_names_the_provider_and_the_next_step(kind, step):
    failed = ErrorInfo(kind, "x", retryable=True)
    assert given_up(failed, 3, policy=POLICY, provider="acme").hint == f"Given up after 3 tries. {step}"
    assert given_up(failed, 1, policy=POLICY, provider="acme").hint == step


def test_a_hint_that_knows_better_is_kept():
    failed = ErrorInfo("server", "x", hint="Look there.", retryable=True)
    assert given_up(failed, 3, policy=POLICY, provider="acme").hint == "Given up after 3 tries. Look there."


def test_a_wait_that_the_server_names_is_never_shortened():
    assert wait(error(2.0)) == 2.0
    assert wait(error(2.0), roll=0.5) == 2.125
    assert wait(error(60.0)) == 60.0
    assert wait(error(60.1)) is None
    assert "asks to wait 61 s; at most 60 s" in given_up(error(61.0), 1, policy=POLICY, provider="acme").hint


@given(
    attempt=st.integers(1, 100),
    asked=st.none() | st.floats(0, 1e6),
    roll=st.floats(0, 1, exclude_max=True),
)
def test_waits_are_bounded_and_positive(attempt, asked, roll):
    got = wait(error(asked), attempt, roll)
    if got is None:
        assert attempt > POLICY.max_retries or (asked or 0) > POLICY.max_wait_s
    else:
        assert (asked or 0) <= got <= 2 * POLICY.max_wait_s


NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": formatdate(NOW + 30, usegmt=True)}, 30.0),
        ({"retry-after": formatdate(NOW - 30, usegmt=True)}, 0.0),
        ({"retry-after": format_datetime(datetime.fromtimestamp(NOW + 5, UTC)).replace("+0000", "-0000")}, 5.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
    ],
)  # fmt: skip
def test_retry_after_is_read_in_each_of_its_forms(headers, expected):
    assert retry_after(headers, now=NOW) == expected


def test_a_date_needs_a_clock():
    assert retry_after({"retry-after": formatdate(NOW, usegmt=True)}, now=None) is None
