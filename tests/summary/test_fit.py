"""Cutting: bounded, said, and the same every time."""

from hypothesis import given, settings
from hypothesis import strategies as st

from support.talk import hostile, words
from trimtab.context.summary.fit import Fitted, Piece, Slot, compose, fit

PIECES = st.lists(
    st.builds(
        Piece,
        st.lists(st.builds(Slot, st.just("head "), hostile, st.just(" tail")), min_size=1, max_size=2).map(tuple),
        st.integers(1, 3),
        st.integers(0, 2),
    ),
    max_size=8,
)


def gap(number: int) -> str:
    return f"[{number} left out]"


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


@settings(max_examples=50)
@given(pieces=PIECES, max_tokens=st.integers(0, 80), per_piece=st.none() | st.integers(1, 40))
def test_pieces_together_never_have_more_than_their_limit(pieces, max_tokens, per_piece):
    composed = compose(pieces, count=words, gap=gap, max_tokens=max_tokens, per_piece=per_piece)
    assert words(composed.text) <= max_tokens
    assert composed == compose(pieces, count=words, gap=gap, max_tokens=max_tokens, per_piece=per_piece)


def test_pieces_of_a_low_rank_give_way_first_and_leave_a_gap():
    pieces = [Piece((Slot(f"p{n} ", "word " * 20),), rank=int(n == 0)) for n in range(6)]
    composed = compose(pieces, count=words, gap=gap, max_tokens=30)
    assert composed.text.startswith("p0 ")
    assert "p5 " in composed.text
    assert f"[{composed.omitted} left out]" in composed.text
