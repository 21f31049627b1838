"""Cutting: bounded, said, and the same every time."""

from hypothesis import given
from hypothesis import strategies as st

from support.talk import words
from trimtab.context.summary.fit import Fitted, fit


def test_a_text_that_fits_is_left_as_it_is():
    assert fit("one two", max_tokens=2, count=words) == Fitted("one two")


def test_a_cut_keeps_both_ends_and_says_how_much_is_missing():
    cut = fit("begin " + "x " * 500 + "end", max_tokens=40, count=words)
    assert cut.text.startswith("begin ")
    assert cut.text.endswith(" end")
    assert f"{cut.left_out:,} characters left out" in cut.text
    assert cut.cut


def test_a_cut_inside_a_code_fence_closes_it_and_opens_it_again():
    cut = fit("intro\n```\n" + "code line\n" * 300 + "```\nend of it", max_tokens=60, count=words)
    before, _, behind = cut.text.partition("[… ")
    assert before.count("```") % 2 == 0
    assert behind.count("```") % 2 == 0


def test_what_is_far_too_long_is_never_counted_whole():
    longest = 0

    def count(text: str) -> int:
        nonlocal longest
        longest = max(longest, len(text))
        return len(text) // 4

    fit("x" * 10_000_000, max_tokens=1_000, count=count)
    assert longest < 20_000


@given(text=st.text(max_size=400), max_tokens=st.integers(-1, 60))
def test_a_text_never_has_more_than_its_limit(text, max_tokens):
    assert words(fit(text, max_tokens=max_tokens, count=words).text) <= max(0, max_tokens)


@given(
    st.lists(
        st.sampled_from(["4711", "3.14159", "src/core/pay.py", "größer", "v1.2.3", "a@b.c", "well-known"]), min_size=1
    ),
    st.integers(0, 40),
)
def test_no_cut_falls_inside_a_word_a_name_or_a_number(tokens, max_tokens):
    text = " ".join(tokens)
    kept = fit(text, max_tokens=max_tokens, count=words, mark=lambda _left_out: "…").text.split()
    assert set(kept) <= {*tokens, "…"}


def test_a_run_without_borders_is_cut_anywhere():
    assert fit("x" * 5_000, max_tokens=40, count=words).text.startswith("x" * 20)
    assert fit("東京は日本の首都です" * 500, max_tokens=40, count=words).text.startswith("東京は")
