"""Whether edits pay now."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.requests_made import EXACT, EXPLICIT, FLAT, NO_CACHE, PREFIX, PRICE, exactly, request, rules, segment, sent
from trimtab.context.economics import (
    Decision,
    MarkedEdit,
    Remaining,
    RequestShape,
    Situation,
    bill,
    break_even_calls,
    decide,
    pays,
)
from trimtab.types.models import CacheRules, Price

REQUEST = request(1_000, *[500] * 10)
DEARER = Price(30.0, 90.0, 3.0, 40.0, above=6_500)


def situation(shape: RequestShape = REQUEST, row: CacheRules = EXACT, calls: int = 10, **rest: object) -> Situation:
    """The next request after one that was the same: everything is cached."""
    made = Situation(shape, sent(shape, row), row, exactly(calls), (PRICE,))
    return replace(made, **rest)


def saved(made: Decision) -> float:
    return made.keep_usd - made.edit_usd


def edit(index: int, after: int = 20, before: int = 500, **rest: object) -> MarkedEdit:
    return replace(MarkedEdit(f"e{index}", index, before, after), **rest)


@given(
    st.integers(0, 5_000),
    st.integers(1, 3_000),
    st.integers(0, 5_000),
    st.integers(1, 60),
    st.floats(0.05, 1.0),
    st.floats(1.0, 2.0),
)
def test_the_gate_agrees_with_the_closed_form_in_its_case(
    front: int, evicted: int, suffix: int, calls: int, read: float, write: float
) -> None:
    shape = request(front, evicted, suffix, fixed=0)
    price = Price(input=write, output=1.0, cache_read=read)
    made = decide([MarkedEdit("e", 1, evicted, 0)], situation(shape, EXACT, calls, prices=(price,)))
    closed = evicted * read * calls - suffix * (write - read)
    assert saved(made) * 1e6 == pytest.approx(closed if made.apply else 0.0, abs=1e-3)
    if abs(closed) > 1e-3:
        assert bool(made.apply) == pays(evicted, suffix, read, write, calls) == (closed > 0)
        assert made.break_even == pytest.approx(break_even_calls(evicted, suffix, read, write))


def test_the_formula_gives_the_figure_that_people_quote() -> None:
    assert break_even_calls(1_000, 1_000, 0.1, 1.0) == pytest.approx(9.0)
    assert break_even_calls(1_000, 0, 0.1, 1.0) == 0.0
    assert break_even_calls(0, 1_000, 0.1, 1.0) == break_even_calls(1_000, 1_000, 0.0, 1.0) == float("inf")


def test_an_edit_that_does_not_pay_yet_is_marked_and_applied_when_enough_calls_are_left() -> None:
    few, many = (decide([edit(2)], situation(calls=n)) for n in (5, 80))
    assert (few.apply, few.mark, few.reason) == ((), ("e2",), "1 edit marked: not enough calls are left to pay for it")
    assert (many.apply, many.mark, many.reason) == (("e2",), (), "1 edit applied: it pays over the calls that are left")
    assert few.break_even == many.break_even == pytest.approx(9 * 4_000 / 480)
    assert saved(many) > 0 == saved(few)


def test_bytes_that_were_never_sent_are_edited_at_once_whatever_the_cache() -> None:
    made = decide([edit(10, sent=False), edit(1)], situation(calls=1))
    assert (made.apply, made.mark, made.broken) == (("e10",), ("e1",), 0)
    assert (
        decide([edit(10, sent=False)], situation(calls=1)).reason == "1 edit applied: no request has carried the bytes"
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"cold": True}, "2 edits applied: the cache is cold"),
        ({"broken_at": 0}, "2 edits applied: a break happens anyway"),
        ({"broken_at": 1}, "2 edits applied: a break happens anyway"),
        ({"need": 10_000}, "2 edits applied: the hard limit leaves no choice"),
        ({"rules": NO_CACHE}, "2 edits applied: there is no cache to break"),
    ],
)
def test_marked_edits_are_applied_when_they_cost_nothing_or_there_is_no_choice(
    change: dict[str, object], reason: str
) -> None:
    edits = [edit(1), edit(3)]
    assert decide(edits, situation(calls=1)).mark == ("e3", "e1")
    made = decide(edits, situation(calls=1, **change))
    assert (made.apply, made.mark, made.reason) == (("e3", "e1"), (), reason)


def test_an_edit_that_pays_waits_while_more_are_expected_until_they_make_a_batch_that_is_large_enough() -> None:
    tail = 3 * 500 + 70  # behind the newest edit, its stub included: what one more break pays nine reads for
    least = (2 * tail * 9 * 100) ** 0.5
    few, enough = ([edit(7 - i, after=70) for i in range(n)] for n in (3, 4))
    assert sum(e.gain for e in few) < least <= sum(e.gain for e in enough)
    waits = decide(few, situation(calls=500, arriving=100.0))
    assert (waits.apply, waits.reason) == ((), "3 edits marked: more are expected, and one break serves all")
    assert decide(enough, situation(calls=500, arriving=100.0)).apply == ("e7", "e6", "e5", "e4")
    assert decide(few, situation(calls=500)).apply == ("e7", "e6", "e5")


def test_where_so_much_has_to_go_the_cheapest_batch_that_is_large_enough_goes_and_the_rest_waits() -> None:
    edits = [edit(2), edit(6), edit(9)]
    assert decide(edits, situation(calls=1)).apply == ()
    made = [decide(edits, situation(calls=1, need=need)) for need in (1, 480, 481, 960, 961, 5_000)]
    assert [len(m.apply) for m in made] == [1, 1, 2, 2, 3, 3]
    assert made[0].apply == ("e9",)
    assert made[0].reason == "1 edit applied: the hard limit leaves no choice"


def test_a_break_far_back_makes_only_the_edits_behind_it_free() -> None:
    made = decide([edit(1), edit(6), edit(9)], situation(calls=1, broken_at=6))
    assert (made.apply, made.mark) == (("e9", "e6"), ("e1",))


def test_a_deep_edit_pays_where_one_at_the_front_does_not() -> None:
    made = decide([edit(1), edit(10)], situation(calls=20))
    assert (made.apply, made.mark) == (("e10",), ("e1",))


def test_an_edit_that_takes_nothing_out_is_refused() -> None:
    made = decide([edit(3, after=500), edit(4, after=700)], situation(cold=True))
    assert (made.apply, made.mark, made.refuse) == ((), (), ("e4", "e3"))


def test_without_a_price_the_same_question_is_asked_in_tokens() -> None:
    made = [decide([edit(2)], situation(calls=n, prices=())) for n in (5, 80)]
    assert [bool(m.apply) for m in made] == [False, True]


def test_a_breakpoint_cache_reads_up_to_the_last_boundary_before_the_edit_not_up_to_the_edit() -> None:
    made = decide([edit(9)], situation(row=EXPLICIT, need=10_000))
    assert made.broken == 5_000, "only the system prompt's boundary stands in front"


def test_all_that_stands_behind_a_break_is_one_of_the_batches_however_many_edits_there_are() -> None:
    shape = request(1_000, *[500] * 100)
    edits = [edit(index, after=100) for index in range(1, 101)]
    for broken_at in range(1, 101):
        made = decide(edits, situation(shape, calls=1, broken_at=broken_at))
        assert made.mark == tuple(f"e{index}" for index in range(broken_at - 1, 0, -1))


edits_of_ten = st.lists(
    st.builds(edit, st.integers(1, 10), st.integers(0, 600), sent=st.booleans()),
    max_size=6,
    unique_by=lambda e: e.index,
)


@given(edits_of_ten, rules, st.integers(1, 60), st.integers(0, 900), st.sampled_from([0, 0, 300, 900, 9_000]))
def test_a_decision_takes_every_edit_once_and_never_makes_the_session_dearer(
    edits: list[MarkedEdit], row: CacheRules, calls: int, growth: int, need: int
) -> None:
    made = decide(edits, situation(row=row, calls=calls, growth=growth, need=need))
    assert sorted([*made.apply, *made.mark, *made.refuse]) == sorted(e.id for e in edits)
    assert [*made.apply] == sorted(made.apply, key=lambda name: -int(name[1:]))
    assert need or made.edit_usd <= made.keep_usd
    gone = sum(e.gain for e in edits if e.id in made.apply)
    assert not need or gone >= need or not made.mark


@given(edits_of_ten, st.sampled_from([PREFIX, EXPLICIT, EXACT]), st.integers(1, 15))
def test_a_batch_is_never_dearer_than_the_same_edits_one_by_one(
    edits: list[MarkedEdit], row: CacheRules, calls: int
) -> None:
    edits = [replace(e, sent=True) for e in edits if e.gain > 0]
    together = _bill_of_calls([{e.index: e for e in edits}], row, calls + len(edits))
    one_by_one = _bill_of_calls([{e.index: e} for e in edits], row, calls + len(edits))
    assert together <= one_by_one + 1e-12


def _bill_of_calls(steps: list[dict[int, MarkedEdit]], row: CacheRules, calls: int) -> float:
    """What so many calls cost when each of the first ones makes one step's edits."""
    shape, state, usd = REQUEST, sent(REQUEST, row), 0.0
    for i in range(calls):
        changes = steps[i] if i < len(steps) else {}
        shape = shape.edited({k: segment(f"stub {k}", e.after) for k, e in changes.items()})
        usd += bill(state, shape, row, FLAT).usd or 0.0
        state = state.after(shape, row)
    return usd


