"""Pieces: where a rollout is cut, and messages as rows show them."""

from hypothesis import given
from hypothesis import strategies as st

from trimtab.lab.docqa.scripted_reader import MODEL
from trimtab.lab.export.chat import chat_message, chat_messages
from trimtab.lab.export.piece import Cutter
from trimtab.lab.export.row import ChatMessage
from trimtab.types.messages import Assistant, Image, Text, Thinking, ToolResult, User, user
from trimtab.types.models import ModelRequest
from trimtab.types.stream import make_call
from trimtab.types.tools import ToolSpec


def request(*words, system="s", tools=()):
    return ModelRequest(MODEL, tuple(map(user, words)), system=system, tools=tools)


def said(text):
    return Assistant((Text(text),), "stop")


def test_a_piece_grows_while_requests_do():
    cutter = Cutter()
    cutter.asked(request("a"), 10)
    cutter.answered(said("1"))
    cutter.asked(ModelRequest(MODEL, (user("a"), said("1"), user("b")), system="s"), 20)
    cutter.answered(said("2"))
    assert cutter.open
    cutter.cut()
    (piece,) = cutter.pieces
    assert [(one.message, one.trained) for one in piece.completion] == [(said("1"), True), (user("b"), False), (said("2"), True)]  # fmt: skip
    assert (piece.tokens, piece.first, piece.answers) == (10, 0, (said("1"), said("2")))


def test_a_changed_prompt_other_tools_or_another_system_prompt_cut():
    grown = (user("a"), said("1"), user("b"))
    for changed in (
        ModelRequest(MODEL, (user("edited"), *grown[1:]), system="s"),
        ModelRequest(MODEL, grown, system="other"),
        ModelRequest(MODEL, grown, system="s", tools=(ToolSpec("t", "d", {}),)),
    ):
        cutter = Cutter()
        cutter.asked(request("a"), 10)
        cutter.answered(said("1"))
        cutter.asked(changed, 7, forced_edits=2)
        assert [(piece.tokens_after, piece.forced_edits) for piece in cutter.pieces] == [(7, 0)]
        cutter.answered(said("2"), free=False)
        cutter.cut()
        assert (cutter.pieces[1].forced, cutter.pieces[1].forced_edits, cutter.pieces[1].first) == (True, 2, 1)


def test_a_cut_where_nothing_was_said_makes_no_piece():
    cutter = Cutter()
    cutter.cut()
    cutter.asked(request("a"), 1)
    cutter.cut()
    assert cutter.pieces == []


@given(st.lists(st.tuples(st.sampled_from(["grow", "edit"]), st.booleans()), max_size=8))
def test_no_answer_is_lost_and_each_stands_behind_what_was_asked(turns):
    cutter, messages, asked = Cutter(), (user("q"),), []
    for number, (kind, cut) in enumerate(turns):
        if kind == "edit":
            messages = (user(f"edited {number}"), *messages[1:])
        cutter.asked(ModelRequest(MODEL, messages, system="s"), number + 1)
        asked.append(messages)
        messages = (*messages, said(str(number)))
        cutter.answered(said(str(number)))
        messages = (*messages, user(f"r{number}"))
        if cut:
            cutter.cut()
    cutter.cut()
    behind = []
    for piece in cutter.pieces:
        shown = piece.prompt
        for one in piece.completion:
            if one.trained:
                behind.append(shown)
            shown = (*shown, one.message)
        assert piece.completion[-1].trained
    assert behind == asked
    assert [piece.first for piece in cutter.pieces] == [sum(len(p.answers) for p in cutter.pieces[:n]) for n in range(len(cutter.pieces))]  # fmt: skip


def test_messages_stand_in_rows_as_chat_completions_have_them():
    answer = Assistant((Thinking("so"), Text("yes"), make_call("c1", "t", '{"a": 1}')), "tool_use")
    result = ToolResult(
        "c1", "t", (Text("one"), Image("image/png", "AAAA", name="plan.png"), Text("two")), is_error=False
    )
    system, question, said_, back = chat_messages([user("q"), answer, result], "be brief")
    assert (system, question) == (ChatMessage("system", "be brief"), ChatMessage("user", "q"))
    assert (said_.content, said_.reasoning_content, said_.tool_calls[0].function.arguments) == ("yes", "so", '{"a": 1}')
    assert (back.role, back.tool_call_id, back.name) == ("tool", "c1", "t")
    assert back.content.splitlines()[0] == "one"
    assert "plan.png" in back.content


def test_arguments_that_are_no_object_can_be_read_by_a_template_all_the_same():
    call = chat_message(Assistant((make_call("c", "t", "{torn"),), "tool_use")).tool_calls[0]
    assert call.function.arguments == '{"raw": "{torn"}'
    assert chat_message(Assistant((make_call("c", "t", ""),), "tool_use")).tool_calls[0].function.arguments == "{}"
    assert chat_message(User((Text("a"), Text("b")))).content == "a\nb"
