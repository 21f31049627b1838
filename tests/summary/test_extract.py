"""Extracts: whole units, in their order, and never more than fits."""

import re

from hypothesis import given
from hypothesis import strategies as st

from support.talk import hostile, words
from trimtab.context.summary.extract import GAP, extract_printed, extract_said

SENTENCES = st.lists(
    st.sampled_from(["One is here.", "The port is 4711.", "See src/pay.py!", "Why not?", "日本語です。", "It failed."]),
    min_size=1,
    max_size=12,
)


@given(hostile, st.integers(0, 60))
def test_an_extract_never_has_more_than_its_limit(text, max_tokens):
    assert words(extract_said(text, max_tokens=max_tokens, count=words)) <= max_tokens
    assert words(extract_printed(text, max_tokens=max_tokens, count=words)) <= max_tokens


@given(SENTENCES, st.integers(6, 40))
def test_what_stays_of_what_was_said_are_whole_sentences_in_their_order(sentences, max_tokens):
    made = extract_said(" ".join(sentences), max_tokens=max_tokens, count=words)
    if words(" ".join(sentences)) > max_tokens:
        kept = [part.strip() for part in re.split(r"(?<=[.!?])\s|(?<=。)|…", made) if part.strip()]
        rest = iter(sentences)
        assert all(part in rest for part in kept)


@given(
    st.lists(st.sampled_from(["alpha beta", "x = 4711", "---", "}", "E42 in src/a.py"]), max_size=30),
    st.integers(8, 40),
)
def test_what_stays_of_what_was_printed_are_whole_lines_that_say_something(lines, max_tokens):
    made = extract_printed("\n".join(lines), max_tokens=max_tokens, count=words)
    if words("\n".join(lines)) > max_tokens:
        assert set(made.split("\n")) <= {*lines, GAP, ""} - {"---", "}"}


def test_code_in_fences_gives_way_before_the_words_around_it():
    text = "The fix:\n```python\n" + "x = compute(1)\n" * 60 + "```\nAll tests pass."
    assert extract_said(text, max_tokens=20, count=words) == "The fix: … All tests pass."


def test_a_single_sentence_that_is_too_long_is_cut_between_words():
    made = extract_said("word " * 500, max_tokens=10, count=words)
    assert 0 < words(made) <= 10
    assert set(made.split()) == {"word", GAP}
