"""Reasons as people read them: sentences without codes, for whatever the log keeps in short."""

import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.reasons import all_in_words, in_words
from trimtab.context.summary.accept import Rejection, Why
from trimtab.types.edits import Edit

KINDS = sorted(edit.__struct_config__.tag for edit in get_args(Edit))
WAYS = {"in_place": "asked behind the conversation: ", "serialised": "asked with a transcript: "}


@pytest.mark.parametrize("why", get_args(Why))
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("detail", ["", "12 tokens in place of 9"])
def test_each_rejection_of_a_summary_is_a_sentence_without_its_code(why: Why, way: str, detail: str) -> None:
    said = in_words(f"{way}: {Rejection(why, detail)}")
    assert said.startswith(WAYS[way])
    sentence = said.removeprefix(WAYS[way])
    assert len(sentence.split()) >= 5
    assert "_" not in sentence
    assert "{" not in sentence
    assert not sentence.startswith(f"{why}:")


def test_what_a_client_said_of_its_failure_stays_as_it_is() -> None:
    assert in_words("serialised: local/tiny: no answer") == "asked with a transcript: local/tiny: no answer"
    assert in_words("policy 'x': no idea; the rules decide instead") == "policy 'x': no idea; the rules decide instead"


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_edit_that_was_refused_says_what_was_not_done(kind: str) -> None:
    assert re.fullmatch(r"not [a-z ]+: 'r7' is pinned; unpin it first", in_words(f"{kind}: 'r7' is pinned"))


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (
            "elide of r1, r2: alternation: two messages of one role stand side by side; request_bytes",
            "r1, r2 not hidden: the request would be invalid, for two messages of one role stand side by side;"
            " the request would have more bytes than the provider takes",
        ),
        (
            "drop of functions.read:0, r2: request_bytes",
            "functions.read:0, r2 not taken out: the request would have more bytes than the provider takes",
        ),
        (
            "r7: there is nothing to gain",
            "r7: there is nothing to gain; what would stand in its place is no smaller",
        ),
        (
            "compact: there is nothing old enough to compact",
            "not summed up: there is nothing old enough to compact; all that is shown belongs to the newest part, which stays as it is",
        ),
        (
            "compact: nothing came since the last summary",
            "not summed up: nothing came since the last summary; a summary of a summary alone would only say less",
        ),
        (
            "compact: the summary would not be much smaller than what it replaces",
            "not summed up: the summary would not be much smaller than what it replaces; the messages stay as they are",
        ),
    ],
)
def test_a_refusal_says_what_happened_and_what_to_do(reason: str, said: str) -> None:
    assert in_words(reason) == said


def test_the_same_reason_twice_is_said_once() -> None:
    assert all_in_words(["pin: 'r7' is pinned", "pin: 'r7' is pinned"]) == "not pinned: 'r7' is pinned; unpin it first"


@given(st.text())
def test_a_text_of_any_kind_stays_in_what_is_said(text: str) -> None:
    assert in_words(f"serialised: {text} ").startswith("asked with a transcript: ")
    assert text in in_words(f"Nobody knows: {text}")
