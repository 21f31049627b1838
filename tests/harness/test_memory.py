"""The transcript in memory: what a model may see of it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.agent import MemoryTranscript
from trimtab.types import Assistant, Message, Text, ToolCall, ToolResult, user


def answer(*ids: str, superseded: bool = False) -> Assistant:
    return Assistant(tuple(ToolCall(i, "look", {}, "{}") for i in ids), "tool_use", superseded=superseded)


def result(call_id: str, text: str = "ok") -> ToolResult:
    return ToolResult(call_id, "look", (Text(text),), is_error=False)


def test_results_stand_behind_their_calls_in_call_order():
    view = MemoryTranscript([answer("a", "b"), user("x"), result("b"), result("a")]).view()
    assert view == (answer("a", "b"), result("a"), result("b"), user("x"))


def test_voided_blank_orphaned_and_second_results_are_left_out():
    kept = MemoryTranscript(
        [
            answer("v", superseded=True),
            Assistant((), "stop"),
            answer("a"),
            result("a"),
            result("a", "again"),
            result("z"),
        ]
    )
    assert kept.view() == (answer("a"), result("a"))
    assert len(kept.messages) == 6


def test_a_call_without_a_result_is_interrupted():
    assert MemoryTranscript([answer("a")]).view()[1] == ToolResult("a", "look", (Text("interrupted"),), is_error=True)


MESSAGES = st.one_of(
    st.builds(user, st.text(max_size=2)),
    st.builds(lambda ids, s: answer(*ids, superseded=s), st.lists(st.sampled_from("abcd"), unique=True), st.booleans()),
    st.builds(result, st.sampled_from("abcd")),
)


@given(st.lists(MESSAGES))
@settings(deadline=None)
def test_every_call_in_a_view_is_answered_right_behind_its_message(messages: list[Message]):
    view = list(MemoryTranscript(messages).view())
    while view:
        message = view.pop(0)
        assert not isinstance(message, ToolResult)
        if isinstance(message, Assistant):
            assert [view.pop(0).call_id for _ in message.tool_calls] == [c.id for c in message.tool_calls]
