"""Where a request puts its cache breakpoints."""

from hypothesis import given
from hypothesis import strategies as st

from support.requests_made import EXPLICIT, PREFIX, mark_edited, request, rules, segment, sent, shapes
from trimtab.context.economics import CacheState, RequestShape, bill, message_marks, place
from trimtab.types.models import CacheRules


def test_a_first_request_is_marked_behind_the_system_prompt_and_at_its_end() -> None:
    assert place(request(100, 10, 10), (), EXPLICIT) == (1, 3)


def test_a_later_request_is_also_marked_where_the_one_before_it_ended() -> None:
    first = request(100, 10, 10)
    later = first.extended([segment("x"), segment("y")])
    assert place(later, sent(first, EXPLICIT).written(), EXPLICIT) == (1, 3, 5)


def test_an_edit_step_is_marked_on_the_last_written_boundary_before_it_and_behind_the_last_change() -> None:
    shape = request(100, *[10] * 8)
    state = CacheState()
    for size in (3, 5, 9):
        state = state.after(request(100, *[10] * (size - 1)), EXPLICIT)
    edited = shape.edited({6: segment("stub", 1), 7: segment("stub", 1)})
    edited = mark_edited(edited, (7, 6), state.written(), EXPLICIT)
    assert edited.marks == (1, 5, 8, 9)
    assert bill(state, edited, EXPLICIT).read == 140
    assert mark_edited(shape, (), state.written(), EXPLICIT) is shape


def test_the_edit_after_an_edit_reads_up_to_the_first_one() -> None:
    shape = request(100, *[10] * 8)
    state = sent(shape, EXPLICIT)
    first = mark_edited(shape.edited({3: segment("stub", 1)}), (3,), state.written(), EXPLICIT)
    state = state.after(first, EXPLICIT)
    second = mark_edited(first.edited({6: segment("stub", 1)}), (6,), state.written(), EXPLICIT)
    assert bill(state, second, EXPLICIT).read == second.tokens_before(4)


def test_a_boundary_that_cannot_be_marked_gives_way_to_the_one_before_it() -> None:
    shape = request(100, 10).extended([segment("answer", markable=False), segment("result")])
    assert place(shape, (), EXPLICIT, edited_to=3) == (1, 2, 4)


def test_a_cache_without_breakpoints_gets_none() -> None:
    assert place(request(100, 10), (), PREFIX) == ()
    assert place(request(), (), EXPLICIT) == ()


def test_boundaries_become_indexes_of_messages_without_those_of_the_system_prompt() -> None:
    assert message_marks((1, 3, 5), fixed=1) == (1, 3)


@given(shapes, shapes, rules, st.none() | st.integers(-1, 13))
def test_marks_are_distinct_boundaries_of_the_request_and_never_too_many(
    before: RequestShape, shape: RequestShape, row: CacheRules, edited_at: int | None
) -> None:
    written = CacheState().after(before, row).written()
    marks = place(shape, written, row, edited_at=edited_at, edited_to=edited_at)
    assert list(marks) == sorted(set(marks))
    assert len(marks) <= (row.breakpoints or 4)
    assert all(0 < k <= shape.size and shape.segment(k).markable for k in marks)


@given(shapes, st.lists(st.integers(1, 3), max_size=12))
def test_growing_step_by_step_an_agent_reads_all_of_the_request_before(start: RequestShape, steps: list[int]) -> None:
    row = CacheRules("explicit", lookback=20, breakpoints=4)
    state, shape = CacheState().after(start, row), start
    for n, width in enumerate(steps):
        answer, *results = [segment(f"{n}.{i}", 50, blocks=9, markable=i > 0) for i in range(width + 1)]
        before, shape = shape, shape.extended([answer, *results])
        read = bill(state, shape, row).read
        if n:
            assert read == before.total
        state = state.after(shape, row)
