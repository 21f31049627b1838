"""Composing: bounded, said, and what matters most gives way last."""

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from support.talk import hostile, words
from trimtab.context.summary.compose import Piece, Slot, compose


def piece(*slots: Slot, weight: int = 1, rank: int = 0) -> Piece:
    return Piece(lambda: slots, sum(len(slot.body) for slot in slots), weight, rank)


PIECES = st.lists(
    st.builds(
        lambda slots, weight, rank: piece(*slots, weight=weight, rank=rank),
        st.lists(st.builds(Slot, st.just("head "), hostile, st.just(" tail")), min_size=1, max_size=2),
        st.integers(1, 3),
        st.integers(0, 2),
    ),
    max_size=8,
)


def gap(first: int, last: int) -> str:
    return f"[{last - first} left out]"


@settings(max_examples=100)
@given(pieces=PIECES, max_tokens=st.integers(0, 80), per_piece=st.none() | st.integers(1, 40))
def test_pieces_together_never_have_more_than_their_limit(pieces, max_tokens, per_piece):
    composed = compose(pieces, count=words, gap=gap, max_tokens=max_tokens, per_piece=per_piece)
    assert words(composed.text) <= max_tokens
    assert composed == compose(pieces, count=words, gap=gap, max_tokens=max_tokens, per_piece=per_piece)


@given(pieces=PIECES, max_tokens=st.integers(0, 80))
def test_each_piece_is_shown_or_counted_as_left_out(pieces, max_tokens):
    composed = compose(pieces, count=words, gap=gap, max_tokens=max_tokens)
    assert composed.text.count("head ") >= len(pieces) - composed.omitted
    assert 0 <= composed.shortened <= len(pieces) - composed.omitted


def test_pieces_of_a_low_rank_give_way_first_and_leave_a_gap():
    pieces = [piece(Slot(f"p{n} ", "word " * 20), rank=int(n == 0)) for n in range(6)]
    composed = compose(pieces, count=words, gap=gap, max_tokens=40)
    assert composed.text.startswith("p0 ")
    assert "p5 " in composed.text
    assert f"[{composed.omitted} left out]" in composed.text


def test_bodies_of_a_low_rank_shrink_before_one_of_a_higher_loses_a_word():
    said, printed = "word " * 30, "out " * 60
    pieces = [piece(Slot("said ", said), rank=1), *(piece(Slot(f"out{n} ", printed)) for n in range(3))]
    composed = compose(pieces, count=words, gap=gap, max_tokens=120)
    assert composed.omitted == 0
    assert said in composed.text
    assert composed.shortened == 3


def test_room_that_left_out_pieces_free_goes_to_those_that_stay():
    pieces = [piece(Slot("p ", "word " * 40), rank=1), *(piece(Slot("out " * 50, "word " * 40)) for _ in range(20))]
    composed = compose(pieces, count=words, gap=gap, max_tokens=60)
    assert composed.text == "p " + "word " * 40 + "\n[20 left out]"


def test_what_a_composition_costs_hangs_on_what_it_keeps_not_on_how_many_pieces_came_in():
    made = 0

    def slots() -> tuple[Slot, ...]:
        nonlocal made
        made += 1
        return (Slot("p ", "word " * 40),)

    make: Callable[[], tuple[Slot, ...]] = slots
    composed = compose([Piece(make, 200)] * 50_000, count=words, gap=gap, max_tokens=300)
    assert words(composed.text) <= 300
    assert made < 300


def test_where_there_is_room_for_nothing_else_the_piece_that_gives_way_last_stands_alone():
    pieces = [piece(Slot("task ", "Never touch it."), rank=2), *(piece(Slot("out ", "word " * 40)) for _ in range(40))]
    composed = compose(pieces, count=words, gap=lambda first, last: "left out " * 20, max_tokens=8)
    assert (composed.text, composed.omitted) == ("task Never touch it.", 40)
