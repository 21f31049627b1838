"""Where a tool loop begins, and whose thinking may go."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from support.conversations import MAKERS, conversations
from trimtab.context.validate import current_loop_start, droppable_thinking, frozen_answers, rules_for, validate
from trimtab.context.validate.mend import mend
from trimtab.types.messages import Assistant, Message, Text, Thinking, ToolCall, ToolResult, User, user
from trimtab.types.models import Api, ModelInfo

THOUGHT = Thinking("hm", signature="s")
ASKED = Assistant((THOUGHT, ToolCall("a", "read", {}, "{}")), "tool_use")
GOT = ToolResult("a", "read", (Text("ok"),), is_error=False)
SAID = Assistant((THOUGHT, Text("done")), "stop")


@pytest.mark.parametrize(
    ("messages", "start"),
    [
        ((), 0),
        ((user("q"),), 1),
        ((user("q"), ASKED, GOT), 1),
        ((user("q"), ASKED, GOT, user("hurry", origin="steering")), 1),
        ((user("q"), ASKED, GOT, user("it was 4", origin="answer")), 1),
        ((user("q"), ASKED, GOT, SAID, user("next", origin="follow_up")), 5),
        ((user("what was done", origin="summary"), ASKED, GOT), 0),
    ],
)
def test_a_loop_begins_behind_the_newest_message_that_asks_for_something(messages: Any, start: int) -> None:
    assert current_loop_start(messages) == start


def test_thinking_of_closed_loops_may_go_and_that_of_the_current_one_may_not() -> None:
    messages = (user("q"), ASKED, GOT, SAID, user("next"), ASKED, GOT)
    assert droppable_thinking(messages, rules_for(MAKERS["anthropic"])) == ((1, 0), (3, 0))


def test_where_no_thinking_is_demanded_all_of_it_may_go() -> None:
    assert droppable_thinking((user("q"), ASKED, GOT), rules_for(ModelInfo("s", "x", "scripted"))) == ((1, 0),)


def test_unsigned_thinking_is_demanded_only_where_a_server_wants_it_back() -> None:
    open_thought = Assistant((Thinking("hm"), ToolCall("a", "read", {}, "{}")), "tool_use")
    messages = (user("q"), open_thought, GOT)
    wanting, other = MAKERS["openai-chat"], ModelInfo("openai", "gpt", "openai-chat")
    assert droppable_thinking(messages, rules_for(wanting)) == ()
    assert droppable_thinking(messages, rules_for(other)) == ((1, 0),)


def test_a_loop_that_a_summary_stands_before_keeps_its_thinking() -> None:
    log: tuple[Message, ...] = (user("was done", origin="summary"), ASKED, GOT)
    bare = (log[0], replace(ASKED, parts=ASKED.parts[1:]), GOT)
    rules = rules_for(MAKERS["anthropic"])
    assert [p.kind for p in validate(bare, rules=rules, original=lambda i: log[i])] == ["thinking_missing"]
    assert mend(bare, rules=rules, original=lambda i: log[i]).messages == log


def test_changed_thinking_of_a_closed_loop_goes_with_the_whole_loop() -> None:
    log = (user("q"), ASKED, GOT, SAID, user("next"))
    forged = (log[0], replace(ASKED, parts=(replace(THOUGHT, text="no"), ASKED.parts[1])), *log[2:])
    rules = rules_for(MAKERS["anthropic"])
    mended = mend(forged, rules=rules, original=lambda i: log[i])
    assert mended.messages == (
        log[0],
        replace(ASKED, parts=ASKED.parts[1:]),
        GOT,
        replace(SAID, parts=SAID.parts[1:]),
        log[4],
    )
    assert [(n.kind, n.message) for n in mended.notes] == [("thinking_changed", 1), ("thinking_changed", 3)]


@pytest.mark.parametrize(
    ("model", "frozen"),
    [
        (MAKERS["anthropic"], (5,)),
        (ModelInfo("s", "x", "scripted"), ()),
        (MAKERS["openai-chat"], ()),
    ],
    ids=["signed", "nobody checks", "thinks in the open"],
)
def test_a_signed_answer_of_the_current_loop_may_not_change_at_all(model: ModelInfo, frozen: tuple[int, ...]) -> None:
    plain = Assistant((ToolCall("b", "read", {}, "{}"),), "tool_use")
    messages = (user("q"), ASKED, GOT, SAID, user("next"), ASKED, GOT, plain, replace(GOT, call_id="b"))
    assert frozen_answers(messages, rules_for(model)) == frozen


def test_thinking_of_one_closed_answer_stays_or_goes_as_a_whole() -> None:
    two = Assistant((THOUGHT, Thinking("", signature="h", redacted=True), Text("done")), "stop")
    log = (user("q"), two, user("next"))
    half = (log[0], replace(two, parts=two.parts[1:]), log[2])
    rules = rules_for(MAKERS["anthropic"])
    assert [p.kind for p in validate(half, rules=rules, original=lambda i: log[i])] == ["thinking_partial"]
    assert mend(half, rules=rules, original=lambda i: log[i]).messages[1] == replace(two, parts=(Text("done"),))


def test_a_reasoning_item_that_never_led_to_anything_may_stand_where_it_stood() -> None:
    item = {"type": "reasoning", "id": "rs", "encrypted_content": "e"}
    cut = Assistant((Text("so"), Thinking("t", wire={"item": item})), "cancelled")
    log = (user("q"), cut, user("next"))
    rules = rules_for(MAKERS["openai-responses"])
    shown = (log[0], replace(cut, parts=(Text("shorter"), cut.parts[1])), log[2])
    assert validate(shown, rules=rules, original=lambda i: log[i]) == ()


@given(st.data(), st.sampled_from(sorted(MAKERS)), st.booleans())
def test_dropping_all_that_may_go_is_valid(data: st.DataObject, api: Api, foreign: bool) -> None:
    history = data.draw(conversations(MAKERS[api], foreign=foreign))
    rules = rules_for(MAKERS[api])
    gone = set(droppable_thinking(history, rules))
    shown = [
        replace(m, parts=tuple(p for n, p in enumerate(m.parts) if (i, n) not in gone)) for i, m in enumerate(history)
    ]
    assert validate(shown, rules=rules, original=lambda i: history[i], reachable=lambda _: False) == ()
    assert not any(isinstance(m, User) and m != history[i] for i, m in enumerate(shown))
