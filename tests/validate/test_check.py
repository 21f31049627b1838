"""What the validator reports, one rule at a time."""

from typing import Any

import pytest

from support.conversations import MAKERS
from trimtab.context.validate import KINDS, Problem, plain, rules_for, validate
from trimtab.context.validate.problems import UNFIXABLE
from trimtab.types.messages import Assistant, Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult, User, user

CLAUDE = rules_for(MAKERS["anthropic"])
GPT = rules_for(MAKERS["openai-responses"])


def call(call_id: str, **more: Any) -> ToolCall:
    return ToolCall(call_id, "read", {}, "{}", **more)


def answer(*parts: Any, **more: Any) -> Assistant:
    return Assistant(parts, "tool_use", **more)


def result(call_id: str, text: str = "ok") -> ToolResult:
    return ToolResult(call_id, "read", (Text(text),), is_error=False)


def found(*messages: Message, **given: Any) -> list[tuple[str, str]]:
    return [(p.kind, p.where) for p in validate(messages, **{"rules": CLAUDE, **given})]


def test_a_question_alone_is_fine() -> None:
    assert validate((user("q"),), rules=CLAUDE) == ()


def test_a_problem_says_where_and_what() -> None:
    assert validate((user("q"), answer(call("a"))), rules=CLAUDE) == (
        Problem("missing_result", "1", "call 'a' has no result"),
    )


@pytest.mark.parametrize(
    ("messages", "kinds"),
    [
        ((answer(call("a"), call("b")), result("b"), result("a")), [("result_order", "3")]),
        ((answer(call("a"), call("b")), result("a"), user("x"), result("b")), [("misplaced_result", "4")]),
        ((answer(call("a")), result("a"), result("a")), [("extra_result", "3")]),
        ((answer(call("a")), result("z")), [("orphan_result", "2"), ("missing_result", "1")]),
        ((result("a"), answer(call("a"))), [("orphan_result", "1"), ("missing_result", "2")]),
        ((answer(call("a"), call("a")), result("a"), result("a")), []),
        ((answer(call("a")), result("a"), answer(call("a")), result("a")), []),
    ],
)
def test_calls_and_results_are_paired_in_place_and_order(messages: Any, kinds: list[tuple[str, str]]) -> None:
    assert found(user("q"), *messages) == kinds


def test_the_newest_request_must_be_there_word_for_word() -> None:
    newest = user("do this now")
    assert found(user("old"), newest, newest=newest) == []
    assert found(user("old"), newest=newest) == [("newest_request", "")]
    assert found(User((Text("note"), Text("do this now"))), newest=newest) == []
    assert found(answer(Text("do this now")), newest=newest) == [("newest_request", "")]


def test_a_picture_of_the_newest_request_may_have_become_a_note() -> None:
    newest = User((Text("what is this"), Image("image/png", "AAAA")))
    assert found(User((Text("what is this"), Text("[image not shown]"))), newest=newest) == []


def test_a_request_that_says_nothing_is_reported() -> None:
    assert ("empty_request", "") in found()
    assert ("empty_request", "") in found(User((Text(" "),)))


def test_more_tokens_than_allowed_are_reported_with_the_numbers() -> None:
    assert validate((user("q"),), rules=CLAUDE, tokens=101, limit=100) == (
        Problem("over_budget", "", "101 tokens; at most 100 may be sent"),
    )
    assert found(user("q"), tokens=100, limit=100) == []


def test_what_shows_less_than_the_log_needs_a_way_back() -> None:
    log = (user("q"), answer(call("a")), result("a", "the whole file"))
    shown = (*log[:2], result("a", "[elided]"))
    asked: list[int] = []

    def reachable(index: int) -> bool:
        asked.append(index)
        return False

    assert found(*shown, original=lambda i: log[i], reachable=reachable) == [("no_way_back", "2")]
    assert asked == [2]
    assert found(*shown, original=lambda i: log[i], reachable=lambda _: True) == []


def test_a_summary_needs_a_way_back_to_what_it_stands_for() -> None:
    shown = (user("what was done", origin="summary"), user("q"))
    log = (None, shown[1])
    assert found(*shown, original=lambda i: log[i], reachable=lambda _: False) == [("no_way_back", "0")]


def test_an_empty_result_is_filled_by_our_wires_but_not_when_an_edit_emptied_it() -> None:
    bare = (user("q"), answer(call("a")), ToolResult("a", "read", (), is_error=False))
    full = (*bare[:2], result("a"))
    assert found(*bare, original=lambda i: bare[i]) == []
    assert found(*bare, original=lambda i: full[i]) == [("empty_message", "2")]
    assert found(*bare, rules=plain(CLAUDE)) == [("empty_message", "2")]


def test_what_our_wires_repair_is_a_problem_only_without_them() -> None:
    odd = (answer(call("call|1")), result("call|1"), user("a"), user("b"), answer(call("call|1")), result("call|1"))
    assert found(*odd) == []
    assert found(*odd, rules=plain(CLAUDE)) == [
        ("first_role", "0"),
        ("alternation", "3"),
        ("illegal_id", "0"),
        ("illegal_id", "4"),
        ("repeated_id", "4"),
    ]
    assert [k for k, _ in found(*odd, rules=plain(GPT))] == ["illegal_id", "illegal_id", "repeated_id"]


def test_thinking_that_another_provider_made_may_go() -> None:
    log = (user("q"), answer(Thinking("t", signature="s"), call("a"), provider="elsewhere"), result("a"))
    shown = (log[0], answer(call("a"), provider="elsewhere"), log[2])
    assert found(*shown, original=lambda i: log[i]) == []


def test_a_reasoning_item_must_keep_what_it_led_to() -> None:
    item = {"type": "reasoning", "id": "rs", "encrypted_content": "e"}
    log = (user("q"), answer(Thinking("t", wire={"item": item}), Text("so"), call("a")), result("a"), user("next"))
    shown = (log[0], answer(Thinking("t", wire={"item": item}), call("a")), log[2], log[3])
    assert found(*shown, rules=GPT, original=lambda i: log[i]) == [("reasoning_follower", "1")]
    assert found(*log, rules=GPT, original=lambda i: log[i]) == []


def test_a_verbatim_reasoning_item_that_stands_last_is_found_without_the_log() -> None:
    last = answer(Text("so"), Opaque("openai", {"type": "reasoning", "id": "rs"}))
    assert found(user("q"), last, user("next"), rules=GPT) == [("reasoning_follower", "1")]


def test_dropping_a_text_beside_signed_thinking_is_reported_while_the_loop_goes_on() -> None:
    log = (user("q"), answer(Thinking("t", signature="s"), Text("I look"), call("a")), result("a"))
    shown = (log[0], answer(Thinking("t", signature="s"), call("a")), log[2])
    assert found(*shown, original=lambda i: log[i]) == [("signed_step_changed", "1")]
    assert found(*shown, user("next"), original=lambda i: (*log, user("next"))[i]) == []


def test_the_kinds_that_mending_leaves_are_kinds() -> None:
    assert set(KINDS) >= UNFIXABLE
    assert [k for k in KINDS if not Problem(k, "", "").fixable] == [k for k in KINDS if k in UNFIXABLE]  # type: ignore[arg-type]
