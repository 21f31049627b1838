"""Pairing: every call answered once, right behind its message, in call order."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.sessions import ask, result, say, synthetic
from trimtab.context.window.pairs import pair
from trimtab.context.window.view import Repairs, View
from trimtab.types.messages import Assistant, Message, Text, Thinking, ToolCall, ToolResult, User


def test_a_whole_conversation_is_left_alone():
    messages = (ask("go"), say("", "a"), result("a"), say("done"))
    assert pair(messages) == (messages, Repairs())


@pytest.mark.parametrize("order", tuple(permutations("abc")))
@pytest.mark.parametrize("kept", range(4))
def test_results_come_in_call_order_wherever_the_log_is_cut(order: tuple[str, ...], kept: int):
    there = order[:kept]
    view, repairs = pair([say("", "a", "b", "c"), *(result(c) for c in there)])
    assert view[1:] == tuple(result(c) if c in there else synthetic(c) for c in "abc")
    assert set(repairs.interrupted) == set("abc") - set(there)


def test_a_result_behind_other_messages_moves_to_its_call():
    view, repairs = pair([say("", "a", "b"), result("b"), ask("wait"), result("a")])
    assert (view, repairs) == ((say("", "a", "b"), result("a"), result("b"), ask("wait")), Repairs())


def test_a_real_result_replaces_a_stored_stand_in_and_a_second_one_is_dropped():
    view, repairs = pair([say("", "a"), synthetic("a"), result("a", "real"), result("a", "again")])
    assert view == (say("", "a"), result("a", "real"))
    assert repairs == Repairs(duplicates=("a",))


def test_a_result_without_a_call_is_dropped_from_the_view():
    assert pair([result("x"), ask("go")]) == ((ask("go"),), Repairs(orphans=("x",)))


def test_a_superseded_answer_is_hidden_with_its_results():
    cut = Assistant((ToolCall("a", "read", {}, "{}"),), stop_reason="length", superseded=True)
    assert pair([ask("go"), cut, result("a")]) == ((ask("go"),), Repairs(orphans=("a",), hidden=1))


@pytest.mark.parametrize("reason", ["error", "cancelled"])
@pytest.mark.parametrize("parts", [(), (Text(" \n"),), (Thinking("hm"),)])
def test_a_failed_answer_without_content_is_hidden(reason, parts):
    assert pair([ask("go"), Assistant(parts, stop_reason=reason)]) == ((ask("go"),), Repairs(hidden=1))


def test_a_cancelled_answer_with_text_is_kept():
    partial = Assistant((Text("half"),), stop_reason="cancelled")
    assert pair([ask("go"), partial])[0] == (ask("go"), partial)


def test_one_call_id_in_two_answers_is_two_calls():
    messages = (say("", "a"), result("a", "1"), say("", "a"), result("a", "2"))
    assert pair(messages) == (messages, Repairs())


def test_one_call_id_twice_in_an_answer_takes_two_results():
    messages = (say("", "a", "a"), result("a", "1"), result("a", "2"))
    assert pair(messages) == (messages, Repairs())


def test_stored_stand_ins_of_one_call_id_twice_keep_their_places():
    messages = (say("", "a", "a"), synthetic("a", "pending"), synthetic("a"))
    assert pair(messages)[0] == messages


def test_a_parked_call_is_pending_until_its_answer_comes():
    assert pair([say("", "a")], parked={"a"})[0] == (say("", "a"), synthetic("a", "pending"))
    assert pair([say("", "a"), result("a")], parked={"a"})[0] == (say("", "a"), result("a"))


def test_an_answer_after_a_new_prompt_arrives_as_a_user_message_that_names_the_call():
    before, _ = pair([say("", "a"), ask("something else")], parked={"a"})
    view, repairs = pair([say("", "a"), ask("something else"), result("a", "yes"), result("a", "no")], parked={"a"})
    late = User((Text("The pending call a (read) was answered:"), Text("yes")), origin="answer")
    assert view == (*before, late)
    assert before == (say("", "a"), synthetic("a", "pending"), ask("something else"))
    assert repairs == Repairs(pending=("a",), duplicates=("a",), late=("a",))


def test_a_late_answer_does_not_come_between_another_call_and_its_result():
    view, _ = pair([say("", "a"), say("", "b"), result("a", "yes"), result("b")], parked={"a"})
    assert [type(m).__name__ for m in view] == ["Assistant", "ToolResult", "Assistant", "ToolResult", "User"]


IDS = st.sampled_from(["a", "b", "c", "d"])
MESSAGES = st.lists(
    st.one_of(
        st.builds(ask, st.text("xy", max_size=2)),
        st.builds(lambda calls: say("t", *calls), st.lists(IDS, max_size=3)),
        st.builds(result, IDS, st.text("rs", max_size=2)),
        st.builds(synthetic, IDS, st.sampled_from(["interrupted", "pending"])),
        st.builds(
            lambda calls, reason: Assistant(
                tuple(ToolCall(c, "read", {}, "{}") for c in calls), stop_reason=reason, superseded=reason == "length"
            ),
            st.lists(IDS, max_size=2),
            st.sampled_from(["error", "cancelled", "length"]),
        ),
    ),
    max_size=14,
)
PARKED = st.sets(IDS)


def is_valid(messages: tuple[Message, ...]) -> bool:
    """Every call has its results right behind it in call order, and there is no other result."""
    expected: list[str] = []
    for message in messages:
        if isinstance(message, ToolResult):
            if not expected or expected.pop(0) != message.call_id:
                return False
        elif expected:
            return False
        elif isinstance(message, Assistant):
            expected = [call.id for call in message.tool_calls]
    return not expected


@given(MESSAGES, PARKED)
def test_what_comes_out_is_always_valid(messages, parked):
    assert is_valid(pair(messages, parked=parked)[0])


@given(MESSAGES, PARKED)
def test_pairing_twice_changes_nothing(messages, parked):
    once, _ = pair(messages, parked=parked)
    assert pair(once, parked=parked)[0] == once


@given(MESSAGES, PARKED)
def test_message_by_message_gives_the_same_as_all_at_once(messages, parked):
    view = View()
    for call_id in parked:
        view = view.with_parked(call_id)
    for n, message in enumerate(messages, 1):
        view = view.with_message(f"e{n}", message)
        assert (view.messages(), view.repairs) == pair(messages[:n], parked=parked)


@given(MESSAGES, PARKED)
def test_the_view_grows_at_its_end_but_for_answers_that_take_the_place_of_a_stand_in(messages, parked):
    short, _ = pair(messages[:-1], parked=parked)
    long, _ = pair(messages, parked=parked)
    changed = [(a, b) for a, b in zip(short, long, strict=False) if a != b]
    assert len(long) >= len(short)
    assert len(changed) <= 1
    assert all(isinstance(a, ToolResult) and a.is_error and isinstance(b, ToolResult) for a, b in changed)


@given(st.permutations(["a", "b", "c", "d"]), st.integers(0, 4), st.data())
def test_every_first_real_result_is_shown(order, cut, data):
    calls = [say("", "a", "b"), say("", "c", "d")]
    log: list[Message] = [*calls, *(result(c, f"first {c}") for c in order[:cut])]
    for c in order[:cut]:
        log.insert(data.draw(st.integers(log.index(result(c, f"first {c}")) + 1, len(log))), result(c, "second"))
    shown = {m.call_id: m.text for m in pair(log)[0] if isinstance(m, ToolResult) and not m.is_error}
    assert shown == {c: f"first {c}" for c in order[:cut]}