@given(
    edits_of_ten.filter(bool),
    st.sampled_from([PREFIX, EXPLICIT, EXACT, NO_CACHE]),
    st.lists(st.integers(1, 12), min_size=1, max_size=3, unique=True),
    st.integers(0, 700),
    st.sampled_from([(PRICE,), (PRICE, DEARER)]),
)
def test_the_expected_price_is_that_of_asking_the_bill_call_by_call(
    edits: list[MarkedEdit], row: CacheRules, ends: list[int], growth: int, prices: tuple[Price, ...]
) -> None:
    edits = [replace(e, sent=True) for e in edits if e.gain > 0]
    likely = Remaining(tuple((calls, 1 / len(ends)) for calls in ends))
    made = decide(edits, situation(row=row, remaining=likely, growth=growth, prices=prices, need=10_000))
    changes = {e.index: segment(f"stub {e.index}", e.after) for e in edits}
    expected = sum(_drive(REQUEST.edited(changes), row, calls, growth, prices) for calls in ends) / len(ends)
    assert made.edit_usd == pytest.approx(expected)


def _drive(shape: RequestShape, row: CacheRules, calls: int, growth: int, prices: tuple[Price, ...]) -> float:
    state, usd = sent(REQUEST, row), 0.0
    for i in range(calls):
        usd += bill(state, shape, row, prices).usd or 0.0
        state = state.after(shape, row)
        shape = shape.extended([segment(f"new {i}", growth)])
    return usd
