"""Acceptance: what may stand in place of messages, and what not, and why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.talk import words
from trimtab.context.asks import Summary
from trimtab.context.summary.accept import judge, least_detail

GOOD = "## Goal\nFix the parser in parse.py.\n## Done\nThe tests pass."


def why(text, *, language="", least_tokens=0, replaces_tokens=1_000, **fields):
    verdict = judge(
        Summary(text, **fields),
        replaces_tokens=replaces_tokens,
        count=words,
        language=language,
        least_tokens=least_tokens,
    )
    return [rejection.why for rejection in verdict.rejections]


def test_a_good_summary_is_accepted_and_its_analysis_kept():
    verdict = judge(Summary(f"<analysis>n</analysis><summary>{GOOD}</summary>"), replaces_tokens=1_000, count=words)
    assert (verdict.accepted, verdict.summary, verdict.analysis) == (True, GOOD, "n")


def test_one_that_was_cut_off_at_its_output_limit_is_refused():
    assert why(GOOD, finished=False) == ["unfinished"]


@pytest.mark.parametrize("text", ["", "  \n", "<analysis>thoughts alone</analysis>", "<think>thoughts alone</think>"])
def test_thoughts_without_a_text_are_no_summary(text):
    assert why(text) == ["empty"]


def test_a_tool_call_is_refused_with_and_without_text():
    assert why(GOOD, calls=1) == ["tool_call"]
    assert why("", calls=1) == ["tool_call", "empty"]


@pytest.mark.parametrize(
    "text",
    ['<tool_call>{"name": "read"}</tool_call>', '{"name": "read", "arguments": {"path": "a.py"}}', "[TOOL_CALLS] read"],
)
def test_a_tool_call_written_as_text_is_refused(text):
    assert why(text) == ["tool_call"]


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I cannot summarize this conversation.",
        "As an AI, I have no access to it.",
        "申し訳ありませんが、お手伝いできません。",
        "Es tut mir leid, das geht nicht.",
    ],
)
def test_a_refusal_is_no_summary(text):
    assert why(text) == ["refusal"]


def test_a_record_that_mentions_a_refusal_is_none():
    assert (
        why("## Blocked\nThe server said: I'm sorry, I can't do that. Error 502 Bad Gateway came from the proxy.") == []
    )


@pytest.mark.parametrize(
    "text",
    [
        "<!DOCTYPE html><html><body>Bad</body></html>" + "x " * 500,
        "502 Bad Gateway",
        '{"error": {"message": "overloaded"}}',
        "Rate limit exceeded, try again later",
        "upstream connect error or disconnect/reset before headers",
    ],
)
def test_an_error_page_is_no_summary(text):
    assert why(text) == ["error_page"]


def test_one_that_is_not_smaller_than_what_it_replaces_is_refused():
    assert why("word " * 50, replaces_tokens=50) == ["not_smaller"]
    assert why("word " * 49, replaces_tokens=50) == []


def test_english_in_place_of_japanese_is_refused():
    assert why("The user wants to fix the parser and the tests are green.", language="ja") == ["other_language"]
    assert why("ユーザーは `parse.py` の修正を求めている。テストは通った。", language="ja") == []


def test_english_in_place_of_german_is_refused_and_a_few_words_are_not_judged():
    english = "The parser was fixed and the tests are green, so that this is what the user should have for it."
    assert why(english, language="de") == ["other_language"]
    assert why("parse.py: OK", language="de") == []


def test_a_long_session_does_not_become_a_few_hundred_words():
    least = least_detail(150_000, max_output=8_000)
    assert least == 1_000
    assert why("word " * 400, replaces_tokens=150_000, least_tokens=least) == ["too_little"]
    assert why("word " * 1_000, replaces_tokens=150_000, least_tokens=least) == []


def test_no_detail_is_asked_that_the_output_limit_forbids():
    assert least_detail(150_000, max_output=600) == 200
    assert least_detail(2_000, max_output=8_000) == 0


@pytest.mark.parametrize("text", ["\0\0\0\0", "�� �� ��", "123 --- 456", "```\n```"])
def test_what_holds_no_words_is_no_text(text):
    assert why(text) == ["not_text"]


@given(
    st.one_of(st.text(), st.sampled_from(["<summary>", "{", "</analysis>", '{"name":'])),
    st.booleans(),
    st.integers(0, 2),
    st.sampled_from(["", "ja", "en"]),
    st.integers(0, 50),
)
def test_any_answer_gets_a_verdict_and_an_accepted_one_is_smaller_text(text, finished, calls, language, size):
    verdict = judge(
        Summary(text, finished=finished, calls=calls),
        replaces_tokens=size,
        count=words,
        language=language,
        least_tokens=2,
    )
    if verdict.accepted:
        assert finished
        assert not calls
        assert 2 <= words(verdict.summary) < size
    else:
        assert all(str(rejection).startswith(rejection.why) for rejection in verdict.rejections)
