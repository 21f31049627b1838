"""A context of plain messages: the record is complete, the view is what compacting left."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.talks import answer, opening, reading, said, talk
from support.vendor_dicts import anthropic_conversation, chat_conversation
from trimtab.context import Context
from trimtab.types.errors import TrimtabError, UsageError

both = pytest.mark.parametrize("name", ["openai", "anthropic"])


def whole(name):
    return [*talk(name, 2), answer(name), opening("And now?")]


@both
def test_messages_are_complete_and_as_they_came(name):
    context = Context(talk(name, 1), format=name)
    context.add_messages([answer(name)])
    context.add_messages(opening("And now?"))
    assert context.get_messages() == [*talk(name, 1), answer(name), opening("And now?")]
    assert context.to_model_messages() == context.get_messages()


@both
def test_responses_are_found_by_their_calls(name):
    call, result = reading(name, 0, lines=1)
    context = Context([opening(), call], format=name)
    assert context.get_responses(["call_0"]) == {"call_0": None}
    context.add_responses([result])
    assert context.get_responses("call_0") == {"call_0": "line 0 of file 0: value = 0"}
    assert context.to_model_messages() == [opening(), call, result]


@both
def test_a_call_without_a_response_is_answered_for_the_model_only(name):
    context = Context(talk(name, 1)[:2], format=name)
    assert len(context.to_model_messages()) == 3
    assert len(context.get_messages()) == 2


@both
def test_compacting_returns_analysis_and_summary_and_shortens_the_view_only(name):
    context = Context(whole(name), format=name)
    asked = []

    def model(messages):
        asked.append(messages)
        return "<analysis>what I thought</analysis>\n<summary>Two files hold values.</summary>"

    assert context.compact(model) == {"analysis": "what I thought", "summary": "Two files hold values."}
    assert "line 50 of file 0" in said(asked[0])
    shown = said(context.to_model_messages())
    assert "Two files hold values." in shown
    assert "And now?" in shown
    assert "what I thought" not in shown
    assert "line 50" not in shown
    assert context.get_messages() == whole(name)


@both
def test_a_reply_without_tags_is_all_summary(name):
    assert Context(whole(name), format=name).compact(lambda _m: "Just text.") == {
        "analysis": "",
        "summary": "Just text.",
    }


@both
@pytest.mark.parametrize("reply", ["<summary>cut", "<analysis>cut", "", "<analysis>only</analysis>", None, 7])
def test_a_reply_that_cannot_be_a_summary_is_rejected_and_changes_nothing(name, reply):
    context = Context(whole(name), format=name)
    with pytest.raises(TrimtabError) as error:
        context.compact(lambda _m: reply)
    assert error.value.hint
    assert context.to_model_messages() == whole(name)


@both
def test_without_a_model_the_summary_is_a_digest(name):
    context = Context(whole(name), format=name)
    told = context.compact()
    assert (told["analysis"], "Find out why the build fails." in told["summary"]) == ("", True)
    assert len(said(context.to_model_messages())) < len(said(whole(name))) / 2


@both
def test_a_second_summary_is_made_of_the_first_and_what_came_since(name):
    context = Context(whole(name), format=name)
    context.compact(lambda _m: "The first summary.")
    context.add_messages([answer(name, "The header."), opening("Thanks.")])
    asked = []
    context.compact(lambda m: asked.append(m) or "The second.")
    assert "The first summary." in said(asked[0])
    assert "The header." in said(asked[0])
    assert "line 50" not in said(asked[0])
    assert "The first summary." not in said(context.to_model_messages())


@both
@pytest.mark.parametrize("model", [None, lambda _m: pytest.fail("nobody is to be asked")])
def test_compacting_again_with_nothing_new_returns_the_last_summary_and_changes_nothing(name, model):
    context = Context(whole(name), format=name)
    first = context.compact(lambda _m: "<analysis>thoughts</analysis><summary>The first summary.</summary>")
    shown = context.to_model_messages()
    assert context.compact(model) == first == {"analysis": "thoughts", "summary": "The first summary."}
    assert context.to_model_messages() == shown


@both
def test_nothing_new_is_also_a_request_that_waits_a_call_that_waits_and_an_instruction(name):
    context = Context(whole(name), format=name)
    first = context.compact()
    context.add_messages([opening("And that?"), *reading(name, 7)[:1]])
    second = context.compact()
    assert second["summary"].count("And that?") == 1
    context.add_messages({"role": "system", "content": "Be brief."})
    assert context.compact() == second
    assert second["summary"].startswith(first["summary"])


@both
def test_digests_of_digests_hold_no_head_and_each_text_once(name):
    context = Context(whole(name), format=name)
    for number in range(3):
        context.compact()
        context.add_messages([answer(name, f"Answer {number}."), opening(f"Question {number}?")])
    told = context.compact()["summary"]
    assert "summary of the conversation" not in told
    assert "earlier summary" not in told
    assert [told.count(text) for text in ("Find out why", "And now?", "Answer 0.", "Answer 2.")] == [1, 1, 1, 1]


@both
def test_instructions_and_open_calls_stay(name):
    system = {"role": "system", "content": "Be brief."}
    context = Context([system, *talk(name, 1), *reading(name, 7)[:1]], format=name)
    context.compact(lambda _m: "Short.")
    shown = said(context.to_model_messages())
    assert "Be brief." in shown
    assert "call_7" in shown
    assert "line 50" not in shown


@both
def test_an_empty_context_compacts_to_nothing(name):
    assert Context(format=name).compact() == {"analysis": "", "summary": ""}


@both
def test_a_message_that_cannot_be_read_adds_nothing(name):
    context = Context([opening()], format=name)
    with pytest.raises(UsageError):
        context.add_messages([answer(name), {"role": "nobody"}])
    assert context.get_messages() == [opening()]


@given(chat_conversation() | anthropic_conversation(), st.integers(0, 5))
def test_whatever_is_said_is_kept(messages, cut):
    name = "anthropic" if any(isinstance(m["content"], list) and "tool_use" in str(m) for m in messages) else "openai"
    try:
        context = Context(messages[:cut], format=name)
    except UsageError:
        return
    context.compact()
    context.add_messages(messages[cut:]) if name == "anthropic" else None
    assert context.get_messages()[:cut] == messages[:cut]
    context.to_model_messages()
