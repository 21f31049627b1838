"""Several passes over a run that is larger than the summariser's window."""

from hypothesis import given, settings
from hypothesis import strategies as st

from support.talk import answer, call, conversations, result, said, words
from trimtab.context.summary.passes import Pass, plan_passes
from trimtab.context.summary.serialize import serialize
from trimtab.types.messages import Assistant, ToolResult


def turn(number):
    return [
        said(f"Task {number}."),
        answer("", call(f"c{number}", "read")),
        result(f"c{number}", "words " * 60),
        answer("Done."),
    ]


def test_a_run_that_fits_is_one_pass():
    assert plan_passes(turn(1), room=1_000, count=words) == (Pass(0, 4, 1, 1),)


def test_passes_end_where_turns_end():
    talk = [message for n in range(4) for message in turn(n)]
    assert plan_passes(talk, room=250, count=words) == (Pass(0, 8, 1, 2), Pass(8, 16, 2, 2))


def test_a_turn_that_is_too_long_is_split_behind_results_and_the_pass_says_so():
    talk = [
        said("Task."),
        *(m for n in range(6) for m in (answer("", call(f"c{n}", "ls")), result(f"c{n}", "words " * 60))),
    ]
    plan = plan_passes(talk, room=200, count=words)
    assert len(plan) > 1
    assert [p.turn_goes_on for p in plan] == [True] * (len(plan) - 1) + [False]
    assert all(not isinstance(talk[p.first], ToolResult) for p in plan)


def test_the_last_pass_knows_that_the_turn_goes_on_behind_the_run():
    assert plan_passes(turn(1), room=1_000, count=words, turn_goes_on=True)[-1].turn_goes_on


def test_a_result_of_twice_the_window_is_a_pass_of_its_own():
    talk = [*turn(1), answer("", call("big", "bash")), result("big", "word " * 2_000), *turn(2)]
    plan = plan_passes(talk, room=1_000, count=words)
    assert any((p.first, p.last) == (4, 6) for p in plan)


@settings(max_examples=50)
@given(conversations, st.integers(1, 60), st.integers(1, 4))
def test_passes_are_the_run_in_order_and_never_too_many(messages, room, most):
    messages = [m for m in messages if not (isinstance(m, Assistant) and m.superseded)]
    plan = plan_passes(messages, room=room, count=words, most=most)
    assert [n for p in plan for n in range(p.first, p.last)] == list(range(len(messages)))
    assert len(plan) <= most
    assert [p.number for p in plan] == list(range(1, len(plan) + 1))
    assert all(not isinstance(messages[p.first], ToolResult) for p in plan[1:])
    if len(plan) < most and words(serialize(messages)) <= room * most:
        for p in plan:
            one_step = all(isinstance(m, ToolResult) for m in messages[p.first + 1 : p.last])
            assert one_step or words(serialize(messages[p.first : p.last])) <= room
