"""What a request costs after another one."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.requests_made import (
    EXACT,
    EXPLICIT,
    NO_CACHE,
    PREFIX,
    PRICE,
    request,
    rules,
    segment,
    segments,
    sent,
    shapes,
)
from trimtab.context.economics import Bill, CacheState, RequestShape, Segment, bill, shape_of
from trimtab.types.models import CacheRules, Price


def figures(made: Bill) -> tuple[int, int, int]:
    return made.read, made.written, made.fresh


@given(st.lists(shapes, max_size=4), shapes, rules, st.booleans())
def test_what_is_read_written_and_fresh_is_the_whole_prompt(
    earlier: list[RequestShape], following: RequestShape, row: CacheRules, cold: bool
) -> None:
    state = CacheState()
    for shape in earlier:
        state = state.after(shape, row)
    made = bill(state, following, row, PRICE, cold=cold)
    assert made.prompt == following.total
    assert min(figures(made)) >= 0
    assert made.usd is not None
    assert made.usd >= 0
    assert made.usage.prompt == following.total
    assert not (cold and made.read)


@given(shapes, st.lists(segments, max_size=4), rules)
def test_a_longer_request_never_costs_less(previous: RequestShape, more: list[Segment], row: CacheRules) -> None:
    before = bill(previous, previous, row, PRICE)
    after = bill(previous, previous.extended(more), row, PRICE)
    assert before.usd is not None
    assert after.usd is not None
    assert after.usd >= before.usd


@given(shapes, st.lists(segments, max_size=4))
def test_the_same_request_with_more_at_its_end_reads_all_of_the_first(
    previous: RequestShape, more: list[Segment]
) -> None:
    assert bill(previous, previous.extended(more), EXACT).read == previous.total


@given(shapes, rules, st.data())
def test_nothing_is_read_behind_the_first_changed_byte(
    previous: RequestShape, row: CacheRules, data: st.DataObject
) -> None:
    if not previous.size:
        return
    first = data.draw(st.integers(0, previous.size - 1))
    changed = previous.edited({first: segment("changed", 50)})
    assert bill(previous, changed, row).read <= previous.tokens_before(first)


@given(shapes, rules)
def test_the_longer_the_common_front_the_more_is_read_by_prefix(previous: RequestShape, row: CacheRules) -> None:
    row = CacheRules("prefix", row.minimum, row.granularity, offset=row.offset)
    reads = [bill(previous, previous.edited({i: segment("changed", 50)}), row).read for i in range(previous.size)]
    assert reads == sorted(reads)


def test_an_identical_request_is_read_up_to_the_granularity() -> None:
    shape = request(200, 50)
    assert figures(bill(shape, shape, PREFIX)) == (192, 0, 58)
    assert figures(bill(shape, shape, EXPLICIT)) == (250, 0, 0)
    assert figures(bill(shape, shape, NO_CACHE)) == (0, 0, 250)


def test_an_edit_at_the_front_leaves_nothing_to_read() -> None:
    shape = request(200, 50, 300)
    changed = shape.edited({0: segment("other", 200)})
    assert [bill(shape, changed, row).read for row in (PREFIX, EXPLICIT, EXACT)] == [0, 0, 0]


def test_under_the_minimum_nothing_is_cached() -> None:
    shape = request(60, 39)
    assert figures(bill(shape, shape, EXPLICIT)) == (0, 0, 99)
    assert figures(bill(shape, request(60, 39, 1), EXPLICIT)) == (0, 100, 0)
    assert bill(request(127), request(127), PREFIX).read == 0


def test_steps_count_from_what_the_provider_puts_in_front() -> None:
    row = CacheRules("prefix", minimum=1_024, granularity=512, offset=128)
    assert bill(request(13_337), request(13_337, 9), row).read == 13_184


def test_a_cache_that_takes_breakpoints_reads_only_where_one_stood() -> None:
    shape = request(100, 100, 100, 100)
    changed = shape.edited({2: segment("changed", 10)})
    assert figures(bill(shape, changed, EXPLICIT)) == (100, 210, 0)
    marked = shape_of(shape.segments, fixed=1, model="m", marks=(1, 2, 4))
    assert figures(bill(marked, changed, EXPLICIT)) == (200, 110, 0)


def test_a_boundary_that_was_written_two_requests_ago_is_still_read() -> None:
    first = request(100, 100)
    second = first.extended([segment("x", 70)])
    undone = first.extended([segment("y", 30)])
    state = CacheState().after(first, EXPLICIT).after(second, EXPLICIT)
    assert figures(bill(state, undone, EXPLICIT)) == (200, 30, 0)


def test_looking_back_ends_after_so_many_blocks() -> None:
    first = request(100, 100)
    marks = (1, 3)
    near = first.extended([segment("x", 50, blocks=20)], marks=marks)
    far = first.extended([segment("x", 50, blocks=21)], marks=marks)
    assert bill(first, near, EXPLICIT).read == 200
    assert bill(first, far, EXPLICIT).read == 100
    assert bill(first, replace(far, marks=()), EXPLICIT).read == 200, "place() marks the end of the request before"


@pytest.mark.parametrize("row", [PREFIX, EXPLICIT])
def test_an_entry_that_nobody_used_for_its_lifetime_is_gone_and_each_use_starts_it_again(row: CacheRules) -> None:
    shape = request(640)
    state = CacheState().after(shape, row, now=0.0)
    late = row.ttl_s * 1.2
    assert bill(state, shape, row, now=late).read == 0
    assert bill(state.after(shape, row, now=late / 2), shape, row, now=late).read == 640
    assert bill(state, shape, row).read == 640, "without a clock nothing is forgotten"


def test_another_model_has_another_cache() -> None:
    assert bill(request(640), request(640, model="n"), PREFIX).read == 0


def test_a_cache_that_keeps_the_answer_reads_it_with_the_next_request() -> None:
    row = CacheRules("prefix", caches_answer=True)
    answer = (segment("answer", 40),)
    following = request(100).extended([*answer, segment("result", 7)])
    assert bill(CacheState().after(request(100), row, answer=answer), following, row).read == 140
    assert bill(CacheState().after(request(100), EXACT, answer=answer), following, EXACT).read == 100


def test_money_is_tokens_at_their_prices_and_the_tier_is_that_of_the_whole_prompt() -> None:
    tiers = (PRICE, Price(input=20.0, output=50.0, cache_read=2.0, cache_write=25.0, above=1_000))
    shape = request(500)
    assert bill(shape, shape.extended([segment("x", 100)]), EXPLICIT, tiers).usd == pytest.approx(0.00175)
    assert bill(shape, shape.extended([segment("x", 600)]), EXPLICIT, tiers).usd == pytest.approx(0.016)
    assert bill(shape, shape, EXPLICIT).usd is None


def test_a_write_for_an_hour_costs_its_own_price() -> None:
    row = CacheRules("explicit", ttl_s=3_600)
    assert bill(None, request(100), row, PRICE) == Bill(0, 100, 0, pytest.approx(0.002), 100)


def test_rent_is_charged_for_what_is_kept() -> None:
    row = CacheRules("prefix", storage=3.6)
    assert bill(request(100), request(100), row, PRICE, held_s=1_000.0).usd == pytest.approx(0.0001 + 0.0001)


def test_editing_the_longest_request_leaves_shorter_ones_as_they_were() -> None:
    short = request(1, 2)
    long = short.extended([segment("x", 3)])
    other = short.extended([segment("y", 4)])
    assert [s.total for s in (short, long, other, long.edited({0: None}))] == [3, 6, 7, 5]
    assert (long.shared_with(other), long.edited({2: None}).shared_with(short)) == (2, 2)


@given(
    st.lists(segments, max_size=8),
    st.lists(segments, max_size=8),
    st.dictionaries(st.integers(0, 7), st.none() | segments),
)
def test_shapes_made_in_steps_equal_shapes_made_at_once(
    front: list[Segment], back: list[Segment], changes: dict[int, Segment | None]
) -> None:
    grown = shape_of(front).extended(back)
    whole = shape_of([*front, *back])
    assert grown.shared_with(whole) == whole.size == grown.size
    changes = {i: s for i, s in changes.items() if i < whole.size}
    expected = [s for i, old in enumerate([*front, *back]) if (s := changes.get(i, old)) is not None]
    edited = grown.edited(changes)
    assert edited.segments == tuple(expected)
    assert (edited.total, edited.shared_with(shape_of(expected))) == (sum(s.tokens for s in expected), len(expected))


def test_the_memory_of_boundaries_is_bounded() -> None:
    shape = request(200)
    state = CacheState()
    for i in range(200):
        shape = shape.extended([segment(str(i), 10)])
        state = state.after(shape, EXPLICIT)
    assert len(state.boundaries) == 64
    assert sent(shape, EXPLICIT).readable(shape, EXPLICIT) == state.readable(shape, EXPLICIT) == shape.total
    assert state.readable(shape.edited({1: segment("changed")}), EXPLICIT) == 200, (
        "the system prompt's is never forgotten"
    )
